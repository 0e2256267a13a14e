"""Foreign tables, whatever holds them: CSV, Parquet, or JSON with fields of its own, one object a row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from annotation.exchange import reading
from annotation.exchange.csv_rows import CsvTable
from annotation.exchange.flat import values
from annotation.exchange.layouts import Layout
from annotation.exchange.parquet_rows import ParquetTable
from annotation.exchange.plain import COLUMNS
from annotation.exchange.problems import Enough, Glance, Place, Problems, brief
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import Given

LOOKED_AT = 200
"""Objects whose fields are the columns of JSON; what comes up later only, no mapping can name."""
DIGITS = 12
MOST_COLUMNS = 1000
LONGEST_COLUMN = 200
LABELS_LEFT = "further rows of the same comments (a table of labels, from which only comments are read)"


class Table(Protocol):
    """Rows with named cells. `rows` may be asked for as often as one likes.

    `most`: only those in the first so many bytes of a file that may hold any number of them.
    """

    columns: list[str]

    def rows(self, problems: Problems, most: int | None = None) -> Iterator[Given]: ...


def table(path: Path, layout: Layout) -> Table:
    """Raises Unreadable."""
    if layout is Layout.CSV:
        found: Table = _Csv(path)
    elif layout is Layout.PARQUET:
        found = _Parquet(path)
    else:
        found = _Objects(path, layout)
    if len(found.columns) > MOST_COLUMNS:
        raise Unreadable(
            None, "", f"{len(found.columns)} columns are too many; at most {MOST_COLUMNS} are read"
        )
    _check_names(found.columns)
    return found


def first_rows(found: Table, count: int) -> Iterator[Given]:
    """So many rows, or as many as a short look finds; those with a problem are left out."""
    try:
        yield from islice(found.rows(Glance(""), reading.FIRST_LOOK), count)
    except Enough:
        return


def _check_names(columns: list[str]) -> None:
    for place, name in enumerate(columns, start=1):
        if len(name) > LONGEST_COLUMN:
            message = f"the name of column {place} has {len(name)} characters; at most {LONGEST_COLUMN} are"
            raise Unreadable(None, f"{name[:40]}…", f"{message} possible")
        if "\0" in name:
            message = f"the name of column {place} holds a NUL character, which cannot be stored; rename it"
            raise Unreadable(None, "", message)


class _Csv:
    def __init__(self, path: Path) -> None:
        self._table = CsvTable(path)
        self.columns = self._table.columns

    def rows(self, problems: Problems, most: int | None = None) -> Iterator[Given]:
        last = ""
        for row in self._table.rows(problems, most):
            if self._table.labels:
                before, last = last, row.cells[COLUMNS.index("comment_id")]
                if before == last:
                    problems.warnings[LABELS_LEFT] += 1
                    continue
            yield Given(row.line, dict(zip(self.columns, row.cells, strict=True)))


class _Parquet:
    def __init__(self, path: Path) -> None:
        self._table = ParquetTable(path)
        nested = [name for one in first_rows(self, LOOKED_AT) for name in opened(one.value)]
        self.columns = list(dict.fromkeys([*self._table.columns, *nested]))

    def rows(self, problems: Problems, most: int | None = None) -> Iterator[Given]:
        for number, cells in self._table.rows(problems):
            yield Given(number, cells)


class _Objects:
    def __init__(self, path: Path, layout: Layout) -> None:
        self._path, self._layout = path, layout
        first = first_rows(self, LOOKED_AT)
        self.columns = list(dict.fromkeys(name for one in first for name in opened(one.value)))

    def rows(self, problems: Problems, most: int | None = None) -> Iterator[Given]:
        for one in values(self._path, self._layout, problems, most):
            if isinstance(one.value, dict):
                yield one
            else:
                Place(problems, one.line).problem(
                    "", f"must be an object with named fields, not {brief(one.value)}"
                )
                problems.invalid["comments"] += 1


def opened(row: dict[str, Any]) -> dict[str, Any]:
    """The cells of a row by name, those of an object within it as well: `user.name`."""
    cells = dict(row)
    for key, value in row.items():
        if isinstance(value, dict):
            cells |= {f"{key}.{name}": inner for name, inner in value.items() if f"{key}.{name}" not in row}
    return cells


def digest(path: Path) -> str:
    """The first digits of the SHA-256 of what the file holds, packed or not."""
    made = hashlib.sha256()
    with reading.opened(path) as stream, reading.named_faults(lambda: 1):
        while data := stream.read(reading.CHUNK):
            made.update(data)
    return made.hexdigest()[:DIGITS]
