"""Who did how much in a queue, how long it took, and what became of the suggestions they saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Aggregate, Count, FloatField, Max, Q, QuerySet, Sum

from annotation.domain.labels import Outcome
from annotation.domain.pace import FAST_MS
from annotation.models import Annotation, Queue, Slot, Tally
from annotation.selectors.overview_gold import GoldCount, GoldResult
from annotation.selectors.overview_holds import Hold
from annotation.selectors.overview_labels import LabelCount
from simulation.models import User

HOUR_MS = 3_600_000
OUTCOMES = (
    Outcome.CONFIRMED,
    Outcome.CORRECTED,
    Outcome.REJECTED,
    Outcome.ADDED,
    Outcome.NONE,
    Outcome.UNSURE,
    Outcome.UNTOUCHED,
)
REASONS = dict(Slot.SKIP_REASONS)


class Median(Aggregate):
    """The median of a number, computed by the database."""

    function = "PERCENTILE_CONT"
    name = "Median"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass
class PersonRow:
    """One person in one queue, or all of them together (`person` is None)."""

    person: User | None
    done: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Skips by reason; those from before reasons were asked for are under ""."""
    holds: int = 0
    answers: int = 0
    """Answers within quota; as many as slots done."""
    beside: int = 0
    """Answers kept beside: more than the queue wanted, or given to somebody else. In no other number here."""
    active_ms: int = 0
    median_ms: float | None = None
    fast: int = 0
    last: datetime | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    bulk: int = 0
    """Confirmed by one act for several rows."""
    gold: GoldCount = field(default_factory=GoldCount)

    @property
    def name(self) -> str:
        return self.person.username if self.person else "All"

    @property
    def hours(self) -> float:
        return round(self.active_ms / HOUR_MS, 2)

    @property
    def median_seconds(self) -> float | None:
        return None if self.median_ms is None else round(self.median_ms / 1000, 1)

    @property
    def per_hour(self) -> float | None:
        """Comments per active hour."""
        return round(self.answers * HOUR_MS / self.active_ms, 1) if self.active_ms else None

    @property
    def bulk_percent(self) -> float | None:
        """Of the confirmed suggestions, how many by one act for several."""
        confirmed = self.outcomes[Outcome.CONFIRMED]
        return round(100 * self.bulk / confirmed, 1) if confirmed else None

    @property
    def outcome_numbers(self) -> list[tuple[str, int]]:
        """Labels by how they came about; together all labels of the person's answers."""
        return [(outcome.value, self.outcomes[outcome]) for outcome in OUTCOMES]

    @property
    def reason_numbers(self) -> list[tuple[str, int]]:
        """Skips by reason, "" for those without; together all skips."""
        return [(reason, self.reasons[reason]) for reason in (*REASONS, "")]

    def add(self, other: PersonRow) -> None:
        """Takes another row's numbers in; medians cannot be added and stay."""
        for name in ("done", "skipped", "holds", "answers", "beside", "active_ms", "fast", "bulk"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reasons.update(other.reasons)
        self.outcomes.update(other.outcomes)
        self.last = max((one for one in (self.last, other.last) if one), default=None)
        self.gold = GoldCount(
            self.gold.n + other.gold.n,
            self.gold.slips + other.gold.slips,
            self.gold.less_precise + other.gold.less_precise,
        )


@dataclass(frozen=True)
class People:
    rows: list[PersonRow]
    all: PersonRow
    """The sum of the rows; its median is that of all answers."""


def people(queue: Queue, *, labels: Iterable[LabelCount], gold: GoldResult, held: Iterable[Hold]) -> People:
    """A row for everybody who did, skipped, holds or answered something, by name. Five queries."""
    rows: dict[int, PersonRow] = {}

    def row(key: int) -> PersonRow:
        return rows.setdefault(key, PersonRow(None))

    tally = Tally.objects.filter(Q(done__gt=0) | Q(skipped__gt=0), queue=queue, person__isnull=False)
    for key, done, skipped in tally.values_list("person", "done", "skipped"):
        row(key).done, row(key).skipped = done, skipped
    for key, reason, n in _skips(queue, [key for key in rows if rows[key].skipped]):
        row(key).reasons[reason] = n
    for hold in held:
        row(hold.person.pk).holds += 1
    for key, numbers in _answers(queue).items():
        for name, number in numbers.items():
            setattr(row(key), name, number)
    for one in labels:
        mine = row(one.person)
        mine.outcomes[one.outcome] += one.n
        mine.bulk += one.n * (one.bulk and one.outcome == Outcome.CONFIRMED)
    for key, count in gold.people.items():
        row(key).gold = count
    return _with_all(queue, rows)


def _with_all(queue: Queue, rows: Mapping[int, PersonRow]) -> People:
    names = User.objects.in_bulk(list(rows))
    for key, one in rows.items():
        one.person = names[key]
    found = sorted(rows.values(), key=lambda one: one.name.casefold())
    total = PersonRow(None)
    for one in found:
        total.add(one)
    total.median_ms = within_quota(queue).aggregate(median=Median("active_ms"))["median"]
    return People(found, total)


def within_quota(queue: Queue) -> QuerySet[Annotation]:
    """The answers that count."""
    return Annotation.objects.filter(item__queue=queue, person__isnull=False, over_quota=False)


def _skips(queue: Queue, who: list[int]) -> Iterable[tuple[int, str, int]]:
    skipped = Slot.objects.filter(queue=queue, state=Slot.SKIPPED, person__in=who)
    return skipped.values_list("person", "skip_reason").annotate(n=Count("pk")).order_by()


def _answers(queue: Queue) -> dict[int, dict[str, Any]]:
    counts = Q(over_quota=False)
    found = (
        Annotation.objects.filter(item__queue=queue, person__isnull=False)
        .values("person")
        .annotate(
            answers=Count("pk", filter=counts),
            beside=Count("pk", filter=~counts),
            time=Sum("active_ms", filter=counts, default=0),
            median_ms=Median("active_ms", filter=counts),
            fast=Count("pk", filter=counts & Q(active_ms__lt=FAST_MS)),
            last=Max("submitted_at"),
        )
        .order_by()
    )
    return {
        row["person"]: {
            "active_ms": int(row["time"]),
            **{key: row[key] for key in ("answers", "beside", "median_ms", "fast", "last")},
        }
        for row in found
    }
