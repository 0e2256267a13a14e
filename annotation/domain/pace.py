"""How long the rest of a queue will take, from the days on which people worked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

FEWEST_DAYS = 3
"""Below so many days with work nothing is foretold."""
FAST_MS = 3000
"""An answer with less active time than this is counted as a fast one."""


@dataclass(frozen=True)
class Forecast:
    """`days` more days with work at `per_day` comments each."""

    per_day: float
    days: int


def forecast(done_a_day: Sequence[int], left: int) -> Forecast | None:
    """The rest at the median of the days with work; None with fewer than `FEWEST_DAYS` of them.

    Days without work are no part of it, so it counts working days, not those of the calendar.
    """
    worked = [done for done in done_a_day if done > 0]
    if len(worked) < FEWEST_DAYS:
        return None
    a_day = median(worked)
    return Forecast(a_day, ceil(left / a_day))
