"""What an agreement measure gives back: a number with interval and counts, or words where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.metrics.proportions import wilson
from annotation.metrics.ratings import Floats, Ints, Ratings

DRAWS = 2000
"""How many bootstrap draws stand behind an interval unless the caller says otherwise."""

_MOST_UNDEFINED = 0.05
"""An interval is given as long as no more than this share of the draws has no value of its own."""

_AT_ONCE = 4_000_000
"""Numbers held at a time while drawing (32 MB)."""

_FEW = 1000
"""Up to so many patterns the multinomial draw is the faster one."""


class Undefined(StrEnum):
    """Why a measure has no value."""

    EMPTY = "empty"
    ONE_RATER = "one_rater"
    NOTHING_PAIRED = "nothing_paired"
    ONE_VALUE = "one_value"
    ALL_ALIKE = "all_alike"


WORDS = {
    Undefined.EMPTY: "There are no answers.",
    Undefined.ONE_RATER: "Only one person answered; agreement needs two.",
    Undefined.NOTHING_PAIRED: "No unit was answered by two people.",
    Undefined.ONE_VALUE: "Only one value was given, so agreement cannot be told from chance.",
    Undefined.ALL_ALIKE: "All values given count as equal, so agreement cannot be told from chance.",
}
"""One sentence for each reason."""


@dataclass(frozen=True)
class Agreement:
    """`value` is 1 for perfect agreement; 0 is what chance gives (percent agreement: no agreement at all).

    `low` and `high` are the ends of the 95 % interval, None where none can be given; `words` then says why.
    `value` is None exactly where `undefined` is set. Never NaN. The counts are of what went into the value:
    `units` that count, `raters` who answered them, different `values` they gave, and `answers` in all.
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    raters: int
    values: int
    answers: int
    undefined: Undefined | None = None
    words: str = ""


def what_is_missing(ratings: Ratings) -> Undefined | None:
    """Why no measure can be had from `ratings`, whatever the values; None where one can."""
    if not ratings.unit.size:
        return Undefined.EMPTY
    if ratings.raters < 2:
        return Undefined.ONE_RATER
    if np.bincount(ratings.unit).max() < 2:
        return Undefined.NOTHING_PAIRED
    return None


def settle(
    ratings: Ratings,
    *,
    times: Ints,
    measure: Callable[[Floats], Floats],
    differ: float,
    reason: Undefined | None,
    draws: int,
    seed: int,
    floor: float = -1.0,
) -> Agreement:
    """The Agreement of `ratings`, of which only what counts is left.

    `measure` takes rows of weights, one column a pattern, and gives one value a row (NaN: undefined). `times`
    are the weights as counted. `differ` is how often two answers would differ by chance; `reason` is what an
    undefined value means. `floor` is the lowest value the measure can have.
    """
    units = int(times.sum())
    counts = (units, ratings.raters, int(np.unique(ratings.value).size), int(ratings.value.size))
    value = float(measure(times[np.newaxis].astype(np.float64))[0])
    if reason is None and value != value:
        reason = Undefined.ONE_VALUE
    if reason is not None:
        return Agreement(None, None, None, *counts, reason, WORDS[reason])
    if units < 2:
        return Agreement(value, None, None, *counts, words="One unit only: no interval can be given.")
    if value >= 1 - 1e-12:
        odd = wilson(0, units)
        assert odd is not None
        return Agreement(1.0, max(floor, 1 - odd.high / differ), 1.0, *counts)
    found = resample(times, measure, draws, seed)
    defined = found[~np.isnan(found)]
    if defined.size < (1 - _MOST_UNDEFINED) * draws or draws < 1:
        return Agreement(value, None, None, *counts, words="Too few units that differ for an interval.")
    low, high = np.quantile(defined, (0.025, 0.975))
    return Agreement(value, float(low), float(high), *counts)


def nothing(ratings: Ratings, reason: Undefined) -> Agreement:
    """The Agreement that has no value, with the counts of all that was given."""
    units = int(np.unique(ratings.unit).size)
    values = int(np.unique(ratings.value).size)
    return Agreement(
        None, None, None, units, ratings.raters, values, int(ratings.value.size), reason, WORDS[reason]
    )


def resample(times: Ints, measure: Callable[[Floats], Floats], draws: int, seed: int) -> Floats:
    """`measure` of `draws` bootstrap samples of the units behind `times`, the same for the same seed.

    To draw N units with replacement is to draw how often each pattern occurs, from a multinomial of N and the
    patterns' shares. Source: B. Efron and R. Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.
    """
    rng = np.random.default_rng(seed)
    units, kinds = int(times.sum()), times.size
    step = max(1, min(draws, _AT_ONCE // max(kinds, 1)))
    found = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        if kinds <= _FEW:
            weights = rng.multinomial(units, times / units, size=size)
        else:
            owner = np.repeat(np.arange(kinds), times)
            weights = np.stack(
                [np.bincount(owner[rng.integers(0, units, units)], minlength=kinds) for _ in range(size)]
            )
        found.append(measure(weights.astype(np.float64)))
    return np.concatenate(found) if found else np.zeros(0)


def divide(top: Floats, bottom: Floats) -> Floats:
    """top / bottom, NaN where the bottom is 0 (or so near that it is rounding)."""
    found = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=found, where=bottom > 1e-12)
    return found


def tally(weights: Floats, owner: Ints, value: Ints, n_values: int) -> Floats:
    """How often every value occurs, by row of `weights`; answer i is value[i] in pattern owner[i]."""
    return np.stack([np.bincount(value, weights=row[owner], minlength=n_values) for row in weights])
