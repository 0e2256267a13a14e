"""Work that was done in a queue, as its overview counts it."""

import uuid
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.domain.labels import Label, Outcome, State
from annotation.models import Annotation, Gold, Item, Queue, Slot, Suggestion
from annotation.services import claims, review
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import User
from tests.factories.annotation import SuggestionFactory

JUDGED = {
    "confirmed": Label(State.VALUE, Outcome.CONFIRMED, "30", 3, 3),
    "corrected": Label(State.VALUE, Outcome.CORRECTED, "51", 1, 5),
    "rejected": Label(State.NONE, Outcome.REJECTED),
    "unsure": Label(State.UNSURE, Outcome.UNSURE),
}


def submit(
    person: User,
    item: Item,
    *,
    age: str = "confirmed",
    active_ms: int = 4000,
    now: datetime | None = None,
    bulk: bool = False,
    **labels: Label,
) -> Annotation:
    """An answer in which the age is judged; the rest has no evidence unless `labels` say so."""
    judged = JUDGED[age]
    said = {key: Label(State.NONE, Outcome.NONE) for key in TARGET_KEYS} | labels
    said["age"] = Label(
        judged.state, judged.outcome, judged.value, judged.hardness, judged.certainty, bulk=bulk
    )
    suggestions = {one.attribute: one for one in Suggestion.objects.filter(comment=item.comment_id)}
    return review.submit(
        by=person,
        item=item,
        submission_id=uuid.uuid4(),
        labels=said,
        suggestions=suggestions,
        active_ms=active_ms,
        now=now or timezone.now(),
    ).annotation


def skip(person: User, queue: Queue, reason: str = "context", note: str = "") -> Slot:
    """The next comment, skipped."""
    now = timezone.now()
    slot = claims.claim_next(by=person, queue=queue, now=now)
    assert slot
    assert claims.skip(by=person, item=slot.item, now=now, reason=reason, note=note)
    slot.refresh_from_db()
    return slot


def worked_in(queue: Queue, *people: User, tagger: str = "imported") -> None:
    """Something in every table: answers of some days, a slip, an answer kept beside, skips, holds.

    It takes two comments a person, one more, and one that becomes gold.
    """
    Queue.objects.filter(pk=queue.pk).update(skip_policy="counts")
    queue.refresh_from_db()
    items = list(queue.items.select_related("queue"))
    for item in items:
        SuggestionFactory(comment_id=item.comment_id, tagger=tagger)
    gold, first = items[0], items[1]
    Gold.objects.create(item=gold, labels={"age": {"state": "value", "value": "30"}})
    Item.objects.filter(pk=gold.pk).update(gold=True)
    for day, (person, item) in enumerate(zip(people, items[1:], strict=False)):
        submit(person, item, age=list(JUDGED)[day % 4], now=timezone.now() - timedelta(days=day))
    submit(people[0], gold, age="corrected", active_ms=900)
    submit(people[-1], first)
    for person in people:
        skip(person, queue, note="n" * 200)
        claims.claim_next(by=person, queue=queue, now=timezone.now())
