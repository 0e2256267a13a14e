"""A person's own work in a queue: the list, and the ways back and forth in it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.models import Annotation, Item, Queue, Slot
from annotation.selectors import queue as work
from annotation.views.review import item_for, queue_for
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, asks_itself

SIZE = 30


@asks_itself(Right.REVIEW)
@require_GET
def history(request: PersonRequest, queue_id: str) -> HttpResponse:
    """A person's own submitted work, latest first; each entry opens for a change."""
    queue = queue_for(request, queue_id)
    before = request.GET.get("before", "")
    first = Annotation.objects.filter(public_id=before, person=request.user).first() if before else None
    found = work.history(request.user, queue, before=first.pk if first else None, size=SIZE)
    skipped = Slot.objects.filter(queue=queue, person=request.user, state=Slot.SKIPPED)
    context = {
        "section": "review",
        "queue": queue,
        "annotations": found[:SIZE],
        "skipped": skipped.select_related("item__comment").order_by("-changed_at")[:SIZE],
        "more": found[SIZE - 1].public_id if len(found) > SIZE else "",
    }
    return render(request, "review/history.html", context)


def _to(request: PersonRequest, queue: Queue, found: Item | None, otherwise: str) -> HttpResponse:
    if found:
        return redirect("review_item", queue_id=queue.public_id, item_id=found.public_id)
    if otherwise:
        messages.info(request, otherwise)
    return redirect("review", queue_id=queue.public_id)


@asks_itself(Right.REVIEW)
@require_GET
def earlier(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """The item that this person answered before this one; changes nothing."""
    queue = queue_for(request, queue_id)
    here = item_for(queue, item_id)
    found = work.beside(request.user, queue, here, later=False)
    if found is None and Annotation.objects.filter(item=here, person=request.user).exists():
        messages.info(request, "That was your first answer in this queue.")
        found = here
    return _to(request, queue, found, "You have not answered anything in this queue yet.")


@asks_itself(Right.REVIEW)
@require_GET
def later(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """The item that this person answered after this one; behind the last one the work goes on."""
    queue = queue_for(request, queue_id)
    return _to(request, queue, work.beside(request.user, queue, item_for(queue, item_id), later=True), "")


@asks_itself(Right.REVIEW)
@require_GET
def last(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Reopens what this person submitted last."""
    queue = queue_for(request, queue_id)
    return _to(request, queue, work.last(request.user, queue), "There is no submission to reopen yet.")
