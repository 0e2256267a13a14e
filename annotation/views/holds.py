"""A lead takes comments back, gives them to somebody else, or asks for them once more."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.models import Queue, Slot
from annotation.services import holds
from annotation.views import overview
from annotation.views.overview import queue_for
from simulation.domain.roles import Right
from simulation.models import User
from simulation.selectors.access import PersonRequest, needs

GONE = "This comment is not that person’s any more. Nothing was changed: look again, then decide."


def _slot(request: PersonRequest, queue: Queue) -> Slot | None:
    """The slot of the comment and the person that the form names; without a person the first free one.

    None where that person has nothing to do with the comment (any more).
    """
    found = Slot.objects.filter(queue=queue, item__public_id=request.POST.get("item", ""))
    person = request.POST.get("person", "")
    if not person:
        return found.filter(state=Slot.OPEN).order_by("number").first()
    return found.filter(person=get_object_or_404(User, public_id=person)).select_related("person").first()


@needs(Right.MANAGE_QUEUES)
@require_POST
def release(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = queue_for(request, queue_id)
    slot = _slot(request, queue)
    if slot is None or slot.person is None:
        return overview.page(request, queue, problem=GONE)
    try:
        settled = holds.release(by=request.user, slot=slot)
    except holds.Refused as problem:
        return overview.page(request, queue, problem=str(problem))
    after = "an answer that was kept beside took its place" if settled else "the next who asks gets it"
    messages.success(request, f"Taken back from {slot.person.username}; {after}. Their draft stays.")
    return redirect("queue_overview", queue_id=queue.public_id)


@needs(Right.MANAGE_QUEUES)
@require_POST
def release_ended(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = queue_for(request, queue_id)
    freed = holds.release_ended(by=request.user, queue=queue, now=timezone.now())
    if freed:
        messages.success(request, f"{freed} comment{'s' if freed > 1 else ''} taken back; drafts stay.")
    else:
        messages.info(request, "No lease is over: there was nothing to take back.")
    return redirect("queue_overview", queue_id=queue.public_id)


@needs(Right.MANAGE_QUEUES)
@require_POST
def reassign(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = queue_for(request, queue_id)
    to = get_object_or_404(User, public_id=request.POST.get("to", ""))
    slot = _slot(request, queue)
    if slot is None:
        return overview.page(request, queue, problem=GONE)
    try:
        given = holds.reassign(by=request.user, slot=slot, to=to, now=timezone.now())
    except holds.Refused as problem:
        return overview.page(request, queue, problem=str(problem))
    until = timezone.localtime(given.leased_until)
    messages.success(
        request, f"Given to {to.username} until {until:%H:%M}: it is what they see when they open the queue."
    )
    return redirect("queue_overview", queue_id=queue.public_id)


@needs(Right.MANAGE_QUEUES)
@require_POST
def reopen(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Of one person's done or skipped comment."""
    queue = queue_for(request, queue_id)
    person = overview.person_in(queue, request.POST.get("person", ""))
    slot = _slot(request, queue)
    state = slot.state if slot and slot.state == Slot.SKIPPED else Slot.DONE
    if slot is None:
        return overview.person_page(request, queue, person, problem=GONE)
    try:
        if state == Slot.SKIPPED:
            holds.reopen_skipped(by=request.user, slot=slot)
            messages.success(request, "Open again, for anybody.")
        else:
            holds.reopen_done(by=request.user, slot=slot, reason=request.POST.get("reason", ""))
            messages.success(
                request,
                f"Somebody else is asked. What {person.username} said is kept beside, with the reason.",
            )
    except holds.Refused as problem:
        return overview.person_page(request, queue, person, state=state, problem=str(problem))
    answer = redirect("queue_person", queue_id=queue.public_id, person_id=person.public_id)
    answer["Location"] += f"?state={state}"
    return answer


@needs(Right.MANAGE_QUEUES)
@require_POST
def reopen_skipped(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Of all comments that are short of answers because of skips; the form says how many they were."""
    queue = queue_for(request, queue_id)
    expected = request.POST.get("expected", "")
    if not expected.isascii() or not expected.isdecimal() or len(expected) > 12:
        return overview.page(request, queue, problem="Look again how many there are, then press once more.")
    try:
        n = holds.reopen_all_skipped(by=request.user, queue=queue, expected=int(expected))
    except holds.Refused as problem:
        return overview.page(request, queue, problem=str(problem))
    messages.success(request, f"{n} skipped comment{'s are' if n != 1 else ' is'} open again, for anybody.")
    return redirect("queue_overview", queue_id=queue.public_id)
