"""The caps that are proposed for a run, from what it will probably need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from simulation.domain.money import MOST_NANO, NANO
from simulation.domain.plans import Forecast

MARGIN = 1.5
"""The proposed cap as a multiple of the forecast's high end: room for retries and corrections."""


LEAST_COST = NANO // 100
"""The least cap in money that is proposed: a cent."""


class Likely(Protocol):
    """The high ends of what a run will probably need."""

    @property
    def calls_high(self) -> int: ...
    @property
    def tokens_high(self) -> int: ...


@dataclass(frozen=True)
class Caps:
    """`cost` in nano-dollars; None: no cap in money is proposed."""

    calls: int
    tokens: int
    cost: int | None = None


def proposed(forecast: Forecast, *more: Likely) -> Caps:
    """Half as much again as the highest of the high ends, rounded up to two digits; at least 1."""
    calls = max(one.calls_high for one in (forecast, *more))
    tokens = max(one.tokens_high for one in (forecast, *more))
    return Caps(_rounded(calls * MARGIN), _rounded(tokens * MARGIN))


def proposed_cost(high: int | None) -> int | None:
    """The same in nano-dollars, a cent at least. None where the price is unknown or everything is free."""
    if not high:
        return None
    return min(MOST_NANO, max(LEAST_COST, _rounded(high * MARGIN)))


def proposals(said: Mapping[str, Any], caps: Caps) -> dict[str, int]:
    """The fields of a form to set anew: a cap that is still as it was proposed follows the new proposal.

    `said` has `max_calls`, `max_tokens` and, beside each, `suggested_..`: what was proposed last. A cap that
    somebody typed is left alone. Empty: there is nothing to change.
    """
    found: dict[str, int] = {}
    for what, cap in (("calls", caps.calls), ("tokens", caps.tokens)):
        if said.get(f"max_{what}") == said.get(f"suggested_{what}") != cap:
            found |= {f"max_{what}": cap, f"suggested_{what}": cap}
    return found


def _rounded(number: float) -> int:
    whole = max(1, math.ceil(number))
    unit: int = 10 ** max(0, len(str(whole)) - 2)
    return math.ceil(whole / unit) * unit


@dataclass(frozen=True)
class Meter:
    """How much of a cap is spent, and how much set aside for what is in flight."""

    spent: int
    held: int
    cap: int

    @property
    def free(self) -> int:
        return max(0, self.cap - self.spent - self.held)

    @property
    def is_full(self) -> bool:
        return self.spent >= self.cap

    @property
    def spent_share(self) -> str:
        """Percent of the cap, as an SVG attribute takes it."""
        return _percent(self.spent, self.cap)

    @property
    def held_share(self) -> str:
        return _percent(min(self.held, max(0, self.cap - self.spent)), self.cap)


def _percent(part: int, whole: int) -> str:
    return f"{min(100.0, 100 * part / whole) if whole else 0:.2f}"
