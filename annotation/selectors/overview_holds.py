"""Who holds what in a queue, what they did in it, and what could be given to somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, Exists, F, OuterRef, QuerySet, Subquery, When, Window
from django.db.models.functions import Coalesce, Left, RowNumber

from annotation.models import Annotation, Item, Queue, QueueWorker, Slot
from annotation.selectors.queue_settings import reviewers
from simulation.models import User

EXCERPT = 160
PAGE = 50


@dataclass(frozen=True)
class Hold:
    """A comment that is somebody's at this moment."""

    slot: Slot
    person: User
    item_id: str
    comment_id: str
    excerpt: str
    seen: datetime
    """When the person's page was last heard of."""
    until: datetime
    ended: bool
    """The lease is over, and it goes to the next who asks."""


def holds(queue: Queue, now: datetime) -> list[Hold]:
    """What people hold, the first to end first: one comment a person at most. One query."""
    found = (
        Slot.objects.filter(queue=queue, state=Slot.LEASED)
        .select_related("person")
        .annotate(
            item_key=F("item__public_id"),
            comment_key=F("item__comment__public_id"),
            excerpt=Left("item__comment__text", EXCERPT),
        )
        .order_by("leased_until", "pk")
    )
    return [
        Hold(
            slot=slot,
            person=slot.person,
            item_id=slot.item_key,
            comment_id=slot.comment_key,
            excerpt=slot.excerpt,
            seen=slot.changed_at,
            until=slot.leased_until,
            ended=slot.leased_until < now or not slot.person.is_active,
        )
        for slot in found
        if slot.person and slot.leased_until
    ]


def may_work(queue: Queue) -> QuerySet[User]:
    """The people who may review in `queue`: the same as `Queue.objects.workable_by`, asked from its side."""
    people = reviewers(queue.corpus)
    if queue.named_only:
        people = people.filter(pk__in=QueueWorker.objects.filter(queue=queue).values("person"))
    return people


def reopenable(queue: Queue) -> QuerySet[Slot]:
    """Skipped slots whose comment is still short of answers: nobody else was asked in their place.

    Of several on one comment as many as it is short of. Not those of gold items (nobody waits for them), of
    withdrawn comments and of settled ones.
    """
    others = (
        Slot.objects.filter(item=OuterRef("item"))
        .exclude(state=Slot.SKIPPED)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
        .values("n")
    )
    return (
        Slot.objects.filter(queue=queue, state=Slot.SKIPPED, item__gold=False, item__comment__state="active")
        .exclude(item__agreement=Item.SETTLED)
        .annotate(
            others=Coalesce(Subquery(others), 0),
            place=Window(RowNumber(), partition_by="item", order_by="number"),
        )
        .filter(place__lte=queue.people_per_item - F("others"))
    )


@dataclass(frozen=True)
class Dealt:
    """One comment that a person did or skipped."""

    slot: Slot
    item_id: str
    comment_id: str
    excerpt: str
    active_ms: int | None
    submitted_at: datetime | None
    settled: bool

    @property
    def seconds(self) -> float | None:
        return None if self.active_ms is None else self.active_ms / 1000


@dataclass(frozen=True)
class DealtPage:
    rows: Sequence[Dealt]
    more: str
    """Mark to continue behind; empty on the last page."""


def dealt_with(queue: Queue, person: User, *, state: str, after: str = "", size: int = PAGE) -> DealtPage:
    """What `person` did or skipped in `queue`, in the order of the queue, paged by key; one query."""
    answer = Annotation.objects.filter(item=OuterRef("item"), person=person)
    found = (
        Slot.objects.filter(queue=queue, person=person, state=state)
        .annotate(
            item_key=F("item__public_id"),
            comment_key=F("item__comment__public_id"),
            excerpt=Left("item__comment__text", EXCERPT),
            active_ms=Subquery(answer.values("active_ms")[:1]),
            submitted_at=Subquery(answer.values("submitted_at")[:1]),
            settled=Case(When(item__agreement=Item.SETTLED, then=True), default=False),
        )
        .order_by("position", "pk")
    )
    if after.isdecimal() and len(after) < 19:
        found = found.filter(position__gt=int(after))
    rows = [
        Dealt(
            slot,
            slot.item_key,
            slot.comment_key,
            slot.excerpt,
            slot.active_ms,
            slot.submitted_at,
            slot.settled,
        )
        for slot in found[: size + 1]
    ]
    return DealtPage(rows[:size], str(rows[size - 1].slot.position) if len(rows) > size else "")


def set_aside(queue: Queue, person: User) -> QuerySet[Annotation]:
    """The answers of `person` that came too many or were given to somebody else; the latest first."""
    return (
        Annotation.objects.filter(item__queue=queue, person=person, over_quota=True)
        .select_related("comment", "item")
        .order_by("-submitted_at", "-pk")
    )


def worked_in(queue: Queue, person: User) -> bool:
    """Whether `person` has or had anything to do with `queue`."""
    has_slot = Slot.objects.filter(queue=queue, person=person)
    has_answer = Annotation.objects.filter(item__queue=queue, person=person)
    found = User.objects.filter(Exists(has_slot) | Exists(has_answer), pk=person.pk)
    return found.exists()
