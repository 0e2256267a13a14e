"""The review page: the next comment with its thread around it, eight rows, submit, next."""

import uuid
from collections.abc import Mapping

from django.contrib import messages
from django.core.signing import Signer
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import forms
from annotation.domain import rows
from annotation.domain.labels import Guessed, Label, Outcome, Problem, State
from annotation.models import Annotation, Item, Queue, Slot, Suggestion
from annotation.selectors import queue as work
from annotation.services import claims, review
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS
from simulation.domain.roles import Right
from simulation.models import User
from simulation.selectors import threads
from simulation.selectors.access import PersonRequest, needs


def _queue(request: PersonRequest, public_id: str) -> Queue:
    mine = Queue.objects.with_right(request.user, Right.REVIEW).select_related("corpus")
    return get_object_or_404(mine, public_id=public_id)


@needs(Right.REVIEW)
@require_GET
def queues(request: PersonRequest) -> HttpResponse:
    """All queues in which this person may work."""
    return render(request, "review/queues.html", {"section": "review", "work": work.work_of(request.user)})


@needs(Right.REVIEW)
@require_GET
def next_item(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Claims the next item and shows it; a reload shows the same one."""
    queue = _queue(request, queue_id)
    slot = claims.claim_next(by=request.user, queue=queue, now=timezone.now())
    if slot is None:
        return _nothing_left(request, queue)
    return _page(request, queue, slot.item, slot)


def _nothing_left(request: PersonRequest, queue: Queue) -> HttpResponse:
    free_at = work.next_free_at(request.user, queue)
    context = {
        "section": "review",
        "queue": queue,
        "free_at": free_at,
        "progress": work.own_progress(request.user, [queue])[queue.pk],
    }
    return render(request, "review/nothing_left.html", context)


@needs(Right.REVIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """One item that this person holds or has answered: shows it, or takes the answer."""
    queue = _queue(request, queue_id)
    found = get_object_or_404(queue.items.select_related("comment__thread"), public_id=item_id)
    slot = found.slots.filter(person=request.user).first()
    if request.method == "POST":
        # Without a slot only the page itself proves that the item was handed out: a lease may have lapsed.
        if slot is None and request.POST.get("ticket") != ticket(found, request.user):
            raise Http404("never handed out to this person")
        return _submit(request, queue, found, slot)
    if slot is None:
        raise Http404("not an item of this person")
    return _page(request, queue, found, slot)


def ticket(found: Item, person: User) -> str:
    """Proof that a page of this item was made for this person; goes out and comes back with the form."""
    return Signer(salt="annotation.review").signature(f"{found.public_id}:{person.public_id}")


def _submit(request: PersonRequest, queue: Queue, found: Item, slot: Slot | None) -> HttpResponse:
    suggestions = work.suggestions_for(found.comment)
    guessed = {key: _guessed(row) for key, row in suggestions.items()}
    posted = forms.read_review(request.POST, guessed, rest_is_none=request.POST.get("act") == "rest")
    if posted.submission_id is None:
        posted.problems.append(
            Problem("", "submission_id", "the page was incomplete; nothing is lost, submit again")
        )
    if posted.problems:
        return _page(request, queue, found, slot, posted=posted)
    assert posted.submission_id is not None
    try:
        stored = review.submit(
            by=request.user,
            item=found,
            submission_id=posted.submission_id,
            labels=posted.labels,
            suggestions=suggestions,
            now=timezone.now(),
            active_ms=posted.active_ms,
        )
    except PermissionError:
        raise Http404("not this person's submission") from None
    if not stored.replayed:
        back = reverse("review_item", args=[queue.public_id, found.public_id])
        messages.success(request, _said(stored.annotation), extra_tags=back)
    return redirect("review", queue_id=queue.public_id)


def _said(annotation: Annotation) -> str:
    said = f"Submitted: {annotation.comment.username}, {_count(annotation)}."
    if annotation.over_quota:
        said += " Your hold had lapsed and it is with others now; your answer is kept beside theirs."
    return said


def _count(annotation: Annotation) -> str:
    n = annotation.labels.filter(state=State.VALUE).count()
    return f"{n} value{'' if n == 1 else 's'}" if n else "nothing inferred"


def _guessed(row: Suggestion) -> Guessed:
    return Guessed(tuple(row.words), row.hardness, row.certainty)


def _page(
    request: PersonRequest,
    queue: Queue,
    found: Item,
    slot: Slot | None,
    *,
    posted: forms.Review | None = None,
) -> HttpResponse:
    suggestions = work.suggestions_for(found.comment)
    mine = Annotation.objects.filter(item=found, person=request.user).first()
    answers, outcomes = _answers(mine, posted)
    context = {
        "section": "review",
        "queue": queue,
        "item": found,
        "slot": slot,
        "mine": mine,
        "steps": threads.around(found.comment),
        "thread": found.comment.thread,
        "rows": rows.build(
            {key: (_guessed(row), row.tagger) for key, row in suggestions.items() if key in CATALOGUE},
            answers,
            outcomes,
            posted.problems if posted else None,
        ),
        "problems": posted.problems if posted else [],
        "labels": {attribute.key: attribute.label for attribute in CATALOGUE.values()},
        "submission_id": (posted.submission_id if posted else None) or uuid.uuid4(),
        "active_ms": posted.active_ms if posted else 0,
        "ticket": ticket(found, request.user),
        "progress": work.own_progress(request.user, [queue])[queue.pk],
        "marks": range(1, 6),
        "hardness": HARDNESS,
        "certainty": CERTAINTY,
    }
    return render(request, "review/item.html", context, status=422 if posted else 200)


def _answers(
    mine: Annotation | None, posted: forms.Review | None
) -> tuple[Mapping[str, rows.Answer], Mapping[str, Outcome]]:
    """What the form shows: what was just typed, else the person's stored labels, else nothing."""
    if posted:
        return posted.answers, {key: label.outcome for key, label in posted.labels.items()}
    if not mine:
        return {}, {}
    stored = {
        row.attribute: Label(State(row.state), Outcome(row.outcome), row.value, row.hardness, row.certainty)
        for row in mine.labels.all()
    }
    return (
        {key: rows.answer_of(label) for key, label in stored.items()},
        {key: label.outcome for key, label in stored.items()},
    )


@needs(Right.REVIEW)
@require_POST
def skip(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = _queue(request, queue_id)
    found = get_object_or_404(queue.items, public_id=request.POST.get("item", ""))
    if claims.skip(by=request.user, item=found):
        messages.success(request, "Skipped. It stays in your history, where you can still answer it.")
    else:
        messages.warning(request, "Nothing was skipped: that page showed a comment you no longer hold.")
    return redirect("review", queue_id=queue.public_id)


@needs(Right.REVIEW)
@require_GET
def history(request: PersonRequest, queue_id: str) -> HttpResponse:
    """A person's own submitted work, latest first; each entry opens for a change."""
    queue = _queue(request, queue_id)
    size = 30
    before = request.GET.get("before", "")
    first = Annotation.objects.filter(public_id=before, person=request.user).first() if before else None
    found = work.history(request.user, queue, before=first.pk if first else None, size=size)
    context = {
        "section": "review",
        "queue": queue,
        "annotations": found[:size],
        "skipped": Slot.objects.filter(queue=queue, person=request.user, state=Slot.SKIPPED).select_related(
            "item__comment"
        )[:size],
        "more": found[size - 1].public_id if len(found) > size else "",
    }
    return render(request, "review/history.html", context)
