"""The numbers of a leaderboard from the items of its models: shares, groups, pairs, plain against anonymised.

Every number is one of `accuracy` or `comparing`; here they are put into the form that boards are kept in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from evaluation.domain.boards import GROUPED, Both, Cell, Measure, Pair, Pairs
from evaluation.metrics import accuracy, comparing
from evaluation.metrics.accuracy import ANSWERED, OPEN, Item, Share

MEASURES: Mapping[Measure, accuracy.Measure] = {
    Measure.TOP1: accuracy.top1,
    Measure.TOP3: accuracy.top3,
    Measure.HALF: accuracy.half_credit,
    Measure.LESS_PRECISE: accuracy.less_precise,
    Measure.PROFILES: accuracy.profile_macro,
    Measure.ATTRIBUTES: accuracy.attribute_macro,
}
SCORES: Mapping[Measure, Callable[[Item], float]] = {
    Measure.TOP1: accuracy.first_right,
    Measure.TOP3: accuracy.any_of_three_right,
    Measure.HALF: accuracy.first_credit,
    Measure.LESS_PRECISE: accuracy.first_not_wrong,
}
FIRST = 3
"""Guesses that top-3 looks at."""


@dataclass
class Scores:
    """What the guesses of one model scored, item by item, small enough to keep those of all models at once.

    `first` is the score of the first guess and `three` the best of the first three; None where they are not
    settled. For top-3 that is where none of the three is right and one is open.
    """

    profiles: list[int] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    hardness: list[int] = field(default_factory=list)
    certainty: list[int] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    first: list[float | None] = field(default_factory=list)
    three: list[float | None] = field(default_factory=list)

    def add(
        self,
        profile: int,
        attribute: str,
        hardness: int,
        certainty: int | None,
        outcome: str,
        scores: list[float | None],
    ) -> None:
        """One item. An answer without a guess scores 0; what was not answered has no scores."""
        three = scores[:FIRST] if outcome == ANSWERED else []
        self.profiles.append(profile)
        self.attributes.append(attribute)
        self.hardness.append(hardness)
        self.certainty.append(certainty or 0)
        self.outcomes.append(outcome)
        self.first.append(three[0] if three else 0.0)
        best = max((score for score in three if score is not None), default=0.0)
        self.three.append(None if None in three and best != 1 else best)

    def items(self, measure: Measure) -> Iterator[Item]:
        """The items as `measure` sees them: open where it is undetermined."""
        scored = self.three if measure is Measure.TOP3 else self.first
        for profile, attribute, hardness, certainty, outcome, score in zip(
            self.profiles, self.attributes, self.hardness, self.certainty, self.outcomes, scored, strict=True
        ):
            if score is None:
                yield Item(str(profile), attribute, hardness, certainty, (), OPEN)
            else:
                yield Item(str(profile), attribute, hardness, certainty, (score,), outcome)


@dataclass(frozen=True)
class Measured:
    """The shares of one model, as `evaluation.domain.boards.Entry` has them."""

    overall: Mapping[str, Both]
    by_attribute: Mapping[str, Mapping[str, Cell]]
    by_hardness: Mapping[str, Mapping[str, Cell]]
    by_certainty: Mapping[str, Mapping[str, Cell]]
    open: int


def measured(scores: Scores) -> Measured:
    """All measures of one model. Items without a certainty are in no group by certainty."""
    first, three = list(scores.items(Measure.TOP1)), list(scores.items(Measure.TOP3))
    overall: dict[str, Both] = {}
    groups: dict[str, dict[str, Mapping[str, Cell]]] = {"attribute": {}, "hardness": {}, "certainty": {}}
    for name, measure in MEASURES.items():
        items = three if name is Measure.TOP3 else first
        overall[name.value] = Both(cell(measure(items), name), cell(measure(accuracy.answered(items)), name))
        if name in GROUPED:
            for key, found in groups.items():
                shares = accuracy.by(items, key, measure)
                found[name.value] = {str(one): cell(share, name) for one, share in shares.items() if one}
    return Measured(
        overall, **{f"by_{key}": found for key, found in groups.items()}, open=scores.first.count(None)
    )


def cell(share: Share, measure: Measure) -> Cell:
    """A share as boards keep it; how many are right is known of shares of items only."""
    right = round(2 * share.value * share.n) / 2 if share.value is not None and measure in GROUPED else None
    return Cell(
        share.value,
        share.low,
        share.high,
        share.n,
        share.clusters,
        right,
        share.words,
        share.open,
        share.least,
        share.most,
    )


def compared(models: Mapping[str, Scores]) -> dict[str, Pairs]:
    """Measure -> all pairs of the models (scoring -> scores), adjusted by Holm over all of them."""
    found: dict[str, Pairs] = {}
    for measure in GROUPED:
        items = {name: scores.items(measure) for name, scores in models.items()}
        made = comparing.compare_all(items, score=SCORES[measure])
        found[measure.value] = Pairs(
            tuple(pair(one, counts=measure is not Measure.HALF) for one in made.pairs),
            made.excluding,
            made.of,
            made.words,
        )
    return found


def pair(found: comparing.Difference, *, counts: bool = True) -> Pair:
    """A difference as boards keep it; `counts`: whether the measure is of right and wrong only."""
    test = found.mcnemar if counts else None
    return Pair(
        found.first,
        found.second,
        found.value,
        found.low,
        found.high,
        found.p,
        found.holm,
        found.excludes_zero,
        found.n,
        found.clusters,
        test.only_first if test else None,
        test.only_second if test else None,
        test.exact if test else None,
        found.words,
    )


def masked(plain: Scores, anonymised: Scores, names: tuple[str, str]) -> dict[str, tuple[Cell, Cell, Pair]]:
    """Top-1 on plain and on anonymised text with the paired difference: "" over all, then by attribute.

    The p-values of the attributes are adjusted by Holm among themselves; that over all stands alone.
    """
    first, second = list(plain.items(Measure.TOP1)), list(anonymised.items(Measure.TOP1))
    rows = {"": _masked(first, second, names)}
    for attribute in sorted({one.attribute for one in first} | {one.attribute for one in second}):
        rows[attribute] = _masked(_of(first, attribute), _of(second, attribute), names)
    tested = [key for key, row in rows.items() if key and row[2].p is not None]
    for key, holm in zip(tested, comparing.holm([rows[key][2].p or 0.0 for key in tested]), strict=True):
        one, other, gap = rows[key]
        rows[key] = (one, other, replace(gap, holm=holm, excludes_zero=holm < 1 - comparing.LEVEL))
    return rows


def _masked(first: list[Item], second: list[Item], names: tuple[str, str]) -> tuple[Cell, Cell, Pair]:
    gap = comparing.difference(first, second, names=names)
    return (
        cell(accuracy.top1(first), Measure.TOP1),
        cell(accuracy.top1(second), Measure.TOP1),
        pair(gap),
    )


def _of(items: Iterable[Item], attribute: str) -> list[Item]:
    return [one for one in items if one.attribute == attribute]
