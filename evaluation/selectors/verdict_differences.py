"""Where the published and the default rules say different things of one run, from what both have scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from annotation.metrics.shares import Share
from evaluation.domain.difference import Change
from evaluation.domain.verdicts import Rung
from evaluation.models import Prediction, Scoring, Verdict
from simulation.domain.attributes import CATALOGUE

RULES = {Rung.EXACT.value, Rung.RULE.value, Rung.SIMILARITY.value}
CHUNK = 2000
FIRST = 3
EACH, MOST = 4, 60
"""Examples of one change of an attribute, and of all."""


@dataclass
class Changes:
    """Guesses of one attribute, the first three of each label, by what the default rules do to them."""

    raised: int = 0
    lowered: int = 0
    opened: int = 0
    n: int = 0
    """Guesses that both have scored."""

    def take(self, change: Change | None) -> None:
        self.n += 1
        if change is not None:
            setattr(self, change.value, getattr(self, change.value) + 1)

    @property
    def share(self) -> Share:
        """Of the guesses those that differ."""
        return Share(self.raised + self.lowered + self.opened, self.n)


@dataclass
class Effect:
    """What the change of rules does to top-1: first guesses that are right, of all items that were asked.

    `gained` and `lost` are items whose first guess becomes or ceases to be right by a rule. `opened` first
    guesses no rule tells; of them `settled` are by now, `settled_right` as right; `were_right` were so by the
    published rules.
    """

    n: int = 0
    published: int = 0
    gained: int = 0
    lost: int = 0
    opened: int = 0
    were_right: int = 0
    settled: int = 0
    settled_right: int = 0
    right_now: int = 0

    @property
    def before(self) -> Share:
        return Share(self.published, self.n)

    @property
    def now(self) -> Share:
        """As settled until now; what is open is in no denominator."""
        return Share(self.right_now, self.n - (self.opened - self.settled))

    @property
    def by_rules(self) -> float | None:
        """Points that rules alone gain or lose."""
        return round(100 * (self.gained - self.lost) / self.n, 1) if self.n else None

    @property
    def points(self) -> float | None:
        """Points by which top-1 differs as settled until now."""
        if self.before.percent is None or self.now.percent is None:
            return None
        return round(self.now.percent - self.before.percent, 1)


@dataclass(frozen=True)
class Example:
    """One guess of which the two say different things."""

    profile: str
    profile_id: str
    attribute: str
    truth: str
    guess: str
    place: int
    change: Change
    before: float | None
    after: float | None
    why: str


@dataclass
class Differences:
    by_attribute: dict[str, Changes] = field(default_factory=dict)
    all: Changes = field(default_factory=Changes)
    effect: Effect = field(default_factory=Effect)
    examples: list[Example] = field(default_factory=list)

    @property
    def rows(self) -> Sequence[tuple[str, Changes]]:
        """In the catalogue's order."""
        order = {key: place for place, key in enumerate(CATALOGUE)}
        return sorted(self.by_attribute.items(), key=lambda one: (order.get(one[0], len(order)), one[0]))


@dataclass(frozen=True)
class _Found:
    before: Verdict
    after: Verdict
    place: int
    change: Change


def differences(published: Scoring, default: Scoring) -> Differences:
    """Both read as streams in the order of their labels; memory holds the examples.

    What a person, judge or file said since does not count as the default rules' word: there it is opened.
    """
    found = Differences()
    examples: list[_Found] = []
    kinds: dict[tuple[str, Change], int] = {}
    for before, after in _pairs(published, default):
        if after.outcome == Verdict.NOT_ASKED:
            continue
        _count_first(found.effect, before, after)
        tally = found.by_attribute.setdefault(after.attribute, Changes())
        for place in range(min(FIRST, len(before.scores), len(after.scores))):
            change = _change(before.scores[place], _by_rule(after, place))
            tally.take(change)
            found.all.take(change)
            if change is None:
                continue
            kind = (after.attribute, change)
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] <= EACH and len(examples) < MOST:
                examples.append(_Found(before, after, place, change))
    found.examples = _in_words(examples)
    return found


def _pairs(published: Scoring, default: Scoring) -> Iterator[tuple[Verdict, Verdict]]:
    """The verdicts of both on the labels that both have."""
    fields = ("label", "attribute", "outcome", "scores", "rungs", "reasons", "prediction")
    rows = [
        Verdict.objects.filter(scoring=one).order_by("label").only(*fields).iterator(chunk_size=CHUNK)
        for one in (published, default)
    ]
    before, after = (next(one, None) for one in rows)
    while before is not None and after is not None:
        if before.label_id == after.label_id:
            yield before, after
            before, after = (next(one, None) for one in rows)
        elif before.label_id < after.label_id:
            before = next(rows[0], None)
        else:
            after = next(rows[1], None)


def _by_rule(verdict: Verdict, place: int) -> float | None:
    score: float | None = verdict.scores[place]
    return score if verdict.rungs[place] in RULES else None


def _change(before: float | None, after: float | None) -> Change | None:
    if before == after:
        return None
    if before is None or after is None:
        return Change.OPENED
    return Change.RAISED if after > before else Change.LOWERED


def _count_first(effect: Effect, before: Verdict, after: Verdict) -> None:
    effect.n += 1
    was = before.scores[:1] == [1]
    effect.published += was
    if after.outcome != Prediction.ANSWERED or not after.scores:
        effect.right_now += was
        return
    effect.right_now += after.scores[0] == 1
    rule = _by_rule(after, 0)
    if rule is None:
        effect.opened += 1
        effect.were_right += was
        effect.settled += after.scores[0] is not None
        effect.settled_right += after.scores[0] == 1
        return
    effect.gained += rule == 1 and not was
    effect.lost += was and rule != 1


def _in_words(found: Sequence[_Found]) -> list[Example]:
    """The examples with what they are about; one query."""
    rows = Verdict.objects.select_related("label", "profile", "prediction").in_bulk(
        [one.after.pk for one in found]
    )
    examples = []
    for one in found:
        row = rows[one.after.pk]
        guesses = row.prediction.guesses if row.prediction else []
        examples.append(
            Example(
                row.profile.username,
                str(row.profile.public_id),
                row.attribute,
                row.label.value,
                str(guesses[one.place]) if one.place < len(guesses) else "",
                one.place + 1,
                one.change,
                one.before.scores[one.place],
                one.after.scores[one.place],
                f"published: {one.before.reasons[one.place]}; here: {one.after.reasons[one.place]}",
            )
        )
    order = {key: place for place, key in enumerate(CATALOGUE)}
    return sorted(examples, key=lambda one: (order.get(one.attribute, len(order)), one.change.value))
