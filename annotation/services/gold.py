"""Gold items: items whose answer is known, mixed into the work of everybody."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from annotation.domain.known import Known
from annotation.models import Annotation, Gold, Item, Slot
from annotation.services import claims, slots
from annotation.services.assessing import assess
from simulation.models import User
from simulation.services import audit


@transaction.atomic
def know(*, by: User | None, item: Item, labels: Mapping[str, Known], why: str = "") -> Gold:
    """Makes `item` gold with `labels` (attribute key -> what is right), or changes its known answer.

    Its open slots go, because gold is handed out beside the ordinary work; what people hold or have done
    stays theirs. Raises ValueError when no attribute is checked.
    """
    if not labels:
        raise ValueError("a gold item checks at least one attribute")
    slots.lock([item.pk])
    answer, new = Gold.objects.update_or_create(
        item=item,
        defaults={"labels": {key: label.as_dict() for key, label in labels.items()}, "why": why, "by": by},
    )
    closed, _ = Slot.objects.filter(item=item, state=Slot.OPEN).delete()
    Item.objects.filter(pk=item.pk).update(gold=True)
    item.gold = True
    audit.record(
        by=by,
        action="gold.added" if new else "gold.changed",
        target=item,
        corpus=item.queue.corpus,
        details={"queue": item.queue.public_id, "attributes": sorted(labels), "open_reviews_closed": closed},
    )
    return answer


def _beside(item: Item) -> None:
    """A gold item went to everybody: as an ordinary one it counts the first answers that are wanted."""
    counted = Annotation.objects.filter(item=item, person__isnull=False, over_quota=False)
    first = counted.order_by("submitted_at", "pk").values_list("pk", flat=True)[: slots.wanted_of(item)]
    counted.exclude(pk__in=list(first)).update(over_quota=True)
    assess(item)


@transaction.atomic
def forget(*, by: User | None, item: Item) -> int:
    """Makes a gold item an ordinary one again and opens the slots that it lacks; the number of those.

    The known answer is deleted. An item that is not gold stays as it is.
    """
    slots.lock([item.pk])
    if not Item.objects.filter(pk=item.pk, gold=True).update(gold=False):
        return 0
    item.gold = False
    Gold.objects.filter(item=item).delete()
    _beside(item)
    opened = claims.bring_back(items=[item.pk])
    audit.record(
        by=by,
        action="gold.removed",
        target=item,
        corpus=item.queue.corpus,
        details={"queue": item.queue.public_id, "reviews_opened": opened},
    )
    return opened
