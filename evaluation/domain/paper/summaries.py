"""Mean, deviation, median and ends of many numbers, kept as a tally so that memory does not grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum, sqrt
from typing import Any


class Counts(dict[str, float]):
    """How often each thing occurs. What is not named occurs 0 times: a comparison may rely on it."""


def counts(tally: Mapping[Any, int]) -> Counts:
    """A tally with text for keys, in order; numbers in theirs. Zeros are left out."""
    return Counts({str(key): tally[key] for key in sorted(tally) if tally[key]})


def tallied(numbers: Iterable[float]) -> Counter[float]:
    """Number -> how often it occurs."""
    return Counter(numbers)


def summary(tally: Counter[float]) -> dict[str, float]:
    """n, mean, std, median, min and max of the tallied numbers; empty where there are none.

    The deviation is that of a sample (divided by n - 1), as everywhere in the paper, and 0 for one; the
    median of an even number of values is the mean of the middle two.
    """
    n = sum(tally.values())
    if not n:
        return {}
    ordered = sorted(tally)
    return {
        "n": n,
        "mean": _mean(tally, n),
        "std": sqrt(_squares(tally, n) / (n - 1)) if n > 1 else 0.0,
        "median": (_at(tally, ordered, (n - 1) // 2) + _at(tally, ordered, n // 2)) / 2,
        "min": ordered[0],
        "max": ordered[-1],
    }


def population_std(tally: Counter[float]) -> float | None:
    """The deviation divided by n; None where nothing was tallied."""
    n = sum(tally.values())
    return sqrt(_squares(tally, n) / n) if n else None


def _mean(tally: Counter[float], n: int) -> float:
    return fsum(value * times for value, times in tally.items()) / n


def _squares(tally: Counter[float], n: int) -> float:
    mean = _mean(tally, n)
    return fsum(times * (value - mean) ** 2 for value, times in tally.items())


def _at(tally: Counter[float], ordered: list[float], place: int) -> float:
    """The number at a place, from 0, of all in order."""
    for value in ordered:
        place -= tally[value]
        if place < 0:
            return value
    raise IndexError("nothing is tallied there")
