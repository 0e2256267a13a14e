"""The areas of parts of a comparison, by thread or by fold, and its ROC curve: from scores out of fold.

Each synthetic text is put among the real ones that the same fold's model scored: its place is the share of
them that it beats, ties counting half. The area of a part is the mean place of its texts, each weighing as
much as there are real texts in its fold, so that the area of all of them is that of `realism`. The curve is
the distribution of places: for each share of real texts taken for synthetic (false alarms) the share of
synthetic ones found. M. S. Pepe and T. Cai (2004), Biometrics 60, 528-535 (placement values).

Interval: percentiles over draws with replacement, of whole units within the part (the authors of a thread's
texts) and of whole groups of the real ones, moved away from the area as in `realism`. It takes time in
proportion to texts times draws: nothing is compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import LEVEL, score_interval
from evaluation.metrics.quantiles import t_quantile

DRAWS = 1000
LEAST_TEXTS = 5
"""Texts of a part below which no area is given."""
MOST_POINTS = 200
FEW_TEXTS = "Fewer than {least} texts: too few."
NOTHING_THERE = "Nothing to compare with in its folds."
ONE_UNIT = "All texts are of one author: no interval can be given."

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Scored:
    """What every text got from the model that did not see its fold, in the order of the texts. `groups` are
    numbers from 0, `stretch` the factor by which ends of intervals are moved away from their area."""

    scores: Floats
    kinds: NDArray[np.bool_]
    groups: Ints
    parts: Ints
    stretch: float = 1.0


class Area(NamedTuple):
    """How well the texts of one part are told from the real ones. `auc` is None for fewer texts than are
    needed, `low` and `high` too where all are of one unit; `words` says which."""

    name: Hashable
    texts: int
    units: int
    auc: float | None
    low: float | None
    high: float | None
    words: str = ""


class Point(NamedTuple):
    """Of the real texts taken for synthetic, and of the synthetic ones found, the shares."""

    false_alarms: float
    found: float


@dataclass(frozen=True, eq=False)
class _Placed:
    """Synthetic texts among real ones, which are in order of fold and score: where the fold begins, how many
    real ones of it score lower, how many lower or the same, how many there are."""

    start: Ints
    below: Ints
    upto: Ints
    whole: Ints
    order: Ints
    """Places of the real texts among all, in their order here."""


def areas(
    scored: Scored,
    names: Sequence[Hashable],
    units: Sequence[Hashable],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = LEVEL,
    least: int = LEAST_TEXTS,
) -> list[Area]:
    """The area of each name that synthetic texts have, in order of first appearance; names and units of all
    texts are given, those of real ones are passed over.

    No synthetic text: no areas. Scores of two models are not compared, so a part whose folds hold no real
    text has no number; `folds_of` makes no such fold.
    """
    placed = _placed(scored)
    synthetic = np.flatnonzero(scored.kinds).tolist()
    part_of, parts = _numbered([names[place] for place in synthetic])
    unit_of, pairs = _numbered([(names[place], units[place]) for place in synthetic])
    whose = np.array([parts[name] for name, _ in pairs], dtype=np.int64)
    size, members = np.bincount(part_of, minlength=len(parts)), np.bincount(whose, minlength=len(parts))
    value = _shares(placed, part_of, len(parts))
    drawn = _drawn(scored, placed, unit_of, whose, draws, seed)
    real_groups = len(set(scored.groups[~scored.kinds].tolist()))
    found = []
    for name, at in parts.items():
        texts, several = int(size[at]), int(members[at])
        if texts < least:
            found.append(Area(name, texts, several, None, None, None, FEW_TEXTS.format(least=least)))
        elif np.isnan(value[at]):
            found.append(Area(name, texts, several, None, None, None, NOTHING_THERE))
        elif several < 2:
            found.append(Area(name, texts, several, float(value[at]), None, None, ONE_UNIT))
        else:
            independent = min(several, real_groups)
            low, high = _ends(float(value[at]), drawn[:, at], level, scored.stretch, independent)
            found.append(Area(name, texts, several, float(value[at]), low, high))
    return found


def roc(scored: Scored, most: int = MOST_POINTS) -> tuple[Point, ...]:
    """The curve from (0, 0) to (1, 1) as straight lines between at most `most` points, ties sloping; the area
    beneath all of its points is that of `realism`. Empty without texts of both kinds."""
    placed = _placed(scored)
    if not placed.whole.sum():
        return ()
    share, whole = placed.whole / placed.whole.sum(), np.maximum(placed.whole, 1)
    begins, ends = 1 - placed.upto / whole, 1 - placed.below / whole
    xs, where = np.unique(np.concatenate([[0.0, 1.0], begins, ends]), return_inverse=True)
    first, last = where[2 : 2 + share.size], where[2 + share.size :]
    steps = first == last
    jumps = np.bincount(first[steps], share[steps], minlength=xs.size)
    slopes = np.zeros(xs.size)
    steep = share[~steps] / (xs[last[~steps]] - xs[first[~steps]])
    np.add.at(slopes, first[~steps], steep)
    np.subtract.at(slopes, last[~steps], steep)
    ramps = np.concatenate([[0.0], np.cumsum(np.cumsum(slopes)[:-1] * np.diff(xs))])
    after = ramps + np.cumsum(jumps)
    across = np.concatenate([[0.0], np.repeat(xs, 2), [1.0]])
    up = np.concatenate([[0.0], np.column_stack([after - jumps, after]).ravel(), [1.0]]).round(12).clip(0, 1)
    kept = _thinned(across + up, most)
    return tuple(Point(float(x), float(y)) for x, y in zip(across[kept], up[kept], strict=True))


def _thinned(way: Floats, most: int) -> Ints:
    """Places of at most `most` points that stand evenly along the way, the ends among them."""
    if way.size <= most:
        return np.arange(way.size)
    found = np.searchsorted(way, np.linspace(way[0], way[-1], most - 1))
    return np.unique(np.concatenate([[0], found, [way.size - 1]]).clip(0, way.size - 1))


def _placed(scored: Scored) -> _Placed:
    real = np.flatnonzero(~scored.kinds)
    order = real[np.lexsort((scored.scores[real], scored.parts[real]))]
    parts, scores = scored.parts[order], scored.scores[order]
    whose, said = scored.parts[scored.kinds], scored.scores[scored.kinds]
    start, below, upto, whole = (np.zeros(said.size, dtype=np.int64) for _ in range(4))
    for part in np.unique(whose):
        here = whose == part
        first, last = np.searchsorted(parts, part, "left"), np.searchsorted(parts, part, "right")
        start[here], whole[here] = first, last - first
        below[here] = np.searchsorted(scores[first:last], said[here], "left")
        upto[here] = np.searchsorted(scores[first:last], said[here], "right")
    return _Placed(start, below, upto, whole, order)


def _numbered(names: Sequence[Name]) -> tuple[Ints, dict[Name, int]]:
    seen: dict[Name, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64), seen


def _shares(placed: _Placed, part_of: Ints, n: int) -> Floats:
    won = np.bincount(part_of, (placed.below + placed.upto) / 2, minlength=n)
    pairs = np.bincount(part_of, placed.whole, minlength=n)
    return np.divide(won, pairs, out=np.full(n, np.nan), where=pairs > 0)


def _drawn(scored: Scored, placed: _Placed, unit_of: Ints, whose: Ints, draws: int, seed: int) -> Floats:
    """A row of areas for each draw, NaN where it left nothing to compare. `whose`: the part of each unit."""
    rng = np.random.default_rng((seed, 3))
    groups, _ = _numbered(scored.groups[placed.order].tolist())
    several = int(groups.max()) + 1 if groups.size else 0
    n = int(whose.max()) + 1 if whose.size else 0
    by_part = np.argsort(whose, kind="stable")
    sizes = np.bincount(whose, minlength=n)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if n else np.zeros(0)
    found = np.full((draws, n), np.nan)
    for row in found if several and n else ():
        weights = np.bincount(rng.integers(0, several, several), minlength=several)[groups]
        upto = np.concatenate([[0], np.cumsum(weights)])
        first = upto[placed.start]
        won = (upto[placed.start + placed.below] + upto[placed.start + placed.upto]) / 2 - first
        pairs = upto[placed.start + placed.whole] - first
        taken = starts[whose] + np.floor(rng.random(whose.size) * sizes[whose])
        times = np.bincount(by_part[taken.astype(np.int64)], minlength=whose.size)
        won = np.bincount(whose, times * np.bincount(unit_of, won, whose.size), minlength=n)
        pairs = np.bincount(whose, times * np.bincount(unit_of, pairs, whose.size), minlength=n)
        np.divide(won, pairs, out=row, where=pairs > 0)
    return found


def _ends(auc: float, drawn: Floats, level: float, stretch: float, independent: int) -> tuple[float, float]:
    """As in `realism`: moved away by `stretch`; Wilson's interval where no draw differs."""
    known = drawn[~np.isnan(drawn)]
    low, high = np.quantile(known, ((1 - level) / 2, (1 + level) / 2)) if known.size else (0.0, 1.0)
    if high - low < 1e-9:
        ends = score_interval(auc, independent, t_quantile(level, inf))
        return ends.low, ends.high
    low, high = auc - stretch * (auc - min(low, auc)), auc + stretch * (max(high, auc) - auc)
    return max(0.0, float(low)), min(1.0, float(high))
