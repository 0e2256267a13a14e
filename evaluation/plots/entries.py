"""Which numbers of a board a figure shows, and in which order. Tables of the same numbers ask here, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluation.domain.boards import Board, Cell, Entry, Masked, Measure, Pair
from evaluation.domain.verdicts import attribute_of

FEW = 30
"""Shares of fewer items are marked by line and word."""
STEPS = ("1", "2", "3", "4", "5")
"""Hardness and certainty, as boards name them."""
ALL = "All attributes"
AXES = {
    Measure.TOP1: "First guess right",
    Measure.TOP3: "One of three guesses right",
    Measure.HALF: "First guess right, less precise half",
    Measure.LESS_PRECISE: "First guess right or less precise",
    Measure.PROFILES: "First guess right, mean over profiles",
    Measure.ATTRIBUTES: "First guess right, mean over attributes",
}
"""What an axis says of a measure."""


def share_of(entry: Entry, measure: str) -> Cell:
    """A measure over all that was asked; an empty cell where it was not counted."""
    both = entry.overall.get(measure)
    return both.asked if both else Cell()


def ranked(board: Board, measure: str) -> list[Entry]:
    """Entries with the best first, those without a share after them, baselines last."""

    def place(entry: Entry) -> tuple[bool, bool, float]:
        value = share_of(entry, measure).value
        return entry.is_baseline, value is None, -(value or 0.0)

    return sorted(board.entries, key=place)


@dataclass(frozen=True)
class Gap:
    """The best model less another entry, on the items that both have; no pair where none was counted."""

    entry: Entry
    pair: Pair | None


def to_best(board: Board, measure: str) -> tuple[Entry | None, list[Gap]]:
    """The best model with a share, and its difference to every other entry, smallest first; (None, []) where
    no model has a share. A board's pair that is the other way around is turned."""
    order = ranked(board, measure)
    best = next(
        (one for one in order if not one.is_baseline and share_of(one, measure).value is not None), None
    )
    pairs = board.pairs.get(measure)
    if best is None:
        return None, []
    found: dict[str, Pair] = {}
    for pair in pairs.pairs if pairs else ():
        if pair.first == best.scoring:
            found[pair.second] = pair
        elif pair.second == best.scoring:
            found[pair.first] = turned(pair)
    return best, [Gap(one, found.get(one.scoring)) for one in order if one is not best]


def turned(pair: Pair) -> Pair:
    """The same comparison, second less first."""
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        value=None if pair.value is None else -pair.value,
        low=None if pair.high is None else -pair.high,
        high=None if pair.low is None else -pair.low,
        only_first=pair.only_second,
        only_second=pair.only_first,
    )


def attributes_of(board: Board) -> list[str]:
    """Keys of the attributes with labels, most labels first; of as many by name."""
    counts = board.by_attribute or {
        key: 0 for one in board.entries for by in one.by_attribute.values() for key in by
    }
    return sorted(counts, key=lambda key: (-counts[key], key))


def label_of(key: str) -> str:
    """An attribute as people call it; "" stands for all of them."""
    return attribute_of(key).label if key else ALL


def cell_of(groups: Mapping[str, Mapping[str, Cell]], measure: str, group: str) -> Cell:
    """A group's share; an empty cell where there is none."""
    return groups.get(measure, {}).get(group, Cell())


def masked_order(masked: Masked) -> list[str]:
    """All attributes first, then each, most items first."""
    return sorted(masked.rows, key=lambda key: (key != "", -masked.rows[key][0].n, key))


def narrowed(board: Board, chosen: frozenset[str]) -> Board:
    """The board with the entries of these scoring ids; all of them where none is known. Nothing is counted
    anew: Holm's correction stays that over all pairs of the board."""
    kept = tuple(one for one in board.entries if one.scoring in chosen)
    if not kept:
        return board
    masked = tuple(one for one in board.masked if {one.plain, one.anonymised} & chosen)
    return replace(board, entries=kept, masked=masked)


def axis_of(measure: str) -> str:
    """The words of an axis: what is right, in percent of all asked."""
    return f"{AXES[Measure(measure)]}, % of all asked"
