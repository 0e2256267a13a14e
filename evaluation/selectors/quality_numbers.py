"""Numbers of a report as a page says them: value, interval, n, and words where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.metrics.quality import FEW

MINUS = "−"


@dataclass(frozen=True)
class Number:
    """`text` is empty where there is no value; `words` then say why, or why there is no interval."""

    text: str
    interval: str
    n: int
    words: str = ""
    of: str = "n"

    @property
    def few(self) -> bool:
        """Whether it rests on few items."""
        return bool(self.text) and self.n < FEW


def share(found: Mapping[str, Any]) -> Number:
    """A share of 0 to 1 in percent."""
    return _number(found, 100, 1, " %", signed=False)


def points(found: Mapping[str, Any]) -> Number:
    """A difference of two shares in percentage points."""
    return _number(found, 100, 1, " points", signed=True)


def steps(found: Mapping[str, Any]) -> Number:
    """A difference of two marks in steps of the scale."""
    return _number(found, 1, 2, "", signed=True)


def coefficient(found: Mapping[str, Any] | None) -> Number:
    """A measure of agreement, -1 to 1; its n are the units that two people or more answered."""
    if found is None:
        return Number("", "", 0, "Too few comments in common.")
    return _number({**found, "n": found["units"]}, 1, 2, "", signed=False)


def agreed(found: Mapping[str, Any]) -> Number:
    """Percent agreement."""
    return _number({**found, "n": found["units"]}, 100, 1, " %", signed=False)


def _number(found: Mapping[str, Any], times: float, digits: int, unit: str, *, signed: bool) -> Number:
    value, low, high = found["value"], found["low"], found["high"]
    n, words = found["n"], found["words"]
    if value is None:
        return Number("", "", n, words)
    text = _said(value * times, digits, signed=signed)
    if low is None or high is None:
        return Number(f"{text}{unit}", "", n, words)
    ends = (_said(end * times, digits, signed=signed) for end in (low, high))
    return Number(f"{text}{unit}", " to ".join(ends), n, words)


def _said(number: float, digits: int, *, signed: bool) -> str:
    rounded = round(number, digits)
    sign = "+" if signed and rounded > 0 else MINUS if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{digits}f}"
