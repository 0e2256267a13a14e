"""Percent agreement, and Gwet's AC1, which stays of use where nearly everybody gives the same value.

Units with fewer than two answers say nothing about agreement. With r_u answers to unit u, r_uk of them
value k:

    p_a = mean over units with r_u ≥ 2 of Σ_k r_uk (r_uk - 1) / (r_u (r_u - 1))

which is percent agreement (as a share), every unit counting the same. AC1 corrects it for chance by

    π_k = mean over units with r_u ≥ 1 of r_uk / r_u        q = number of values
    p_e = 1/(q - 1) · Σ_k π_k (1 - π_k)                     AC1 = (p_a - p_e) / (1 - p_e)

Source: J. L. Fleiss (1971), Psychological Bulletin 76, 378-382 (p_a); K. L. Gwet (2008), British Journal of
Mathematical and Statistical Psychology 61, 29-48, and (2014) Handbook of Inter-Rater Reliability, 4th ed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

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
from annotation.metrics.proportions import wilson
from annotation.metrics.ratings import Floats, Patterns, Ratings, on_scale, patterns


def percent_agreement(ratings: Ratings, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Mean share (0 to 1, not percent) of the pairs of answers to a unit that are equal.

    Not corrected for chance, so one value only gives 1. Where no unit or every unit agrees, and where every
    unit has two answers, the interval is Wilson's; else the percentile bootstrap over units.
    """
    reason = what_is_missing(ratings)
    if reason is not None:
        return nothing(ratings, reason)
    kinds = patterns(ratings)
    equal = _equal(kinds)

    def measure(weights: Floats) -> Floats:
        return np.asarray((weights @ equal) / weights.sum(axis=1))

    found = settle(
        _with_two(ratings),
        times=kinds.times,
        measure=measure,
        differ=1.0,
        reason=None,
        draws=draws,
        seed=seed,
        floor=0.0,
    )
    assert found.value is not None
    if found.units > 1 and (found.value == 0 or (kinds.sizes == 2).all()):
        interval = wilson(round(found.value * found.units), found.units)
        assert interval is not None
        return replace(found, low=interval.low, high=interval.high, words="")
    return found


def gwet_ac1(
    ratings: Ratings,
    scale: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Gwet's AC1. `scale` names all values that could be given; without it those that were given count.

    Units with one answer count for π only; `units` are those with two or more, `answers` are all. With one
    value only (and no scale that has more) it is undefined. Raises NotOnScale.
    """
    if scale is not None:
        ratings = on_scale(ratings, scale)
    reason = what_is_missing(ratings)
    if reason is not None:
        return nothing(ratings, reason)
    kinds = patterns(ratings, least=1)
    equal, paired = _equal(kinds), (kinds.sizes >= 2).astype(np.float64)
    owner, value = kinds.entries
    q = kinds.n_values

    def measure(weights: Floats) -> Floats:
        agreed = divide(weights @ equal, weights @ paired)
        chance = tally(weights / kinds.sizes, owner, value, q) / weights.sum(axis=1, keepdims=True)
        expected = (chance * (1 - chance)).sum(axis=1) / max(q - 1, 1)
        return np.asarray(1 - divide(1 - agreed, 1 - expected))

    found = settle(
        ratings,
        times=kinds.times,
        measure=measure,
        differ=1.0,
        reason=Undefined.ONE_VALUE if q < 2 else None,
        draws=draws,
        seed=seed,
    )
    return replace(found, units=int(kinds.times[kinds.sizes >= 2].sum()))


def _with_two(ratings: Ratings) -> Ratings:
    kept = np.bincount(ratings.unit)[ratings.unit] >= 2
    return Ratings(ratings.unit[kept], ratings.rater[kept], ratings.value[kept], ratings.values)


def _equal(kinds: Patterns) -> Floats:
    """For every pattern the share of its pairs of answers that are equal; 0 where it has one answer."""
    found = np.zeros(kinds.times.size)
    for step in range(1, kinds.rows.shape[1]):
        one, other = kinds.rows[:, :-step], kinds.rows[:, step:]
        found += ((one == other) & (other >= 0)).sum(axis=1)
    return np.asarray(found / np.maximum(kinds.sizes * (kinds.sizes - 1) / 2, 1))
