"""Handing out work: claim a slot by SKIP LOCKED, hold it by a lease, give it back."""

import uuid
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Annotation, Draft, Item, Queue, Slot, Tally
from annotation.services import at_once, slots
from simulation.models import User

LEASE = timedelta(minutes=30)
LEAVING = timedelta(minutes=1)
"""What is left of a lease when the page was left: a reload still finds its item, others do not wait long."""


HOLD = ["state", "person", "leased_until", "lease_token", "changed_at"]


class NotThere(Exception):
    """The reason of a skip is none of the list."""


def claim_next(*, by: User, queue: Queue, now: datetime, after: int | None = None) -> Slot | None:
    """The slot that `by` works on now: the one already held, else the next free one; None when there is none.

    A reload therefore returns the same item. Two people never get one slot: the row is locked, and rows
    locked by others are passed over. A paused or closed queue hands out nothing new. Two tabs of one
    person pressing at once wait for each other and get the same item.

    `after` is the position of the item they come from: the search begins behind it, so that it does not wade
    through all they have done, and begins anew at the front when nothing is left. Without it (a fresh visit)
    comments of which they left a draft come first.
    """
    if after is not None and queue.state == "open" and not queue.gold_every:
        taken = at_once.take(by=by, queue=queue, after=after, now=now, lease=LEASE)
        if taken:
            return taken
    return _claim_step_by_step(by, queue, now, after)


@slots.whole
def _claim_step_by_step(by: User, queue: Queue, now: datetime, after: int | None) -> Slot | None:
    # Two pages of one person at once: the database lets one of them have the lease, the other begins anew.
    held = _own_lease(by, queue)
    if held:
        held.leased_until = now + LEASE
        Slot.objects.filter(pk=held.pk).update(leased_until=held.leased_until, changed_at=now)
        return held
    if queue.state != "open":
        return None
    slot = _gold(by, queue) if queue.gold_every else None
    slot = slot or _free(by, queue, after)
    if slot is None and release_expired(queue=queue, now=now):
        slot = _first(by, Slot.objects.filter(queue=queue))
    return lease(slot, by=by, now=now) if slot else None


def _own_lease(person: User, queue: Queue) -> Slot | None:
    held = Slot.objects.select_related("item__comment__thread").filter(
        queue=queue, person=person, state=Slot.LEASED
    )
    return held.select_for_update(of=("self",)).first()


def _free(by: User, queue: Queue, after: int | None) -> Slot | None:
    """A free slot, locked: behind `after` or with a draft of theirs, else the first."""
    everywhere = Slot.objects.filter(queue=queue)
    if after is not None:
        return _first(by, everywhere.filter(position__gt=after)) or _first(by, everywhere)
    begun = Draft.objects.filter(person=by, item__queue=queue).values_list("item", flat=True)
    return _first(by, everywhere.filter(item__in=list(begun))) or _first(by, everywhere)


def _first(by: User, among: QuerySet[Slot]) -> Slot | None:
    """The first open slot of `among`, locked, of an item that `by` has nothing to do with yet."""
    mine = Slot.objects.filter(item=OuterRef("item"), person=by)
    answered = Annotation.objects.filter(item=OuterRef("item"), person=by)
    return (
        among.filter(~Exists(mine), ~Exists(answered), state=Slot.OPEN, item__comment__state="active")
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("item__comment__thread")
        .order_by("position", "number")
        .first()
    )


def _gold(by: User, queue: Queue) -> Slot | None:
    """A gold item that is due: after `gold_every` others, and while there is one they have not had."""
    own = Tally.objects.filter(queue=queue, person=by).first()
    if not own or (own.done + own.skipped) % (queue.gold_every + 1) != queue.gold_every:
        return None
    had = Slot.objects.filter(item=OuterRef("pk"), person=by)
    answered = Annotation.objects.filter(item=OuterRef("pk"), person=by)
    item = (
        Item.objects.select_for_update(no_key=True, of=("self",))
        .select_related("comment__thread")
        .filter(~Exists(had), ~Exists(answered), queue=queue, gold=True, comment__state="active")
        .order_by("position")
        .first()
    )
    return slots.another(item, list(item.slots.all())) if item else None


def lease(slot: Slot, *, by: User, now: datetime) -> Slot:
    """Gives a locked open (or new) slot to `by`."""
    slot.state, slot.person = Slot.LEASED, by
    slot.leased_until, slot.lease_token = now + LEASE, uuid.uuid4()
    slot.save(update_fields=None if slot._state.adding else HOLD)
    return slot


@slots.whole
def release_expired(*, queue: Queue, now: datetime) -> int:
    """Frees the slots whose lease ended or whose holder's account was closed; finished work never expires.

    An answer that came too late for its own slot gets the one that is free now. A gold item has no slot of
    its own to give back: the next person gets a new one when it is due.
    """
    ended = Slot.objects.filter(queue=queue, state=Slot.LEASED).filter(
        Q(leased_until__lt=now) | Q(person__is_active=False)
    )
    items = list(ended.values_list("item", flat=True))
    if not items:
        return 0
    items = slots.lock(items, skip_locked=True)
    # Locked and looked at again: who came back in this moment keeps what they hold.
    found = list(ended.filter(item__in=items).select_for_update(of=("self",)).values_list("pk", "item__gold"))
    Slot.objects.filter(pk__in=[pk for pk, gold in found if gold]).delete()
    Slot.objects.filter(pk__in=[pk for pk, gold in found if not gold]).update(
        state=Slot.OPEN, person=None, leased_until=None, lease_token=None, changed_at=now
    )
    slots.settle(items)
    return len(found)


def release_all_expired(*, now: datetime) -> int:
    """The same for every queue; beat does it every few seconds, so that nobody's claim has to."""
    waiting = Slot.objects.filter(state=Slot.LEASED).filter(
        Q(leased_until__lt=now) | Q(person__is_active=False)
    )
    queues = Queue.objects.filter(pk__in=waiting.values("queue"))
    return sum(release_expired(queue=queue, now=now) for queue in queues)


def renew(*, by: User, item: Item, token: uuid.UUID, now: datetime) -> datetime | None:
    """Lengthens the lease that a page shows; the new end, or None when it is theirs no more."""
    until = now + LEASE
    return until if _own(by, item, token).update(leased_until=until, changed_at=now) else None


def leave(*, by: User, item: Item, token: uuid.UUID, now: datetime) -> bool:
    """The page was left: others get the item in a minute, unless it is opened again before."""
    soon = now + LEAVING
    return bool(_own(by, item, token).filter(leased_until__gt=soon).update(leased_until=soon, changed_at=now))


def _own(by: User, item: Item, token: uuid.UUID) -> QuerySet[Slot]:
    return Slot.objects.filter(item=item, person=by, state=Slot.LEASED, lease_token=token)


@slots.whole
def skip(
    *,
    by: User,
    item: Item,
    now: datetime,
    reason: str = "other",
    note: str = "",
    token: uuid.UUID | None = None,
) -> bool:
    """Marks the slot of `item` that `by` holds as skipped by them; it does not come back to them.

    What becomes of the item is the queue's policy. False, and nothing happens, when they do not hold this
    item (any more): the page was an old one. Raises NotThere for a reason that is not on the list.
    """
    if reason not in dict(Slot.SKIP_REASONS):
        raise NotThere(reason)
    held = [
        slot
        for slot in slots.lock_of(item)
        if slot.person_id == by.pk and slot.state == Slot.LEASED and token in (None, slot.lease_token)
    ]
    if not held:
        return False
    Slot.objects.filter(pk=held[0].pk).update(
        state=Slot.SKIPPED,
        leased_until=None,
        lease_token=None,
        skip_reason=reason,
        skip_note=note[:300],
        changed_at=now,
    )
    slots.after_skip(item, item.queue)
    slots.settle([item.pk])
    return True


@slots.whole
def close(*, items: list[int]) -> int:
    """Takes the open slots of withdrawn comments away, so that nobody waits for them; the number of slots."""
    items = slots.lock(items)
    gone, _ = Slot.objects.filter(item__in=items, state=Slot.OPEN).delete()
    return gone


@slots.whole
def bring_back(*, items: list[int]) -> int:
    """Opens the slots that items lost while their comments were withdrawn; the number of slots."""
    slots.lock(items)
    made = []
    for item in (
        Item.objects.filter(pk__in=items, gold=False).select_related("queue").prefetch_related("slots")
    ):
        held = list(item.slots.all())
        dealt = [
            slot for slot in held if slot.state != Slot.SKIPPED or item.queue.skip_policy == Queue.SKIP_COUNTS
        ]
        missing = item.queue.people_per_item - len(dealt)
        first = slots.another(item, held).number if missing > 0 else 0
        made += [
            Slot(queue_id=item.queue_id, item=item, number=first + step, position=item.position)
            for step in range(missing)
        ]
    Slot.objects.bulk_create(made)
    return len(made)
