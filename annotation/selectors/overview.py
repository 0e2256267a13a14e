"""A queue at a glance, for its leads. One definition a number; done + skipped + left = all, always.

Progress is read from the tallies that the database keeps. The rest is added up by the database over the
answers of the queue: a fixed number of queries, however many people and comments there are, and none of
them on a labeler's path.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from annotation.domain.pace import Forecast, forecast
from annotation.models import Item, Queue, Slot
from annotation.selectors import overview_holds, tallies
from annotation.selectors.overview_gold import GoldResult, gold_of
from annotation.selectors.overview_holds import Hold
from annotation.selectors.overview_labels import (
    Correction,
    all_corrections,
    corrections,
    label_counts,
)
from annotation.selectors.overview_people import HOUR_MS, People, people, within_quota
from annotation.selectors.tallies import Progress
from simulation.domain.roles import Right
from simulation.models import User

DAYS_SHOWN = 14


@dataclass(frozen=True)
class Items:
    """The comments of a queue. Gold ones are part of `all`, and of `complete` no part."""

    all: int
    gold: int
    complete: int
    """With as many answers as are wanted."""
    flagged: int
    differing: int
    settled: int
    agreed: int
    blind: int

    @property
    def ordinary(self) -> int:
        return self.all - self.gold

    @property
    def blind_percent(self) -> float | None:
        """As drawn; the queue names the share that was asked for."""
        return round(100 * self.blind / self.all, 1) if self.all else None


@dataclass(frozen=True)
class Day:
    """Comments counted on the day of their last submission."""

    day: date
    done: int
    people: int
    active_ms: int

    @property
    def hours(self) -> float:
        return round(self.active_ms / HOUR_MS, 2)


@dataclass(frozen=True)
class Overview:
    progress: Progress
    items: Items
    people: People
    days: list[Day]
    """Days with work, the latest first."""
    forecast: Forecast | None
    corrections: list[Correction]
    all_corrections: Correction
    gold: GoldResult
    holds: list[Hold]
    reopenable: int
    may_work: list[User]


def managed(person: User) -> QuerySet[Queue]:
    """The queues whose lead `person` is."""
    return Queue.objects.with_right(person, Right.MANAGE_QUEUES).select_related("corpus")


def overview(queue: Queue, now: datetime) -> Overview:
    """Everything the page shows."""
    labels = label_counts(queue)
    gold = gold_of(queue)
    held = overview_holds.holds(queue, now)
    progress = progress_of(queue)
    days = pace(queue)
    rows = corrections(labels)
    return Overview(
        progress=progress,
        items=items_of(queue),
        people=people(queue, labels=labels, gold=gold, held=held),
        days=days,
        forecast=forecast([day.done for day in days], progress.left),
        corrections=rows,
        all_corrections=all_corrections(rows),
        gold=gold,
        holds=held,
        reopenable=overview_holds.reopenable(queue).count(),
        may_work=list(overview_holds.may_work(queue)) if held else [],
    )


def progress_of(queue: Queue) -> Progress:
    return tallies.progress_of([queue])[queue.pk]


def own(queue: Queue, person: User) -> tallies.Own:
    """What one person did and skipped."""
    return tallies.own(person, [queue])[queue.pk]


def items_of(queue: Queue) -> Items:
    """Two queries; the one for complete items goes over the slots that are done."""
    counted = Item.objects.filter(queue=queue).aggregate(
        all=Count("pk"),
        gold=Count("pk", filter=Q(gold=True)),
        flagged=Count("pk", filter=Q(flagged=True)),
        differing=Count("pk", filter=Q(agreement=Item.DIFFERS)),
        settled=Count("pk", filter=Q(agreement=Item.SETTLED)),
        agreed=Count("pk", filter=Q(agreement=Item.AGREED)),
        blind=Count("pk", filter=Q(blind=True)),
    )
    done = (
        Slot.objects.filter(queue=queue, state=Slot.DONE, item__gold=False)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
        .filter(n__gte=queue.people_per_item)
    )
    return Items(complete=done.count(), **counted)


def pace(queue: Queue) -> list[Day]:
    """The last days with work, the latest first; days are those of the server's time zone."""
    found = (
        within_quota(queue)
        .values(day=TruncDate("submitted_at"))
        .annotate(
            done=Count("pk"), people=Count("person", distinct=True), active_ms=Sum("active_ms", default=0)
        )
        .order_by("-day")
    )
    return [Day(row["day"], row["done"], row["people"], int(row["active_ms"])) for row in found[:DAYS_SHOWN]]


def people_of(queue: Queue, now: datetime) -> People:
    """The table of people alone."""
    held = overview_holds.holds(queue, now)
    return people(queue, labels=label_counts(queue), gold=gold_of(queue), held=held)
