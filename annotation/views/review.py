"""The review page: the next comment with its thread around it, a row for each attribute, submit, next."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import forms
from annotation.domain.labels import Problem, State
from annotation.models import Annotation, Item, Queue, Slot
from annotation.selectors import handed, opening, tallies
from annotation.selectors import queue as work
from annotation.services import claims, review, sheets
from annotation.services.sheets import FIRST, Page
from annotation.views import review_page
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, asks_itself, needs, rights_of

GOTO = "X-Review-Goto"
"""Tells a script that sent the form where to go instead of showing an answer."""


def queue_for(request: PersonRequest, public_id: str) -> Queue:
    """A queue in which this person may work. 403 for who may review nowhere, 404 for any other queue."""
    queue = opening.opened(request.user, public_id, holding=request.method == "POST")
    if queue is not None:
        return queue
    if Right.REVIEW not in rights_of(request.user):
        raise PermissionDenied(f"This page needs the right to {Right.REVIEW.value}.")
    raise Http404("no queue of this person")


def item_for(queue: Queue, public_id: str) -> Item:
    item: Item = get_object_or_404(queue.items.select_related("comment__thread"), public_id=public_id)
    item.queue = queue
    return item


@needs(Right.REVIEW)
@require_GET
def queues(request: PersonRequest) -> HttpResponse:
    """All queues in which this person may work."""
    return render(request, "review/queues.html", {"section": "review", "work": work.work_of(request.user)})


@asks_itself(Right.REVIEW)
@require_GET
def next_item(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Claims the next item and shows it; a reload shows the same one."""
    return _next(request, queue_for(request, queue_id))


def _next(request: PersonRequest, queue: Queue, after: int | None = None) -> HttpResponse:
    slot = claims.claim_next(by=request.user, queue=queue, now=timezone.now(), after=after)
    if slot is None:
        return _nothing_left(request, queue)
    slot.item.queue = queue
    return review_page.show(request, sheets.page_of(queue, slot.item, request.user, slot, fresh=True))


def _nothing_left(request: PersonRequest, queue: Queue) -> HttpResponse:
    if request.htmx and request.method == "POST":
        return HttpResponse(headers={GOTO: reverse("review", args=[queue.public_id])})
    standing = tallies.standing(request.user, queue)
    context = {
        "section": "review",
        "queue": queue,
        "free_at": work.next_free_at(request.user, queue),
        "now": timezone.now(),
        "progress": standing.all,
        "own": standing.own,
    }
    return render(request, "review/nothing_left.html", context)


def _onward(request: PersonRequest, queue: Queue, after: int) -> HttpResponse:
    """What comes after an act: the next item itself for a script, the way to it for a plain form."""
    if request.htmx:
        return _next(request, queue, after)
    return redirect("review", queue_id=queue.public_id)


@asks_itself(Right.REVIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """One item that this person holds or has answered: shows it, or takes the answer."""
    queue = queue_for(request, queue_id)
    found, slot = held_item(request, queue, item_id)
    if request.method == "POST":
        # Without a slot only the page itself proves that the item was handed out: a lease may have lapsed.
        if not made_for(request, found) and slot is None:
            raise Http404("never handed out to this person")
        return _take(request, sheets.page_of(queue, found, request.user, slot, answering=True))
    page = sheets.page_of(queue, found, request.user, slot)
    if slot is None and page.mine is None:
        raise Http404("not an item of this person")
    return review_page.show(request, page)


def made_for(request: PersonRequest, found: Item) -> bool:
    """Whether the page that was sent proves that it was made for this person; False: it says nothing.

    403 for a page that was made for somebody else, whose session ended in another window: what they typed is
    not to be stored under the name of who signed in there.
    """
    sent = request.POST.get("ticket", "")
    if sent and sent != review_page.ticket(found, request.user):
        raise PermissionDenied("This page was made for somebody else. Sign in as them, and send it again.")
    return bool(sent)


def held_item(request: PersonRequest, queue: Queue, public_id: str) -> tuple[Item, Slot | None]:
    """An item with the slot of it that this person has, if any; one query where they have one."""
    slot = handed.theirs(request.user, queue, public_id)
    return (slot.item, slot) if slot else (item_for(queue, public_id), None)


def _take(request: PersonRequest, page: Page) -> HttpResponse:
    """Reads what was posted and stores it, or shows the page again with what is wrong."""
    stage = request.POST.get("stage", sheets.FINAL)
    if (page.stage == FIRST) != (stage == FIRST):
        return review_page.show(request, page)  # a second press, or an old page: the other half is shown
    posted = forms.read_review(
        request.POST,
        page.guessed(),
        rest_is_none=request.POST.get("act") == "rest",
        readable=lambda: work.readable(page.item.comment),
    )
    if stage == FIRST and all(label.state is State.UNTOUCHED for label in posted.labels.values()):
        said = "nothing is judged yet: judge what you see, or press “Nothing else, submit”"
        posted.problems.append(Problem("", "choice", said))
    if posted.submission_id is None:
        posted.problems.append(
            Problem("", "submission_id", "the page was incomplete; nothing is lost, submit again")
        )
    if posted.problems:
        return review_page.show(request, page, posted)
    return _first_answer(request, page, posted) if stage == FIRST else _submit(request, page, posted)


def _first_answer(request: PersonRequest, page: Page, posted: forms.Review) -> HttpResponse:
    review.answer_first(
        by=request.user, item=page.item, labels=posted.labels, note=posted.note, active_ms=posted.active_ms
    )
    if request.htmx:
        return review_page.show(request, sheets.page_of(page.queue, page.item, request.user, page.slot))
    return redirect("review_item", queue_id=page.queue.public_id, item_id=page.item.public_id)


def _submit(request: PersonRequest, page: Page, posted: forms.Review) -> HttpResponse:
    assert posted.submission_id is not None
    version = page.queue.guideline_version
    try:
        stored = review.submit(
            by=request.user,
            item=page.item,
            submission_id=posted.submission_id,
            labels=posted.labels,
            suggestions=page.suggestions if page.queue.assisted else {},
            now=timezone.now(),
            base_version=posted.base_version or 0,
            note=posted.note,
            active_ms=posted.active_ms,
            wall_ms=posted.wall_ms,
            arm=page.arm,
            guideline=page.queue.guidelines.filter(version=version).first() if version else None,
        )
    except PermissionError:
        raise Http404("not this person's submission") from None
    except review.Conflict as clash:
        return review_page.conflict(request, page, posted, clash.annotation)
    if not stored.replayed:
        back = reverse("review_item", args=[page.queue.public_id, page.item.public_id])
        messages.success(request, _said(stored.annotation, page.item, posted), extra_tags=back)
    return _onward(request, page.queue, page.item.position)


def _said(annotation: Annotation, found: Item, posted: forms.Review) -> str:
    n = sum(label.state is State.VALUE for label in posted.labels.values())
    values = f"{n} value{'' if n == 1 else 's'}" if n else "nothing inferred"
    said = f"Submitted: {found.comment.username}, {values}."
    if annotation.over_quota:
        said += " Your hold had lapsed and it is with others now; your answer is kept beside theirs."
    return said


@asks_itself(Right.REVIEW)
@require_POST
def skip(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Skips the item that this person holds, with a reason; what becomes of it is the queue's policy."""
    queue = queue_for(request, queue_id)
    found = item_for(queue, request.POST.get("item", ""))
    made_for(request, found)
    try:
        skipped = claims.skip(
            by=request.user,
            item=found,
            now=timezone.now(),
            reason=request.POST.get("reason", ""),
            note=request.POST.get("note", "").strip(),
            token=forms.as_uuid(request.POST.get("lease_token", "")),
        )
    except claims.NotThere:
        slot = found.slots.filter(person=request.user, state=Slot.LEASED).first()
        if slot is None:
            raise Http404("not an item of this person") from None
        messages.warning(request, "Nothing was skipped: choose one of the reasons.")
        page = sheets.page_of(queue, found, request.user, slot)
        return review_page.show(request, page)
    if skipped:
        messages.success(request, "Skipped. It stays in your history, where you can still answer it.")
    else:
        messages.warning(request, "Nothing was skipped: that page showed a comment you no longer hold.")
    return _onward(request, queue, found.position)
