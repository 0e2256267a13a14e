"""Asking the adjudicator to look at an item, and taking that back."""

from annotation.models import Flag, Item, Queue, Slot
from annotation.services import slots
from simulation.models import User


@slots.whole
def raise_flag(*, by: User, item: Item, attribute: str = "", note: str = "") -> Flag:
    """Flags `item`, or changes what `by` said with their flag."""
    slots.lock([item.pk])
    flag, _ = Flag.objects.update_or_create(
        item=item, person=by, defaults={"attribute": attribute, "note": note[:500], "resolved_at": None}
    )
    Item.objects.filter(pk=item.pk).update(flagged=True)
    return flag


@slots.whole
def clear_flag(*, by: User, item: Item) -> bool:
    """Takes back the flag of `by`; while another one stands the item stays flagged. False: there was none."""
    slots.lock([item.pk])
    gone, _ = Flag.objects.filter(item=item, person=by, resolved_at=None).delete()
    stands = Flag.objects.filter(item=item, resolved_at=None).exists() or _skipped_too_often(item)
    if gone and not stands:
        Item.objects.filter(pk=item.pk).update(flagged=False)
    return bool(gone)


def _skipped_too_often(item: Item) -> bool:
    queue = item.queue
    if queue.skip_policy != Queue.SKIP_ADJUDICATOR:
        return False
    return item.slots.filter(state=Slot.SKIPPED).count() >= queue.skips_to_adjudicator
