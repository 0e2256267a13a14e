"""A model beside accuracies from elsewhere, attribute by attribute (the paper's Table 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.domain.boards import Board, Cell, Entry, Measure
from evaluation.plots.entries import attributes_of, cell_of, label_of, share_of
from evaluation.plots.rows import Axis, Row, draw_rows
from evaluation.plots.scales import shares_around
from evaluation.plots.sheet import Look
from evaluation.plots.wordwise import plain, points

Values = Mapping[str, Mapping[str, Any]]
"""Attribute key, or "" for all, -> {"value": share from 0 to 1, "n": items or None}."""


def beside(board: Board, entry: Entry, values: Values) -> list[tuple[str, Cell, float]]:
    """(attribute key, the model's top-1, the reference's share) of what both have, all attributes first."""
    keys = ["", *attributes_of(board)]
    found = []
    for key in keys:
        cell = share_of(entry, Measure.TOP1) if not key else cell_of(entry.by_attribute, Measure.TOP1, key)
        value = values.get(key, {}).get("value")
        if value is not None and cell.n:
            found.append((key, cell, float(value)))
    return found


def reference(board: Board, look: Look, *, entry: Entry | None, name: str, values: Values) -> bytes:
    """The model's top-1 with its 95 % interval, the reference as a hollow diamond, and the difference in
    percentage points; a line for each attribute that both have."""
    found = beside(board, entry, values) if entry else []
    ends = [
        end for _, cell, value in found for end in (cell.value, cell.low, cell.high, value) if end is not None
    ]
    low, high = shares_around(ends)
    rows = [
        Row(
            label_of(key),
            cell.value,
            cell.low,
            cell.high,
            points(None if cell.value is None else cell.value - value),
            cell.n,
            also=value,
            words=cell.words,
        )
        for key, cell, value in found
    ]
    model = plain(entry.name) if entry else "the model"
    key = f"Point: {model}. Hollow diamond: {plain(name)}. Number: the model less the reference, in points."
    axis = Axis(low, high, "First guess right, % of all asked (lines: 95 % intervals)")
    return draw_rows(rows, axis, look, nothing="The two have no attribute in common.", key=key)
