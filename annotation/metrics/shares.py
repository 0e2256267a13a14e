"""A share that was counted, as pages and files show it: in percent, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.metrics.proportions import wilson


@dataclass(frozen=True)
class Share:
    """`hits` of `n`; everything else is None where n is 0."""

    hits: int
    n: int

    @property
    def percent(self) -> float | None:
        return round(100 * self.hits / self.n, 1) if self.n else None

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % interval (Wilson's), in percent."""
        found = wilson(self.hits, self.n)
        return round(100 * found.low, 1) if found else None

    @property
    def high(self) -> float | None:
        found = wilson(self.hits, self.n)
        return round(100 * found.high, 1) if found else None
