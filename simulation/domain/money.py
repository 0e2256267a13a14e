"""Money in whole nano-dollars (1e-9 USD), prices by token, and the one rule by which a cap is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum

NANO = 10**9
"""Nano-dollars in a dollar."""
MOST_NANO = 9 * 10**18
"""The largest amount that is kept: nine billion dollars."""


@dataclass(frozen=True)
class UnitPrice:
    """USD per million tokens; `cached` for input read from the provider's cache, None: as input."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None

    def cost(self, *, input: int, output: int, cached: int = 0) -> int:
        """Nano-dollars of so many tokens, rounded up; `cached` of the `input` cost the cached price."""
        cached = min(max(0, cached), input)
        price = self.input if self.cached is None else self.cached
        dollars_a_million = (input - cached) * self.input + cached * price + output * self.output
        return min(MOST_NANO, int((dollars_a_million * 1000).to_integral_value(ROUND_CEILING)))

    @property
    def is_free(self) -> bool:
        return not (self.input or self.output or self.cached)


FREE = UnitPrice(Decimal(0), Decimal(0))


def nanos(dollars: Decimal) -> int:
    """Nano-dollars of an amount in dollars, rounded up. Raises ValueError below 0 and above nine billion."""
    if not 0 <= dollars <= MOST_NANO // NANO:
        raise ValueError("an amount from 0 to 9,000,000,000 dollars")
    return int((dollars * NANO).to_integral_value(ROUND_CEILING))


def dollars(amount: int) -> Decimal:
    """Nano-dollars as dollars, exact."""
    return Decimal(amount) / NANO


class Room(StrEnum):
    """Whether the next call fits below a cap."""

    FITS = "fits"
    CROWDED = "crowded"
    """Not while the calls in flight hold what they hold; once they come back it may."""
    FULL = "full"
    """Not even then."""


@dataclass(frozen=True)
class Limit:
    """One cap and what counts against it: calls, tokens or nano-dollars. None: no cap."""

    spent: int
    held: int
    cap: int | None

    def room_for(self, need: int) -> Room:
        """FITS keeps `spent + held + need <= cap`: whatever the calls in flight cost up to what was set
        aside for them, the cap is never passed."""
        if self.cap is None or self.spent + self.held + need <= self.cap:
            return Room.FITS
        return Room.CROWDED if self.spent + need <= self.cap else Room.FULL


def room(limits: Iterable[tuple[Limit, int]]) -> Room:
    """The verdict over several limits and what is needed of each: the worst of them."""
    verdicts = {limit.room_for(need) for limit, need in limits}
    return next((one for one in (Room.FULL, Room.CROWDED) if one in verdicts), Room.FITS)
