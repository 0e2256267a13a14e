"""From numbers to pixels, and the numbers an axis names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True)
class Scale:
    """The numbers from `low` to `high` on the pixels from `start` to `end`; by their logarithm where `log`.

    What lies outside is set on the nearer end.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a number."""
        low, high, one = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, one = log10(low), log10(high), log10(one)
        return self.start + (self.end - self.start) * ((one - low) / (high - low))

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers within the scale, at most `most` where it is linear; of a logarithmic one 1, 2, 5,
        10 ... or, over three decades, the powers of ten."""
        if self.log:
            return _decades(self.low, self.high)
        step = step_of(self.high - self.low, most)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(place * step, 10) for place in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1.0,) if log10(high / low) > 3 else (1.0, 2.0, 5.0)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def step_of(breadth: float, most: int) -> float:
    """The least of 1, 2, 5 times a power of ten by which `breadth` has at most `most` steps."""
    power = 10.0 ** floor(log10(breadth / most))
    return next(step * power for step in (1, 2, 5, 10) if breadth / (step * power) <= most + 1e-9)


def shares_around(values: Iterable[float], *, whole: bool = False) -> tuple[float, float]:
    """Tens of percent that hold all shares, at least 30 points apart, within 0 and 1; `whole`, or without
    any share: from 0 to 1."""
    known = list(values)
    if whole or not known:
        return 0.0, 1.0
    low, high = floor(10 * min(known) + 1e-9) / 10, ceil(10 * max(known) - 1e-9) / 10
    while high - low < 0.3 - 1e-9:
        high = min(1.0, high + 0.1) if high < 1 else high
        low = max(0.0, low - 0.1) if high - low < 0.3 - 1e-9 else low
    return max(0.0, round(low, 10)), min(1.0, round(high, 10))


def differences_around(values: Iterable[float]) -> tuple[float, float]:
    """Tens of points on both sides that hold all differences and 0."""
    known = [0.0, *values]
    low, high = floor(10 * min(known) + 1e-9) / 10, ceil(10 * max(known) - 1e-9) / 10
    return min(low, -0.05), max(high, 0.1)
