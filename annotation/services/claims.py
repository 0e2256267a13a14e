"""Handing out work: claim a slot by SKIP LOCKED, hold it by a lease, give it back."""

import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.models import Annotation, Item, Queue, Slot
from annotation.services import slots
from simulation.models import User

LEASE = timedelta(minutes=30)


@transaction.atomic
def claim_next(*, by: User, queue: Queue, now: datetime) -> Slot | None:
    """The slot that `by` works on now: the one already held, else the next free one; None when there is none.

    A reload therefore returns the same item. Two people never get one slot: the row is locked, and rows
    locked by others are passed over. A paused or closed queue hands out nothing new. Two tabs of one
    person pressing at once wait for each other and get the same item.
    """
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    held = _own_lease(by, queue)
    if held:
        held.leased_until = now + LEASE
        held.save(update_fields=["leased_until", "changed_at"])
        return held
    if queue.state != "open":
        return None
    release_expired(queue=queue, now=now)
    mine = Slot.objects.filter(item=OuterRef("item"), person=by)
    answered = Annotation.objects.filter(item=OuterRef("item"), person=by)
    slot = (
        Slot.objects.select_for_update(skip_locked=True)
        .filter(queue=queue, state=Slot.OPEN)
        .filter(~Exists(mine), ~Exists(answered))
        .order_by("position", "number")
        .first()
    )
    return lease(slot, by=by, now=now) if slot else None


def _own_lease(person: User, queue: Queue) -> Slot | None:
    return Slot.objects.select_for_update().filter(queue=queue, person=person, state=Slot.LEASED).first()


def lease(slot: Slot, *, by: User, now: datetime) -> Slot:
    """Gives a locked open slot to `by`."""
    slot.state, slot.person = Slot.LEASED, by
    slot.leased_until, slot.lease_token = now + LEASE, uuid.uuid4()
    slot.save(update_fields=["state", "person", "leased_until", "lease_token", "changed_at"])
    return slot


@transaction.atomic
def release_expired(*, queue: Queue, now: datetime) -> int:
    """Frees the slots whose lease ended; only leased ones can expire, finished work never does.

    An answer that came too late for its own slot gets the one that is free now.
    """
    ended = Slot.objects.filter(queue=queue, state=Slot.LEASED, leased_until__lt=now)
    items = list(ended.values_list("item", flat=True))
    if not items:
        return 0
    items = slots.lock(items, skip_locked=True)
    freed = ended.filter(item__in=items).update(
        state=Slot.OPEN, person=None, leased_until=None, lease_token=None, changed_at=now
    )
    slots.settle(items)
    return freed


@transaction.atomic
def skip(*, by: User, item: Item) -> bool:
    """Marks the slot of `item` that `by` holds as skipped by them; it does not come back to them.

    False, and nothing happens, when they do not hold this item (any more): the page was an old one.
    """
    slots.lock([item.pk])
    slot = Slot.objects.select_for_update().filter(item=item, person=by, state=Slot.LEASED).first()
    if not slot:
        return False
    slot.state, slot.leased_until, slot.lease_token = Slot.SKIPPED, None, None
    slot.save(update_fields=["state", "leased_until", "lease_token", "changed_at"])
    slots.settle([item.pk])
    return True
