"""Sets of primary keys as ranges: an import of a million rows is a handful of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Ranges:
    """Whole numbers, as closed ranges in rising order."""

    pairs: list[list[int]] = field(default_factory=list)

    def add(self, keys: Iterable[int]) -> None:
        """Takes in keys, each for the first time; cheap where they rise from call to call."""
        rising = sorted(keys)
        if not rising:
            return
        if rising[-1] - rising[0] == len(rising) - 1:
            self._append(rising[0], rising[-1])
            return
        for key in rising:
            self._append(key, key)

    def _append(self, first: int, last: int) -> None:
        if self.pairs and self.pairs[-1][1] + 1 == first:
            self.pairs[-1][1] = last
        else:
            self.pairs.append([first, last])

    def settled(self) -> list[list[int]]:
        """In rising order, neighbours joined."""
        waiting, self.pairs = sorted(self.pairs), []
        for first, last in waiting:
            self._append(first, last)
        return self.pairs


def as_multirange(pairs: Iterable[Iterable[int]]) -> str:
    """As PostgreSQL writes an int8multirange."""
    return "{" + ",".join(f"[{first},{last}]" for first, last in pairs) + "}"
