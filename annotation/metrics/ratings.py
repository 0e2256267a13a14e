"""Who said what about which unit, coded for the agreement measures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class RepeatedRating(ValueError):
    """One rater has two answers to one unit; which of them counts is for the caller to say."""

    def __init__(self, unit: Hashable, rater: Hashable) -> None:
        super().__init__(f"unit {unit!r}: rater {rater!r} answered twice")
        self.unit, self.rater = unit, rater


class NotOnScale(ValueError):
    """A value that the given scale does not have, a scale with a value twice, or values without an order."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Answers of `raters` people; entry i says that person rater[i] gave values[value[i]] to unit unit[i].

    All three arrays have one entry an answer; units and raters are numbered from 0 in no order that means
    anything. Missing answers are not there.
    """

    unit: Ints
    rater: Ints
    value: Ints
    values: tuple[Hashable, ...]

    @property
    def raters(self) -> int:
        """How many people gave at least one answer."""
        return int(np.unique(self.rater).size)


def gather(rows: Iterable[tuple[Hashable, Hashable, Hashable | None]]) -> Ratings:
    """Ratings from (unit, rater, value) in any order; a value of None is a missing answer.

    Values are the same where they are equal; case and blanks are the caller's to settle. Raises
    RepeatedRating where a rater answered a unit twice and ValueError for a value that is not a number (NaN).
    """
    units: dict[Hashable, int] = {}
    raters: dict[Hashable, int] = {}
    values: dict[Hashable, int] = {}
    seen: set[tuple[int, int]] = set()
    coded: list[tuple[int, int, int]] = []
    for unit, rater, value in rows:
        if value is None:
            continue
        if value != value:  # only NaN differs from itself
            raise ValueError(f"unit {unit!r}, rater {rater!r}: the value is not a number; give None")
        place = (units.setdefault(unit, len(units)), raters.setdefault(rater, len(raters)))
        if place in seen:
            raise RepeatedRating(unit, rater)
        seen.add(place)
        coded.append((*place, values.setdefault(value, len(values))))
    table = np.array(coded, dtype=np.int64).reshape(-1, 3)
    return Ratings(table[:, 0], table[:, 1], table[:, 2], tuple(values))


def from_columns(columns: Sequence[Sequence[Hashable | None]]) -> Ratings:
    """Ratings from one column a rater, all of the same length, None where an answer is missing.

    Raises ValueError where the columns differ in length.
    """
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the raters' columns differ in length")
    return gather(
        (unit, rater, value) for rater, column in enumerate(columns) for unit, value in enumerate(column)
    )


def on_scale(ratings: Ratings, scale: Sequence[Hashable] | None) -> Ratings:
    """The same ratings with values numbered along `scale`, lowest first.

    Without a scale the values that occur are sorted. Raises NotOnScale where that cannot be done, where a
    value is not on the scale or where the scale names one twice.
    """
    order = tuple(scale) if scale is not None else _sorted(ratings.values)
    rank = {value: place for place, value in enumerate(order)}
    if len(rank) < len(order):
        raise NotOnScale("the scale names a value twice")
    missing = [value for value in ratings.values if value not in rank]
    if missing:
        raise NotOnScale(f"not on the scale: {missing[0]!r}")
    codes = np.array([rank[value] for value in ratings.values], dtype=np.int64)
    return Ratings(ratings.unit, ratings.rater, codes[ratings.value], order)


def _sorted(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError as error:
        raise NotOnScale("these values have no order of their own; give the scale") from error


@dataclass(frozen=True, eq=False)
class Patterns:
    """Units that received the same values are one pattern: all that a measure needs, and less to resample.

    `rows[p]` holds the value codes of pattern p in ascending order, -1 to the right of the last; `sizes[p]`
    is how many answers it has; `times[p]` is how many units show it.
    """

    rows: Ints
    sizes: Ints
    times: Ints
    n_values: int

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.times.sum())

    @property
    def entries(self) -> tuple[Ints, Ints]:
        """(pattern, value) of every answer of every pattern."""
        pattern, column = np.nonzero(self.rows >= 0)
        return pattern, self.rows[pattern, column]


def patterns(ratings: Ratings, least: int = 2) -> Patterns:
    """The patterns of all units with at least `least` answers."""
    n_values = len(ratings.values)
    counts = np.bincount(ratings.unit) if ratings.unit.size else np.zeros(0, dtype=np.int64)
    kept = counts[ratings.unit] >= least
    order = np.lexsort((ratings.value[kept], ratings.unit[kept]))
    unit, value = ratings.unit[kept][order], ratings.value[kept][order]
    if not unit.size:
        empty = np.zeros(0, dtype=np.int64)
        return Patterns(np.zeros((0, 1), dtype=np.int64), empty, empty, n_values)
    first = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]])
    sizes = np.diff(np.r_[first, unit.size])
    rows = np.full((first.size, sizes.max()), -1, dtype=np.int64)
    rows[np.repeat(np.arange(first.size), sizes), np.arange(unit.size) - np.repeat(first, sizes)] = value
    rows, times = np.unique(rows, axis=0, return_counts=True)
    return Patterns(rows, (rows >= 0).sum(axis=1), times, n_values)
