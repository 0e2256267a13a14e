"""Two models on the same items, all pairs of models, two arms of people, hardness by model and by person."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.metrics.kappa import Weights, cohen_kappa
from annotation.metrics.measured import Agreement
from annotation.metrics.ratings import NotOnScale
from evaluation.metrics.accuracy import NOT_ASKED, OPEN, Item, first_right
from evaluation.metrics.intervals import (
    LEVEL,
    Estimate,
    Floats,
    Ints,
    clustered,
    clustered_difference,
    independent_difference,
)
from evaluation.metrics.quantiles import half_binomial

Bools = npt.NDArray[np.bool_]
HARDNESS = (1, 2, 3, 4, 5)
"""The scale of hardness, easiest first."""


class RepeatedItem(ValueError):
    """One model has two items for the same attribute of the same profile."""


@dataclass(frozen=True)
class McNemar:
    """Items that only the first or only the second got right, and whether they are equally many.

    `exact` and `mid` are two-sided p-values: of the binomial test with ½, and the same less the probability
    of the observed split, which is less cautious. Both are 1 where no item is right for one only. Items are
    taken as independent; the clustered interval does not do so. Sources: Q. McNemar (1947), Psychometrika 12,
    153-157; M. W. Fagerland, S. Lydersen, P. Laake (2013), BMC Medical Research Methodology 13:91 (mid-p).
    """

    only_first: int
    only_second: int
    exact: float
    mid: float


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's test of the two counts of disagreement. Raises ValueError for a count below 0."""
    if only_first < 0 or only_second < 0:
        raise ValueError("a count is not below 0")
    below, here = half_binomial(min(only_first, only_second), only_first + only_second)
    return McNemar(only_first, only_second, min(1.0, 2 * below), min(1.0, 2 * below - here))


@dataclass(frozen=True)
class Difference:
    """Score of `first` less that of `second` (-1 to 1) on `n` items of `clusters` profiles that both have.

    `low` and `high` are the ends of the 95 % interval clustered by profile, `p` its p-value, `holm` the
    p-value adjusted for all pairs compared (by itself: the same). All None, with `words`, where there is
    nothing to compare. `mcnemar` is there for scores of 0 and 1 only.
    """

    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    n: int
    clusters: int
    mcnemar: McNemar | None = None
    words: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Whether the difference stands after Holm's adjustment, at 5 %."""
        return self.holm is not None and self.holm < 1 - LEVEL


@dataclass(frozen=True)
class Comparisons:
    """All pairs; `excluding` of the `of` that could be compared exclude zero by Holm; `words` say so."""

    pairs: tuple[Difference, ...]
    excluding: int
    of: int
    words: str


def difference(
    first: Iterable[Item],
    second: Iterable[Item],
    *,
    names: tuple[str, str] = ("first", "second"),
    score: Callable[[Item], float] = first_right,
) -> Difference:
    """The paired difference of two models on the items (profile and attribute) that both have.

    Refused, unparsed and failed items count as wrong; those not asked or not settled for one of the two are
    left out for both, and the words say how many of those asked of both are open. Raises RepeatedItem.
    """
    (found,) = compare_all({names[0]: first, names[1]: second}, score=score).pairs
    return found


def compare_all(
    models: Mapping[str, Iterable[Item]], *, score: Callable[[Item], float] = first_right
) -> Comparisons:
    """Every pair of `models` (name -> items), in the order given, with p-values adjusted over all of them.

    Raises RepeatedItem and ValueError for scores outside 0 to 1.
    """
    names, table, still, clusters = _table(models, score)
    pairs = [
        _compare((names[one], names[other]), table[[one, other]], still[[one, other]], clusters)
        for one, other in combinations(range(len(names)), 2)
    ]
    tested = [place for place, pair in enumerate(pairs) if pair.p is not None]
    for place, adjusted in zip(tested, holm([pairs[at].p or 0.0 for at in tested]), strict=True):
        pairs[place] = replace(pairs[place], holm=adjusted)
    excluding = sum(pair.excludes_zero for pair in pairs)
    words = f"{excluding} of {len(tested)} pairwise differences exclude zero (Holm, 5 %)."
    if len(tested) < len(pairs):
        words += f" {len(pairs) - len(tested)} more could not be compared."
    return Comparisons(tuple(pairs), excluding, len(tested), words)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted so that the chance of any false finding among them stays below the level used.

    The i-th smallest of m is multiplied by m - i + 1, is at least the one before it and at most 1. Ties get
    the same value; nothing gives nothing. Raises ValueError for a p-value outside 0 to 1. Source: S. Holm
    (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies within 0 and 1")
    found, most = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = most
    return tuple(found)


@dataclass(frozen=True)
class Shift:
    """How much more often people agree with a suggestion that they see: `assisted` less `blind`, -1 to 1."""

    value: float | None
    low: float | None
    high: float | None
    assisted: Estimate
    blind: Estimate
    words: str = ""


def anchoring_shift(
    assisted: tuple[Sequence[float], Sequence[Hashable]], blind: tuple[Sequence[float], Sequence[Hashable]]
) -> Shift:
    """The anchoring shift between two arms that have no cluster in common, each (scores 0 to 1, clusters).

    A score says whether the label agrees with the suggestion (0.5: partly); clusters are people, profiles or
    comments, whichever were shared out to the arms. Interval: Newcombe's from both arms' clustered intervals.
    The same items answered before and after the suggestion are paired: `clustered_difference`. Raises
    ValueError where both arms have a cluster or a score is not within 0 and 1.
    """
    common = set(assisted[1]) & set(blind[1])
    if common:
        raise ValueError(f"{len(common)} clusters are in both arms; compare them in pairs")
    one, other = clustered(*assisted), clustered(*blind)
    found = independent_difference(one, other)
    return Shift(found.value, found.low, found.high, one, other, found.words)


@dataclass(frozen=True)
class Confusion:
    """`table[i][j]` units that the model puts at scale[i] and the person at scale[j]; `n` in all.

    `same` is the share on the diagonal, None for no units; the kappas weigh a difference by its steps on the
    scale and say in words where they are undefined.
    """

    scale: tuple[Hashable, ...]
    table: tuple[tuple[int, ...], ...]
    n: int
    same: float | None
    linear: Agreement
    quadratic: Agreement


def confusion(
    pairs: Iterable[tuple[Hashable | None, Hashable | None]],
    scale: Sequence[Hashable] = HARDNESS,
    *,
    seed: int = 0,
) -> Confusion:
    """The table of (model's hardness, person's hardness) with weighted kappas.

    Pairs with a None are left out. Map the model's words to the scale first. Raises NotOnScale.
    """
    both = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
    rank = {value: place for place, value in enumerate(scale)}
    table = np.zeros((len(scale), len(scale)), dtype=np.int64)
    for one, other in both:
        if one not in rank or other not in rank:
            raise NotOnScale(f"not on the scale: {one if one not in rank else other!r}")
        table[rank[one], rank[other]] += 1
    linear, quadratic = (
        cohen_kappa(both, weights=weights, scale=scale, seed=seed)
        for weights in (Weights.LINEAR, Weights.QUADRATIC)
    )
    rows = tuple(tuple(int(count) for count in row) for row in table)
    same = float(np.trace(table)) / len(both) if both else None
    return Confusion(tuple(scale), rows, len(both), same, linear, quadratic)


def _table(
    models: Mapping[str, Iterable[Item]], score: Callable[[Item], float]
) -> tuple[list[str], Floats, Bools, Ints]:
    """Names, scores by model and item (NaN: the model does not have it), whether it is open, and the profile
    of every item as a number."""
    places: dict[tuple[str, str], int] = {}
    scored: list[dict[int, float]] = []
    for name, items in models.items():
        row: dict[int, float] = {}
        for item in items:
            if item.outcome == NOT_ASKED:
                continue
            place = places.setdefault((item.profile, item.attribute), len(places))
            if place in row:
                raise RepeatedItem(
                    f"model {name!r}: {item.attribute!r} of profile {item.profile!r} occurs twice"
                )
            row[place] = np.inf if item.outcome == OPEN else score(item)
        scored.append(row)
    table = np.full((len(scored), len(places)), np.nan)
    for line, row in zip(table, scored, strict=True):
        line[list(row)] = list(row.values())
    still = np.isinf(table)
    table[still] = np.nan
    numbers: dict[str, int] = {}
    clusters = [numbers.setdefault(profile, len(numbers)) for profile, _ in places]
    return list(models), table, still, np.array(clusters, dtype=np.int64)


def _compare(names: tuple[str, str], scores: Floats, still: Bools, clusters: Ints) -> Difference:
    one, other = scores
    shared = np.flatnonzero(~np.isnan(one) & ~np.isnan(other))
    left, right = one[shared], other[shared]
    found = clustered_difference(left - right, clusters[shared])
    test = None
    if shared.size and np.isin(left, (0, 1)).all() and np.isin(right, (0, 1)).all():
        test = mcnemar(int((left > right).sum()), int((right > left).sum()))
    asked = still | ~np.isnan(scores)
    said = (
        found.words if shared.size else "They share no items.",
        _open(int((asked.all(0) & still.any(0)).sum())),
    )
    return Difference(
        *names,
        found.value,
        found.low,
        found.high,
        found.p,
        found.p,
        found.n,
        found.clusters,
        test,
        " ".join(filter(None, said)),
    )


def _open(n: int) -> str:
    if not n:
        return ""
    return f"{n} item{'s are' if n > 1 else ' is'} open for one of the two and left out."
