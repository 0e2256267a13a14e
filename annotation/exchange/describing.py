"""What a file is before it is imported: its layout, or its table's columns and what they seem to mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.domain.column_mapping import propose
from annotation.exchange import reading
from annotation.exchange.layouts import Layout, layout_of
from annotation.exchange.problems import brief
from annotation.exchange.reading import Unreadable
from annotation.exchange.tables_in import first_rows, opened, table

PREVIEW = 5
LONGEST_CELL = 120


@dataclass(frozen=True)
class Described:
    """`columns` are empty for a layout of ours, whose fields say themselves what they are."""

    layout: Layout
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """The first rows as text, each with one cell a column; long cells are cut."""
    proposal: Mapping[str, Any] = field(default_factory=dict)
    sure: bool = True
    """Whether the file can be imported without anybody's word on its columns."""


def describe(path: Path) -> Described:
    """Reads the beginning of a file. Raises Unreadable where no reader could do anything with it."""
    layout = layout_of(path)
    if not layout.foreign:
        return Described(layout)
    found = table(path, layout)
    proposal = propose(found.columns, thread=reading.stem(path.name))
    rows = [
        tuple(_cell(opened(one.value).get(column)) for column in found.columns)
        for one in first_rows(found, PREVIEW)
    ]
    return Described(layout, tuple(found.columns), tuple(rows), proposal.mapping, proposal.sure)


def needs_columns(path: Path) -> bool:
    """Whether a person has to say what the columns stand for; a file that cannot be read needs nothing."""
    try:
        return not describe(path).sure
    except Unreadable:
        return False


def _cell(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else brief(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
