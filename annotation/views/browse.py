"""Reading a corpus: its overview, threads as trees, one comment with what was said about it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.models import Annotation
from annotation.selectors import labels as said
from annotation.selectors import queue as work
from simulation.domain import tree
from simulation.domain.attributes import TARGETS
from simulation.domain.roles import Right
from simulation.models import Comment, Corpus, Thread
from simulation.selectors import artefacts, runs, threads
from simulation.selectors.access import PersonRequest, needs

THREADS = 100
RUNS = 5


def corpus_for(request: PersonRequest, public_id: str, right: Right = Right.BROWSE) -> Corpus:
    return get_object_or_404(Corpus.objects.with_right(request.user, right), public_id=public_id)


def may(request: PersonRequest, corpus: Corpus, right: Right) -> bool:
    """Whether the person has `right` in this very corpus, not just somewhere."""
    return Corpus.objects.with_right(request.user, right).filter(pk=corpus.pk).exists()


@needs(Right.BROWSE)
@require_safe
def corpus(request: PersonRequest, corpus_id: str) -> HttpResponse:
    found = corpus_for(request, corpus_id)
    marker = found.threads.filter(public_id=request.GET.get("after", "")).first()
    page = list(threads.in_corpus(found, after=marker.pk if marker else 0)[: THREADS + 1])
    shown = page[:THREADS]
    sees_runs = may(request, found, Right.SEE_RUNS)
    may_start = may(request, found, Right.START_RUNS)
    context = {
        "section": "corpora",
        "corpus": found,
        "runs": runs.page(request.user, corpus=found, size=RUNS) if sees_runs else None,
        "counts": said.counts(found),
        "queues": said.queues(found),
        "threads": shown,
        "more": shown[-1].public_id if len(page) > THREADS else "",
        "openings": threads.openings(shown),
        "sees_labels": may(request, found, Right.SEE_LABELS),
        "sees_profiles": may(request, found, Right.SEE_PROFILES),
        "may_import": may(request, found, Right.IMPORT),
        "may_export": may(request, found, Right.EXPORT),
        "may_manage": may(request, found, Right.MANAGE_QUEUES),
        "may_start": may_start,
        "artefacts": artefacts.open_in(found) if may_start else 0,
        "may_trash": may(request, found, Right.MANAGE_PEOPLE),
        "may_connect": may(request, found, Right.CONNECT),
    }
    return render(request, "corpora/corpus.html", context)


@needs(Right.BROWSE)
@require_safe
def thread(request: PersonRequest, thread_id: str) -> HttpResponse:
    found = get_object_or_404(
        Thread.objects.visible_to(request.user).select_related("corpus"), public_id=thread_id
    )
    forest = threads.forest(found)
    sees_labels = may(request, found.corpus, Right.SEE_LABELS)
    context = {
        "section": "corpora",
        "thread": found,
        "corpus": found.corpus,
        "steps": tree.steps(forest),
        "size": sum(1 for root in forest for _ in root.walk()),
        "sees_labels": sees_labels,
        "tags": said.tags_in_thread(found) if sees_labels else {},
    }
    return render(request, "corpora/thread.html", context)


@needs(Right.BROWSE)
@require_safe
def comment(request: PersonRequest, comment_id: str) -> HttpResponse:
    """One comment in its thread. Suggestions and the labels of others only for those who may see labels;
    a labeler sees their own."""
    found = get_object_or_404(
        Comment.objects.visible_to(request.user).select_related("thread", "corpus", "profile"),
        public_id=comment_id,
    )
    sees_labels = may(request, found.corpus, Right.SEE_LABELS)
    annotations = Annotation.objects.filter(comment=found).select_related("person").prefetch_related("labels")
    if not sees_labels:
        annotations = annotations.filter(person=request.user)
    context = {
        "section": "corpora",
        "comment": found,
        "corpus": found.corpus,
        "thread": found.thread,
        "steps": threads.around(found),
        "sees_labels": sees_labels,
        # Who settles differences does not learn whose they are.
        "names_people": may(request, found.corpus, Right.MANAGE_QUEUES),
        "sees_profiles": may(request, found.corpus, Right.SEE_PROFILES),
        "table": said.table(
            TARGETS, work.suggestions_for(found) if sees_labels else {}, list(annotations.order_by("id"))
        ),
    }
    return render(request, "corpora/comment.html", context)
