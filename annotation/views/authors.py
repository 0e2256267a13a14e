"""One author of a corpus: their comments, and for those who see labels what was said about them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from annotation.selectors import authors
from annotation.services import authors as acts
from annotation.views.browse import corpus_for, may
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Comment
from simulation.selectors.access import PersonRequest, needs

PAGE = 50
DRAWER = 20


def _comment(request: PersonRequest, public_id: str) -> Comment:
    mine = Comment.objects.visible_to(request.user).select_related("corpus")
    return get_object_or_404(mine, public_id=public_id)


@needs(Right.BROWSE)
@require_safe
def author(request: PersonRequest, comment_id: str) -> HttpResponse:
    """The author of a comment; as a fragment, some of their other comments and nothing that anybody said."""
    found = _comment(request, comment_id)
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        rows = authors.others(found, size=DRAWER)
        context = {"comment": found, "comments": rows[:DRAWER], "more": len(rows) > DRAWER}
        answer = render(request, "authors/_more.html", context)
    else:
        answer = _page(request, found)
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def _page(request: PersonRequest, found: Comment, *, problem: str = "", status: int = 200) -> HttpResponse:
    after = request.GET.get("after", "")
    rows = authors.page(found, after=after, size=PAGE)
    sees_labels = may(request, found.corpus, Right.SEE_LABELS)
    sections = authors.sections(found) if sees_labels else []
    context = {
        "section": "corpora",
        "corpus": found.corpus,
        "comment": found,
        "comments": rows[:PAGE],
        "after": after,
        "more": rows[PAGE - 1].public_id if len(rows) > PAGE else "",
        "sees_labels": sees_labels,
        "sections": sections,
        "contradicted": [one for one in sections if one.odd],
        "may_requeue": sees_labels and may(request, found.corpus, Right.MANAGE_QUEUES),
        "may_adjudicate": sees_labels and may(request, found.corpus, Right.ADJUDICATE),
        "problem": problem,
    }
    return render(request, "authors/author.html", context, status=status)


@needs(Right.MANAGE_QUEUES)
@require_POST
def requeue(request: PersonRequest, comment_id: str) -> HttpResponse:
    """Asks for another look at an odd label, then shows the author again."""
    found = _comment(request, comment_id)
    corpus_for(request, found.corpus.public_id, Right.MANAGE_QUEUES)
    attribute, to = request.POST.get("attribute", ""), request.POST.get("to", "")
    if attribute not in CATALOGUE or to not in (acts.ADJUDICATOR, acts.ANNOTATOR):
        problem = "The page was incomplete: press one of the two buttons beside an odd label."
        return _page(request, found, problem=problem, status=422)
    try:
        done = acts.requeue(
            by=request.user,
            comment=found,
            annotation=request.POST.get("annotation", ""),
            attribute=attribute,
            to=to,
        )
    except acts.Refused as refusal:
        return _page(request, found, problem=str(refusal), status=422)
    messages.success(request, _said(done, CATALOGUE[attribute].label, to))
    return redirect("author", comment_id=found.public_id)


def _said(done: acts.Requeued, label: str, to: str) -> str:
    what = f"{label} “{done.line.value}”"
    if to == acts.ADJUDICATOR:
        return f"{what} {'is already' if done.again else 'is now'} with the adjudicator."
    if done.again:
        return f"{what} already waits for another annotator."
    return f"{what} now waits for another annotator: one more answer is asked for."


@needs(Right.SEE_LABELS)
@require_safe
def in_corpus(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The authors of a corpus by name, with what contradicts itself in their labels."""
    found = corpus_for(request, corpus_id, Right.SEE_LABELS)
    after = request.GET.get("after")
    rows, more = authors.in_corpus(found, after=after, size=PAGE)
    context = {
        "section": "corpora",
        "corpus": found,
        "authors": rows,
        "after": after,
        "more": rows[-1].username if more else None,
    }
    return render(request, "authors/list.html", context)
