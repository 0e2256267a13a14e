"""Cohen's kappa of two raters, plain and weighted.

With p_ij the share of units to which the first rater gave value i and the second value j, p_i. and p_.j its
margins, and w_ij how far apart the two values are (0 for the same):

    kappa = 1 - Σ w_ij p_ij / Σ w_ij p_i. p_.j

Plain: w = 1 for different values. Linear: w = |i - j|, quadratic: w = (i - j)², in steps of the scale. 1 is
perfect agreement, 0 what chance gives. No pairs or one value only: no value, see `Undefined`.

Source: J. Cohen (1960), Educational and Psychological Measurement 20, 37-46; J. Cohen (1968), Psychological
Bulletin 70, 213-220. The interval is the percentile bootstrap over units, with the rule for unanimity of
`annotation.metrics.alpha`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import StrEnum

import numpy as np

from annotation.metrics.measured import (
    DRAWS,
    Agreement,
    Undefined,
    divide,
    nothing,
    settle,
    tally,
    what_is_missing,
)
from annotation.metrics.ratings import Floats, Ints, Ratings, gather, on_scale

_FIRST, _SECOND = 0, 1


class Weights(StrEnum):
    """How much a difference counts."""

    PLAIN = "plain"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def cohen_kappa(
    pairs: Iterable[tuple[Hashable | None, Hashable | None]],
    *,
    weights: Weights = Weights.PLAIN,
    scale: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Kappa of (first rater's value, second rater's value), one pair a unit.

    A pair with a None is left out. Weighted kappa counts steps along `scale`, lowest value first: name values
    that nobody gave too, where they lie between others. Without a scale the values that occur are sorted.
    Raises NotOnScale.
    """
    ratings = gather(
        (unit, rater, value)
        for unit, pair in enumerate(pairs)
        for rater, value in zip((_FIRST, _SECOND), pair, strict=True)
    )
    if weights is not Weights.PLAIN or scale is not None:
        ratings = on_scale(ratings, scale)
    reason = what_is_missing(ratings)
    if reason is not None:
        return nothing(ratings, reason)
    first, second, paired = _columns(ratings)
    cells, times = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    measure, differ = _measure(cells, len(ratings.values), weights, times)
    return settle(
        paired,
        times=times,
        measure=measure,
        differ=differ,
        reason=Undefined.ONE_VALUE if np.unique(paired.value).size < 2 else None,
        draws=draws,
        seed=seed,
    )


def _columns(ratings: Ratings) -> tuple[Ints, Ints, Ratings]:
    """What the first and what the second rater said about the units that both answered, and only these."""
    kept = np.bincount(ratings.unit)[ratings.unit] == 2
    # Stable: within a unit the first rater's answer stays before the second's.
    paired = Ratings(ratings.unit[kept], ratings.rater[kept], ratings.value[kept], ratings.values)
    return paired.value[::2], paired.value[1::2], paired


class _Kappa:
    """Kappa of rows of weights over the cells of the table of both raters."""

    def __init__(self, cells: Ints, n_values: int, weights: Weights) -> None:
        self.first, self.second, self.n_values = cells[:, 0], cells[:, 1], n_values
        self.plain = weights is Weights.PLAIN
        self.power = 2 if weights is Weights.QUADRATIC else 1
        steps = np.abs(self.first - self.second).astype(np.float64)
        self.apart: Floats = (steps > 0).astype(np.float64) if self.plain else steps**self.power

    def __call__(self, rows: Floats) -> Floats:
        n = rows.sum(axis=1)
        everything = np.arange(self.first.size)
        one = tally(rows, everything, self.first, self.n_values)
        other = tally(rows, everything, self.second, self.n_values)
        return np.asarray(1 - divide((rows @ self.apart) / n, self.expected(one, other) / n**2))

    def expected(self, one: Floats, other: Floats) -> Floats:
        """Σ w_ij n_i. n_.j for each row of margins."""
        if self.plain:
            return np.asarray(one.sum(axis=1) * other.sum(axis=1) - (one * other).sum(axis=1))
        place = np.arange(self.n_values)
        apart = np.abs(place[:, np.newaxis] - place).astype(np.float64) ** self.power
        return np.asarray(((one @ apart) * other).sum(axis=1))


def _measure(cells: Ints, n_values: int, weights: Weights, times: Ints) -> tuple[_Kappa, float]:
    """The measure, and how often two answers, one of each rater, would differ by chance."""
    plain = _Kappa(cells, n_values, Weights.PLAIN)
    whole = times[np.newaxis].astype(np.float64)
    everything = np.arange(times.size)
    margins = [tally(whole, everything, column, n_values) for column in (plain.first, plain.second)]
    differ = float(plain.expected(margins[0], margins[1])[0] / times.sum() ** 2)
    return _Kappa(cells, n_values, weights), differ or 1.0
