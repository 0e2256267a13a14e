"""The trash: what is in it, what goes into it, what is taken out again."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Queue
from annotation.selectors import trash as selectors
from annotation.services import trash
from annotation.views.browse import corpus_for
from simulation.domain.roles import Right
from simulation.domain.typed import NotConfirmed
from simulation.selectors.access import PersonRequest, needs
from simulation.selectors.trash import run_under_way, trashable_corpora
from simulation.services import trash as corpora_trash


# Whoever may restore a corpus may manage its queues as well, so one right opens the page.
@needs(Right.MANAGE_QUEUES)
@require_safe
def trash_list(request: PersonRequest) -> HttpResponse:
    """Two lists, each in pages of its own: the address names where each begins."""
    context = {
        "section": "corpora",
        "queues": selectors.queues(request.user, before=request.GET.get("queues", "")),
        "corpora": selectors.corpora(request.user, before=request.GET.get("corpora", "")),
    }
    return render(request, "trash/list.html", context)


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def queue_trash(request: PersonRequest, queue_id: str) -> HttpResponse:
    """What happens and what stays, in numbers; the name is typed to confirm."""
    problem = ""
    if request.method == "POST":
        queue = _queue(request, queue_id)
        try:
            trash.trash_queue(by=request.user, queue=queue, typed=request.POST.get("typed", ""))
        except trash.AlreadyDone as done:
            messages.warning(request, str(done))
            return redirect("trash")
        except NotConfirmed as refusal:
            problem = str(refusal)
        else:
            messages.success(request, f"Queue “{queue.name}” is in the trash. Nothing in it is lost.")
            return redirect("trash")
    else:
        outside = Queue.objects.with_right(request.user, Right.MANAGE_QUEUES)
        queue = get_object_or_404(outside.select_related("corpus"), public_id=queue_id)
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "there": selectors.at_work(queue),
        "problem": problem,
        "typed": request.POST.get("typed", ""),
    }
    return render(request, "trash/queue.html", context, status=422 if problem else 200)


@needs(Right.MANAGE_QUEUES)
@require_POST
def queue_restore(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = _queue(request, queue_id)
    try:
        trash.restore_queue(by=request.user, queue=queue)
    except trash.AlreadyDone as done:
        messages.warning(request, str(done))
        return redirect("trash")
    messages.success(request, f"Queue “{queue.name}” is back, {queue.state} as it was.")
    return redirect("corpus", corpus_id=queue.corpus.public_id)


@needs(Right.MANAGE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def corpus_trash(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The same for a whole corpus."""
    problem, typed_wrong = "", False
    if request.method == "POST":
        corpus = get_object_or_404(trashable_corpora(request.user), public_id=corpus_id)
        try:
            corpora_trash.trash_corpus(by=request.user, corpus=corpus, typed=request.POST.get("typed", ""))
        except corpora_trash.AlreadyDone as done:
            messages.warning(request, str(done))
            return redirect("trash")
        except (NotConfirmed, corpora_trash.RunUnderWay) as refusal:
            problem, typed_wrong = str(refusal), isinstance(refusal, NotConfirmed)
        else:
            messages.success(request, f"Corpus “{corpus.name}” is in the trash. Nothing in it is lost.")
            return redirect("trash")
    else:
        corpus = corpus_for(request, corpus_id, Right.MANAGE_PEOPLE)
    context = {
        "section": "corpora",
        "corpus": corpus,
        "there": selectors.at_work_in(corpus),
        "n_queues": corpus.queues.count(),
        "run": run_under_way(corpus),
        "problem": problem,
        "typed_wrong": typed_wrong,
        "typed": request.POST.get("typed", ""),
    }
    return render(request, "trash/corpus.html", context, status=422 if problem else 200)


@needs(Right.MANAGE_PEOPLE)
@require_POST
def corpus_restore(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = get_object_or_404(trashable_corpora(request.user), public_id=corpus_id)
    try:
        corpora_trash.restore_corpus(by=request.user, corpus=corpus)
    except corpora_trash.AlreadyDone as done:
        messages.warning(request, str(done))
        return redirect("trash")
    messages.success(request, f"Corpus “{corpus.name}” is back.")
    return redirect("corpus", corpus_id=corpus.public_id)


def _queue(request: PersonRequest, queue_id: str) -> Queue:
    """In the trash or not, so that a second press is told from an address that is nobody's."""
    mine = selectors.trashable_queues(request.user).select_related("corpus")
    return get_object_or_404(mine, public_id=queue_id)
