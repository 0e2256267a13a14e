"""Krippendorff's alpha: any number of raters, missing answers, any distance between values.

With m_u answers to unit u, n answers in all units that have two or more, n_c of them with value c, and a
distance d between values:

    observed  = 1/n · Σ_u 1/(m_u - 1) · Σ_{i≠j in u} d(v_i, v_j)
    expected  = 1/(n (n - 1)) · Σ_{c,k} n_c n_k d(c, k)
    alpha     = 1 - observed / expected

1 is perfect agreement, 0 what chance gives, below 0 is worse than chance. Units with one answer do not count.
No answers, one rater, nothing answered twice, one value only: no value, see `Undefined`. Where all units are
unanimous every bootstrap draw is too; the lower end then supposes that a share of units as high as Wilson's
upper end of 0 in N is not, with a distance as between two answers drawn by chance that differ.

Source: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; (2013) Content Analysis, 3rd ed.,
chapter 12. The interval is the percentile bootstrap over units.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

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
from annotation.metrics.ratings import Floats, Patterns, Ratings, on_scale, patterns

MOST_VALUES = 3000
"""More different values than this are too many to compare each with each (4.5 million comparisons)."""

_CHUNK = 2_000_000


class TooManyValues(ValueError):
    """There are more than MOST_VALUES different values; bring them to a normal form first."""


class BadDistance(ValueError):
    """A distance that is below 0, above 1 or not a number."""


def nominal_alpha(ratings: Ratings, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Alpha with d = 0 for equal values and 1 for others."""
    reason = what_is_missing(ratings)
    if reason is not None:
        return nothing(ratings, reason)
    paired = _paired(ratings)
    kinds = patterns(paired)
    owner, value = kinds.entries

    def expected(weights: Floats) -> Floats:
        counts = tally(weights, owner, value, kinds.n_values)
        return np.asarray(counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1))

    unequal = _within(kinds, lambda one, other: (one != other).astype(np.float64))
    return _fixed(paired, kinds, unequal, expected, draws, seed, Undefined.ONE_VALUE)


def attribute_alpha(
    ratings: Ratings,
    distance: Callable[[Hashable, Hashable], float],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Alpha with the caller's distance: 0 the same, 0.5 partly right, 1 different, or anything between.

    `distance` is asked once for every two different values, in the order in which they first occurred, and
    taken to hold both ways; equal values are at 0 and not asked for. Where all values count as equal the
    result is undefined (ALL_ALIKE). Raises BadDistance for a distance outside 0 to 1 and TooManyValues beyond
    MOST_VALUES different values.
    """
    reason = what_is_missing(ratings)
    if reason is not None:
        return nothing(ratings, reason)
    paired = _paired(ratings)
    kinds = patterns(paired)
    owner, value = kinds.entries
    table = _distances(paired.values, distance)

    def expected(weights: Floats) -> Floats:
        counts = tally(weights, owner, value, kinds.n_values)
        return np.asarray(((counts @ table) * counts).sum(axis=1))

    within = _within(kinds, lambda one, other: table[one, other])
    one = Undefined.ONE_VALUE if len(paired.values) < 2 else Undefined.ALL_ALIKE
    return _fixed(paired, kinds, within, expected, draws, seed, one)


def ordinal_alpha(
    ratings: Ratings,
    scale: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Alpha for values with an order, such as hardness 1 to 5.

    d(c, k) = (n_c/2 + n_{c+1} + … + n_{k-1} + n_k/2)²: how many answers lie between the two. This is the
    squared difference of the values' mean ranks, so it is drawn anew with every bootstrap sample. `scale`
    names the values from the lowest up; without it they are sorted. Raises NotOnScale.
    """
    ordered = on_scale(ratings, scale)
    reason = what_is_missing(ordered)
    if reason is not None:
        return nothing(ordered, reason)
    paired = _paired(ordered)
    kinds = patterns(paired)
    owner, value = kinds.entries
    size = kinds.sizes.astype(np.float64)

    def measure(weights: Floats) -> Floats:
        counts = tally(weights, owner, value, kinds.n_values)
        n = counts.sum(axis=1)
        rank = (counts.cumsum(axis=1) - counts / 2) / n[:, np.newaxis]
        total = np.stack([np.bincount(owner, weights=row[value], minlength=size.size) for row in rank])
        square = np.stack([np.bincount(owner, weights=row[value] ** 2, minlength=size.size) for row in rank])
        observed = (weights * (size * square - total**2) / (size - 1)).sum(axis=1) / n
        expected = n * (counts * rank**2).sum(axis=1) - ((counts * rank).sum(axis=1)) ** 2
        return np.asarray(1 - divide(np.maximum(observed, 0), expected / (n * (n - 1))))

    return settle(
        paired,
        times=kinds.times,
        measure=measure,
        differ=_differing(kinds),
        reason=None,
        draws=draws,
        seed=seed,
    )


def _paired(ratings: Ratings) -> Ratings:
    """Only the answers to units that have two or more, and only the values that occur in them."""
    kept = np.bincount(ratings.unit)[ratings.unit] >= 2
    used, codes = np.unique(ratings.value[kept], return_inverse=True)
    values = tuple(ratings.values[code] for code in used)
    return Ratings(ratings.unit[kept], ratings.rater[kept], codes, values)


def _within(kinds: Patterns, distance: Callable[..., Floats]) -> Floats:
    """For every pattern 1/(m - 1) · Σ over ordered pairs of its answers of their distance."""
    found = np.zeros(kinds.times.size)
    for step in range(1, kinds.rows.shape[1]):
        one, other = kinds.rows[:, :-step], kinds.rows[:, step:]
        found += np.where(other >= 0, distance(one, other), 0.0).sum(axis=1)
    return 2 * found / (kinds.sizes - 1)


def _differing(kinds: Patterns) -> float:
    """How often two answers drawn without replacement differ; 1 where that cannot be."""
    owner, value = kinds.entries
    counts = tally(kinds.times[np.newaxis].astype(np.float64), owner, value, kinds.n_values)[0]
    n = counts.sum()
    return float((n * n - (counts**2).sum()) / (n * (n - 1))) or 1.0


def _fixed(
    ratings: Ratings,
    kinds: Patterns,
    within: Floats,
    expected: Callable[[Floats], Floats],
    draws: int,
    seed: int,
    one: Undefined,
) -> Agreement:
    """Alpha for a distance that does not depend on how often each value occurs."""
    size = kinds.sizes.astype(np.float64)
    step = max(1, _CHUNK // max(1, kinds.n_values))

    def measure(weights: Floats) -> Floats:
        parts = [expected(weights[at : at + step]) for at in range(0, len(weights), step)]
        n = weights @ size
        return np.asarray(1 - divide((weights @ within) / n, np.concatenate(parts) / (n * (n - 1))))

    whole = measure(kinds.times[np.newaxis].astype(np.float64))[0]
    return settle(
        ratings,
        times=kinds.times,
        measure=measure,
        differ=_differing(kinds),
        reason=one if np.isnan(whole) else None,
        draws=draws,
        seed=seed,
    )


def _distances(values: tuple[Hashable, ...], distance: Callable[[Hashable, Hashable], float]) -> Floats:
    if len(values) > MOST_VALUES:
        raise TooManyValues(f"{len(values)} different values; at most {MOST_VALUES} can be compared")
    table = np.zeros((len(values), len(values)))
    for one, other in combinations(range(len(values)), 2):
        found = float(distance(values[one], values[other]))
        if not 0 <= found <= 1:
            raise BadDistance(f"{found} between {values[one]!r} and {values[other]!r} is not within 0 and 1")
        table[one, other] = table[other, one] = found
    return table
