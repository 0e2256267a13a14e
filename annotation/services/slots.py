"""Which slot an answer fills, and whether the item has had as many answers as were wanted."""

from collections.abc import Iterable

from annotation.models import Annotation, Item, Slot
from simulation.models import User


def lock(items: Iterable[int], *, skip_locked: bool = False) -> list[int]:
    """Locks items in their order, the keys of those locked. Whoever takes more than one slot of an item
    does this first: without a common order two of them could wait for each other."""
    wanted = Item.objects.filter(pk__in=set(items)).order_by("pk")
    return list(wanted.select_for_update(no_key=True, skip_locked=skip_locked).values_list("pk", flat=True))


def finish(*, by: User, item: Item) -> bool:
    """Marks a slot of `item` done by `by`; False when others hold or have done as many as were wanted.

    Their own slot first, whatever its state; then a free one; then one made for them, where skipped slots
    left the item short of answers. Call it within a transaction.
    """
    lock([item.pk])
    slots = list(Slot.objects.select_for_update().filter(item=item).order_by("number"))
    own = next((slot for slot in slots if slot.person_id == by.pk), None)
    free = next((slot for slot in slots if slot.state == Slot.OPEN), None)
    slot = own or free
    if slot is None:
        busy = sum(slot.state in (Slot.DONE, Slot.LEASED) for slot in slots)
        if busy >= item.queue.people_per_item:
            return False
        number = max((slot.number for slot in slots), default=0) + 1
        slot = Slot(queue_id=item.queue_id, item=item, number=number, position=item.position)
    slot.state, slot.person = Slot.DONE, by
    slot.leased_until = slot.lease_token = None
    slot.save()
    return True


def settle(items: Iterable[int]) -> int:
    """Gives slots that became free to answers that had come too many; the number of those.

    Such an answer is over quota only as long as others hold or have done what was wanted.
    """
    waiting = (
        Annotation.objects.select_for_update(of=("self",))
        .filter(item__in=list(items), over_quota=True)
        .select_related("item__queue", "person")
        .order_by("submitted_at", "pk")
    )
    settled = 0
    for annotation in waiting:
        if annotation.item and annotation.person and finish(by=annotation.person, item=annotation.item):
            annotation.over_quota = False
            annotation.save(update_fields=["over_quota"])
            settled += 1
    return settled
