"""A model of a leaderboard beside accuracies from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.domain.boards import GROUPED, Board, Cell, Entry, Measure
from evaluation.models import Reference
from evaluation.selectors.board_lines import Said, label_of
from evaluation.selectors.board_words import percent, points
from simulation.domain.attributes import CATALOGUE


@dataclass(frozen=True)
class Beside:
    """One share of ours with the reference's: over all ("") or of one attribute."""

    key: str
    ours: Said
    reference: float | None
    n: int | None

    @property
    def label(self) -> str:
        return label_of("by_attribute", self.key) if self.key else "All"

    @property
    def theirs(self) -> str:
        return percent(self.reference)

    @property
    def delta(self) -> float | None:
        """Ours less theirs, -1 to 1."""
        if self.reference is None or self.ours.cell.value is None:
            return None
        return self.ours.cell.value - self.reference

    @property
    def points(self) -> str:
        return points(self.delta)

    @property
    def holds(self) -> bool | None:
        """Whether our interval holds the reference; None where one of them is missing."""
        low, high = self.ours.cell.low, self.ours.cell.high
        if self.reference is None or low is None or high is None:
            return None
        return low - 1e-9 <= self.reference <= high + 1e-9


def overall(reference: Reference, entries: Sequence[Entry], measure: Measure) -> dict[str, Beside]:
    """Scoring id -> its share over all beside the reference's."""
    return {one.scoring: _beside("", _of(one, measure), reference.values) for one in entries}


def beside(reference: Reference, board: Board, entry: Entry, measure: Measure) -> list[Beside]:
    """A row for each attribute that one of both knows, in the catalogue's order, and one for all."""
    name = (measure if measure in GROUPED else Measure.TOP1).value
    ours = entry.by_attribute.get(name, {})
    keys = [key for key in CATALOGUE if key in ours or key in reference.values]
    keys += sorted({*ours, *reference.values}.difference(keys, [""]))
    rows = [_beside(key, ours.get(key, Cell()), reference.values) for key in keys]
    return [*rows, _beside("", _of(entry, measure), reference.values)]


def _of(entry: Entry, measure: Measure) -> Cell:
    both = entry.overall.get(measure.value)
    return both.asked if both else Cell()


def _beside(key: str, cell: Cell, values: Mapping[str, Any]) -> Beside:
    given = values.get(key) or {}
    return Beside(key, Said(cell), given.get("value"), given.get("n"))
