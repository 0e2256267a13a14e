"""Which slot an answer fills, and whether the item has had as many answers as were wanted."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import IntegrityError, OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected, UniqueViolation

from annotation.models import Annotation, Item, Queue, Slot
from annotation.services.assessing import assess
from simulation.models import User

TRIES = 4
SET_ASIDE = "set_aside"
"""Key of `Annotation.extra` that holds why a lead asked somebody else: such an answer stays over quota."""
Given = ParamSpec("Given")
Result = TypeVar("Result")


def whole(act: Callable[Given, Result]) -> Callable[Given, Result]:
    """One transaction, begun again when the database gave it up for another one.

    That is: a deadlock (acts on slots lock the item, then its slots; what is left are counts that two people
    change in the other's favour at the same moment), or a slot that two pages of one person took at once.
    Inside another transaction it is tried once.
    """

    @wraps(act)
    def again(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        tries = 1 if connection.in_atomic_block else TRIES
        for tried in range(1, tries + 1):
            try:
                with transaction.atomic():
                    return act(*args, **kwargs)
            except OperationalError as error:
                if tried == tries or not isinstance(error.__cause__, DeadlockDetected):
                    raise
            except IntegrityError as error:
                if tried == tries or not _taken_twice(error):
                    raise
        raise AssertionError("the loop returns or raises")

    return again


def _taken_twice(error: IntegrityError) -> bool:
    """Two pages of one person took a comment at the same moment: the second gets what the first got."""
    cause = error.__cause__
    name = cause.diag.constraint_name if isinstance(cause, UniqueViolation) else ""
    return name in ("slot_one_lease", "slot_once", "slot_person_once")


def lock(items: Iterable[int], *, skip_locked: bool = False) -> list[int]:
    """Locks items in their order, the keys of those locked. Whoever takes more than one slot of an item
    does this first: without a common order two of them could wait for each other."""
    wanted = Item.objects.filter(pk__in=set(items)).order_by("pk")
    return list(wanted.select_for_update(no_key=True, skip_locked=skip_locked).values_list("pk", flat=True))


def lock_of(item: Item) -> list[Slot]:
    """The slots of an item in their order, locked; the lock on the item comes first."""
    lock([item.pk])
    return list(Slot.objects.select_for_update().filter(item=item).order_by("number"))


DONE: dict[str, str | None] = {
    "state": Slot.DONE,
    "leased_until": None,
    "lease_token": None,
    "skip_reason": "",
    "skip_note": "",
}


def finish(*, by: User, item: Item, locked: bool = False) -> bool:
    """Marks a slot of `item` done by `by`; False when others hold or have done as many as were wanted.

    Their own slot first; then a free one; then one made for them, where skipped slots left the item short of
    answers. A slot that they had skipped counts only while the item is short of answers: then the one that
    was opened in its place goes. Call it within a transaction; `locked`: the item's lock is held already.
    """
    if not locked:
        lock([item.pk])
    if Slot.objects.filter(item=item, person=by, state__in=(Slot.LEASED, Slot.DONE)).update(**DONE):
        return True  # the usual case: they hold it
    slots = list(Slot.objects.select_for_update().filter(item=item).order_by("number"))
    busy = [slot for slot in slots if slot.state in (Slot.DONE, Slot.LEASED)]
    free = [slot for slot in slots if slot.state == Slot.OPEN]
    own = next((slot for slot in slots if slot.person_id == by.pk), None)
    wanted = wanted_of(item)
    # A free slot may be one more than usual: a lead asked for another look.
    if not (free or len(busy) < wanted or item.gold):
        return False
    if own:
        slot = own
        if free and len(busy) + len(free) >= wanted:
            free[-1].delete()
    elif free:
        slot = free[0]
    else:
        slot = another(item, slots)
    slot.person = by
    for name, value in DONE.items():
        setattr(slot, name, value)
    slot.save()
    return True


def wanted_of(item: Item) -> int:
    """How many people are wanted now: read under the item's lock, since a lead may have asked for more."""
    wanted: int = Queue.objects.values_list("people_per_item", flat=True).get(pk=item.queue_id)
    return wanted


def another(item: Item, slots: list[Slot]) -> Slot:
    """One more slot for an item whose slots are `slots`; not saved yet."""
    number = max((slot.number for slot in slots), default=0) + 1
    return Slot(queue_id=item.queue_id, item=item, number=number, position=item.position)


def settle(items: Iterable[int]) -> int:
    """Gives slots that became free to answers that had come too many; the number of those.

    Such an answer is over quota only as long as others hold or have done what was wanted.
    """
    waiting = (
        Annotation.objects.select_for_update(of=("self",))
        .filter(item__in=list(items), over_quota=True)
        .exclude(extra__has_key=SET_ASIDE)
        .select_related("item__queue", "person")
        .order_by("submitted_at", "pk")
    )
    settled = 0
    for annotation in waiting:
        if annotation.item and annotation.person and finish(by=annotation.person, item=annotation.item):
            annotation.over_quota = False
            annotation.save(update_fields=["over_quota"])
            assess(annotation.item)
            settled += 1
    return settled


def after_skip(item: Item, queue: Queue) -> None:
    """Does what the queue's policy says once somebody skipped `item`; its lock is held.

    Somebody else gets it by a new slot, unless it counts as dealt with, or has been skipped so often that it
    is the adjudicator's.
    """
    slots = list(Slot.objects.filter(item=item).order_by("number"))
    skips = sum(slot.state == Slot.SKIPPED for slot in slots)
    if queue.skip_policy == Queue.SKIP_ADJUDICATOR and skips >= queue.skips_to_adjudicator:
        Slot.objects.filter(item=item, state=Slot.OPEN).delete()
        Item.objects.filter(pk=item.pk).update(flagged=True)
        return
    others = sum(slot.state != Slot.SKIPPED for slot in slots)
    if queue.skip_policy != Queue.SKIP_COUNTS and not item.gold and others < wanted_of(item):
        another(item, slots).save()
