"""What people made of suggestions, counted once for the tables of people and of corrections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Count, F, Q, Sum

from annotation.domain.labels import Outcome
from annotation.metrics.proportions import Interval, wilson
from annotation.models import AttributeLabel, Queue
from simulation.domain.attributes import CATALOGUE

JUDGED = (Outcome.CONFIRMED, Outcome.CORRECTED, Outcome.REJECTED, Outcome.UNSURE)
IMPORTED = "imported"
GONE = "no longer stored"


@dataclass(frozen=True)
class LabelCount:
    """Equal labels, counted: those of one person that came about alike from like suggestions."""

    person: int
    attribute: str
    outcome: str
    bulk: bool
    suggested: bool
    tagger: str
    prompt: str
    n: int
    hardness_n: int
    hardness_sum: int
    certainty_n: int
    certainty_sum: int
    """Label minus suggestion, added up where both have the scale."""


def label_counts(queue: Queue) -> list[LabelCount]:
    """Every label of an answer within quota, in one query; as many rows as there are kinds, not labels."""
    rows = (
        AttributeLabel.objects.filter(annotation__item__queue=queue, annotation__over_quota=False)
        .values(
            "attribute",
            "outcome",
            "bulk",
            person=F("annotation__person"),
            suggested=Q(suggestion__isnull=False),
            tagger=F("suggestion__tagger"),
            prompt_name=F("suggestion__call__prompt__name"),
            prompt_digest=F("suggestion__call__prompt__digest"),
        )
        .annotate(
            n=Count("pk"),
            hardness_n=Count(F("hardness") - F("suggestion__hardness")),
            hardness_sum=Sum(F("hardness") - F("suggestion__hardness"), default=0),
            certainty_n=Count(F("certainty") - F("suggestion__certainty")),
            certainty_sum=Sum(F("certainty") - F("suggestion__certainty"), default=0),
        )
        .order_by()
    )
    return [_counted(dict(row)) for row in rows]


def _counted(row: dict[str, Any]) -> LabelCount:
    name, digest = row.pop("prompt_name"), row.pop("prompt_digest")
    row["prompt"] = f"{name} {digest[:8]}" if name else IMPORTED
    row["tagger"] = row["tagger"] or GONE
    return LabelCount(**row)


@dataclass
class Correction:
    """The judgements of one tagger's suggestions for one attribute, made with one prompt."""

    attribute: str
    """Empty in the row of all."""
    tagger: str = ""
    prompt: str = ""
    confirmed: int = 0
    corrected: int = 0
    rejected: int = 0
    unsure: int = 0
    bulk: int = 0
    hardness_n: int = 0
    hardness_sum: int = 0
    certainty_n: int = 0
    certainty_sum: int = 0

    @property
    def label(self) -> str:
        known = CATALOGUE.get(self.attribute)
        return known.label if known else self.attribute or "All"

    @property
    def n(self) -> int:
        return self.confirmed + self.corrected + self.rejected + self.unsure

    @property
    def changed(self) -> int:
        return self.corrected + self.rejected

    @property
    def rate(self) -> float | None:
        """Corrected and rejected of all judged, in percent."""
        return round(100 * self.changed / self.n, 1) if self.n else None

    @property
    def interval(self) -> Interval | None:
        """Of the rate, in percent."""
        found = wilson(self.changed, self.n)
        return Interval(round(100 * found.low, 1), round(100 * found.high, 1)) if found else None

    @property
    def hardness_shift(self) -> float | None:
        return round(self.hardness_sum / self.hardness_n, 2) if self.hardness_n else None

    @property
    def certainty_shift(self) -> float | None:
        return round(self.certainty_sum / self.certainty_n, 2) if self.certainty_n else None

    def take(self, one: LabelCount) -> None:
        """Adds like labels; the shift of the scales is that of confirmed ones."""
        setattr(self, one.outcome, getattr(self, one.outcome) + one.n)
        self.bulk += one.n * one.bulk
        if one.outcome == Outcome.CONFIRMED:
            self.hardness_n += one.hardness_n
            self.hardness_sum += one.hardness_sum
            self.certainty_n += one.certainty_n
            self.certainty_sum += one.certainty_sum


def judges_a_suggestion(one: LabelCount) -> bool:
    """Without its suggestion an unsure label may be one that stood beside none; the other three cannot."""
    return one.outcome in JUDGED and (one.suggested or one.outcome != Outcome.UNSURE)


def corrections(counts: Iterable[LabelCount]) -> list[Correction]:
    """A row for each attribute, tagger and prompt, in the catalogue's order."""
    found: dict[tuple[str, str, str], Correction] = {}
    for one in counts:
        if judges_a_suggestion(one):
            key = (one.attribute, one.tagger, one.prompt)
            found.setdefault(key, Correction(*key)).take(one)
    order = defaultdict(lambda: len(CATALOGUE), {key: place for place, key in enumerate(CATALOGUE)})
    return [found[key] for key in sorted(found, key=lambda key: (order[key[0]], key))]


def all_corrections(rows: Iterable[Correction]) -> Correction:
    """The row of all: each number the sum of the rows above it."""
    total = Correction("")
    numbers = [field.name for field in fields(Correction) if field.type == "int"]
    for row in rows:
        for name in numbers:
            setattr(total, name, getattr(total, name) + getattr(row, name))
    return total
