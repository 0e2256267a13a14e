"""Settling in bulk the items on which the annotators agree."""

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction

from annotation.domain.adjudication import Opinion, agreed
from annotation.domain.rulings import UNANIMOUS, Ruling
from annotation.models import AttributeLabel, Decision, DecisionEvent, Item, Queue
from annotation.selectors import adjudication as waiting
from annotation.selectors.adjudication import Unanimous
from annotation.selectors.adjudication_sheet import opinion
from annotation.services import decision_notices, slots
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import User
from simulation.services import audit

BATCH = 500
MARKS = {"bulk": True, "saw_model": False, "saw_truth": False}


class CountChanged(Exception):
    """What would be settled is not what the page said; nothing was changed. `now` are the numbers of now."""

    def __init__(self, now: Unanimous) -> None:
        super().__init__("the numbers changed")
        self.now = now


@transaction.atomic
def settle(*, by: User, queue: Queue, items: int, labels: int) -> Unanimous:
    """Settles the agreed items of `queue` that nobody flagged, at most `waiting.AT_ONCE`, all or none.

    `items` and `labels` are the numbers that the person saw; raises CountChanged where they are others now.
    A decision that exists is never changed by this.
    """
    locked = slots.lock(waiting.settleable(queue)[0])
    # Whoever held a lock before may have changed an answer: count again what is ours now.
    keys, found = waiting.settleable(queue)
    if (found.items, found.labels) != (items, labels) or not set(keys) <= set(locked):
        raise CountChanged(found)
    for begin in range(0, len(keys), BATCH):
        _settle(by, keys[begin : begin + BATCH])
    if keys:
        audit.record(
            by=by,
            action="adjudication.settled",
            target=queue,
            corpus=queue.corpus,
            details={"items": found.items, "labels": found.labels},
        )
        decision_notices.tell(corpus=queue.corpus, items=keys)
    return found


def _settle(by: User, items: Sequence[int]) -> None:
    decided = set(Decision.objects.filter(item__in=items).values_list("item", "attribute"))
    made = [
        (item, key, Ruling(agreed(opinions), UNANIMOUS))
        for (item, key), opinions in sorted(_opinions(items).items())
        if (item, key) not in decided and any(opinion.said for opinion in opinions)
    ]
    Decision.objects.bulk_create(
        [
            Decision(item_id=item, attribute=key, by=by, bulk=True, **ruling.as_json())
            for item, key, ruling in made
        ],
        batch_size=BATCH,
    )
    DecisionEvent.objects.bulk_create(
        [
            DecisionEvent(item_id=item, person=by, attribute=key, old=None, new={**ruling.as_json(), **MARKS})
            for item, key, ruling in made
        ],
        batch_size=BATCH,
    )
    Item.objects.filter(pk__in=items).update(agreement=Item.SETTLED)


def _opinions(items: Sequence[int]) -> dict[tuple[int, str], list[Opinion]]:
    """(item key, attribute key) -> what each annotation that counts says, oldest first."""
    found: dict[tuple[int, str], list[Opinion]] = defaultdict(list)
    counted = waiting.counted(Item.objects.filter(pk__in=items)).order_by()
    rows = AttributeLabel.objects.filter(annotation__in=counted, attribute__in=TARGET_KEYS)
    fields = ("state", "value", "hardness", "certainty", "evidence")
    for item, attribute, *said in rows.order_by("annotation").values_list(
        "annotation__item", "attribute", *fields
    ):
        found[item, attribute].append(opinion(*said))
    return found
