"""One label set as its page shows it: how many labels, how they stand against the profiles, which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from annotation.domain.judging import truth_of
from annotation.metrics.shares import Share
from evaluation.domain.rollup import KEPT_ABOVE
from evaluation.metrics.intervals import clustered
from evaluation.models import LabelSet, ProfileLabel, Scoring
from simulation.domain.attributes import CATALOGUE, HARDNESS
from simulation.models import Corpus

LISTED = 50
FEW = 30
CLUSTERED_UP_TO = 50_000
"""Of more settled labels the interval takes them as independent, so that the page does not read them all."""

RIGHT, LESS_PRECISE, WRONG, OPEN, UNKNOWN = "right", "less precise", "wrong", "open", "unknown"
TRUTHS = {
    RIGHT: "right",
    LESS_PRECISE: "less precise",
    WRONG: "wrong",
    OPEN: "not settled",
    UNKNOWN: "not compared, or not known of the profile",
}
_IS: dict[str, Q] = {
    RIGHT: Q(truth_score=1),
    LESS_PRECISE: Q(truth_score__gt=KEPT_ABOVE, truth_score__lt=1),
    WRONG: Q(truth_score__lte=KEPT_ABOVE),
    OPEN: Q(truth_score=None, truth_question__isnull=False),
    UNKNOWN: Q(truth_score=None, truth_question=None),
}
_ORDER = list(_IS)


@dataclass(frozen=True)
class Interval:
    """Ends of a 95 % interval in percent; `words` say why there is none."""

    low: float | None
    high: float | None
    words: str = ""


@dataclass
class Truth:
    """Labels that count, by how they stand against the profiles; the share is of those that are settled."""

    right: int = 0
    less_precise: int = 0
    wrong: int = 0
    open: int = 0
    unknown: int = 0
    interval: Interval = field(default_factory=lambda: Interval(None, None))

    @property
    def n(self) -> int:
        """Settled labels."""
        return self.right + self.less_precise + self.wrong

    @property
    def all(self) -> int:
        return self.n + self.open + self.unknown

    @property
    def percent(self) -> float | None:
        """Of the settled ones those that are right."""
        return Share(self.right, self.n).percent

    @property
    def not_wrong(self) -> float | None:
        """Of the settled ones those that are right or less precise."""
        return Share(self.right + self.less_precise, self.n).percent

    @property
    def is_few(self) -> bool:
        return self.n < FEW

    def take(self, what: int, n: int) -> None:
        name = ("right", "less_precise", "wrong", "open", "unknown")[what]
        setattr(self, name, getattr(self, name) + n)


@dataclass(frozen=True)
class Numbers:
    """Counts of a set; `hardness` are of 1 to 5."""

    counts: Mapping[str, Sequence[int]]
    """Attribute -> labels of each hardness, for the attributes that have any, in the catalogue's order."""
    by_attribute: Sequence[tuple[str, Truth]]
    by_hardness: Sequence[tuple[str, Truth]]
    all: Truth

    @property
    def table(self) -> list[tuple[str, Sequence[int], int]]:
        """Attribute, labels of each hardness, and of all; for a table."""
        return [(key, row, sum(row)) for key, row in self.counts.items()]

    @cached_property
    def totals(self) -> list[int]:
        return [sum(column) for column in zip(*self.counts.values(), strict=True)]

    @property
    def is_compared(self) -> bool:
        return bool(self.all.n or self.all.open)


def numbers(label_set: LabelSet) -> Numbers:
    """Everything that is counted; two queries, one where nothing is settled."""
    which = Case(
        *(When(_IS[name], then=Value(place)) for place, name in enumerate(_ORDER)),
        output_field=IntegerField(),
    )
    rows = label_set.rows.filter(hardness__isnull=False).order_by().annotate(which=which)
    grouped = rows.values_list("attribute", "hardness", "which").annotate(n=Count("pk"))
    counts: dict[str, list[int]] = {}
    by_attribute: dict[str, Truth] = {}
    by_hardness = {mark.number: Truth() for mark in HARDNESS}
    whole = Truth()
    for attribute, hardness, what, n in grouped:
        counts.setdefault(attribute, [0] * len(HARDNESS))[hardness - 1] += n
        for truth in (by_attribute.setdefault(attribute, Truth()), by_hardness[hardness], whole):
            truth.take(what, n)
    for one in by_attribute.values():
        one.interval = _independent(one)
    _set_intervals(label_set, by_hardness, whole)
    order = [key for key in CATALOGUE if key in counts] + sorted(counts.keys() - CATALOGUE.keys())
    return Numbers(
        {key: counts[key] for key in order},
        [(key, by_attribute[key]) for key in order],
        [
            (f"{mark.number}, {mark.word}", by_hardness[mark.number])
            for mark in HARDNESS
            if by_hardness[mark.number].all
        ],
        whole,
    )


def _independent(truth: Truth) -> Interval:
    """Wilson's: of one attribute every profile has one label."""
    share = Share(truth.right, truth.n)
    return Interval(share.low, share.high, "" if truth.n else "none is settled")


def _set_intervals(label_set: LabelSet, by_hardness: Mapping[int, Truth], whole: Truth) -> None:
    """Clustered by profile: the labels of one profile hang together."""
    if not whole.n or whole.n > CLUSTERED_UP_TO:
        for truth in (*by_hardness.values(), whole):
            truth.interval = _independent(truth)
        return
    settled = label_set.rows.filter(hardness__isnull=False, truth_score__isnull=False).order_by()
    rows = list(settled.values_list("profile_id", "hardness", "truth_score"))
    for hardness, truth in [*by_hardness.items(), (None, whole)]:
        chosen = [row for row in rows if hardness in (None, row[1])]
        found = clustered([float(row[2] == 1) for row in chosen], [row[0] for row in chosen])
        ends = [None if end is None else round(100 * end, 1) for end in (found.low, found.high)]
        truth.interval = Interval(ends[0], ends[1], found.words)


@dataclass(frozen=True)
class Narrowed:
    """Which labels of a set are listed; "" for any. `hardness` "0" are those that do not count."""

    attribute: str = ""
    truth: str = ""
    hardness: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Narrowed:
        """What an address asks for; what is unknown is left out."""
        attribute, truth, hardness = (
            asked.get(key, "").strip() for key in ("attribute", "truth", "hardness")
        )
        return cls(
            attribute if attribute in CATALOGUE else "",
            truth if truth in TRUTHS else "",
            hardness if hardness in {"0", "1", "2", "3", "4", "5"} else "",
        )

    @property
    def asked(self) -> dict[str, str]:
        """As an address carries it."""
        return {key: value for key, value in vars(self).items() if value}

    def rows(self, label_set: LabelSet) -> QuerySet[ProfileLabel]:
        rows = label_set.rows.select_related("profile", "comment", "truth_question").order_by("pk")
        if self.attribute:
            rows = rows.filter(attribute=self.attribute)
        if self.truth:
            rows = rows.filter(_IS[self.truth], hardness__isnull=False)
        if self.hardness:
            rows = rows.filter(hardness=int(self.hardness) or None)
        return rows


@dataclass(frozen=True)
class Listed:
    """A label with what the profile says now."""

    row: ProfileLabel
    fact: str

    @property
    def truth(self) -> str:
        """A key of `TRUTHS`; empty where the label does not count."""
        if self.row.hardness is None:
            return ""
        if self.row.truth_score is None:
            return OPEN if self.row.truth_question_id else UNKNOWN
        if self.row.truth_score > KEPT_ABOVE:
            return RIGHT if self.row.truth_score == 1 else LESS_PRECISE
        return WRONG

    @property
    def word(self) -> str:
        """How it stands, as the list says it."""
        if self.truth == UNKNOWN:
            return "not compared" if self.fact else "not known"
        return TRUTHS.get(self.truth, "does not count")


@dataclass(frozen=True)
class Page:
    rows: Sequence[Listed]
    after: int
    """Key behind which the next page begins; 0: this is the last."""


def listed(label_set: LabelSet, narrowed: Narrowed, *, after: int = 0) -> Page:
    """One page of the labels, in the order of profiles in which they were made; one query."""
    rows = list(narrowed.rows(label_set).filter(pk__gt=after)[: LISTED + 1])
    shown = rows[:LISTED]
    return Page([_listed(row) for row in shown], shown[-1].pk if len(rows) > LISTED else 0)


def everything(label_set: LabelSet, narrowed: Narrowed) -> Iterator[Listed]:
    """All labels, read as a stream; one query."""
    return (_listed(row) for row in narrowed.rows(label_set).iterator(chunk_size=1000))


def _listed(row: ProfileLabel) -> Listed:
    return Listed(row, truth_of(row.attribute, row.profile.facts))


@dataclass(frozen=True)
class Scored:
    """A prediction run that was scored against the set; stale where its labels have changed since."""

    scoring: Scoring
    verdicts: int

    @property
    def is_stale(self) -> bool:
        return self.scoring.is_stale


def scorings(label_set: LabelSet) -> list[tuple[Scored, bool]]:
    """What was scored against the set, and whether it is out of date; one query."""
    rows = label_set.scorings.select_related("prediction_run", "label_set").annotate(n=Count("rows"))
    found = [Scored(row, row.n) for row in rows.order_by("prediction_run__name", "mode")]
    return [(one, one.is_stale) for one in found]


def others(corpus: Corpus) -> QuerySet[LabelSet]:
    """The sets of a corpus by name."""
    return LabelSet.objects.filter(corpus=corpus).order_by("name")
