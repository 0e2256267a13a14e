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
from annotation.exchange.problems import Place, Problems, brief
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import Given

LOOKED_AT = 200
"""Objects whose fields are the columns of JSON; what comes up later only, no mapping can name."""
DIGITS = 12
MOST_COLUMNS = 1000
LABELS_LEFT = "further rows of the same comments (a table of labels, from which only comments are read)"


class Table(Protocol):
    """Rows with named cells. `rows` may be asked for as often as one likes."""

    columns: list[str]

    def rows(self, problems: Problems) -> Iterator[Given]: ...


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
    return found


class _Csv:
    def __init__(self, path: Path) -> None:
        self._table = CsvTable(path)
        self.columns = self._table.columns

    def rows(self, problems: Problems) -> Iterator[Given]:
        last = ""
        for row in self._table.rows(problems):
            if self._table.labels:
                before, last = last, row.cells[COLUMNS.index("comment_id")]
                if before == last:
                    problems.warnings[LABELS_LEFT] += 1
                    continue
            yield Given(row.line, dict(zip(self.columns, row.cells, strict=True)))


class _Parquet:
    def __init__(self, path: Path) -> None:
        self._table = ParquetTable(path)
        first = islice(self._table.rows(Problems("")), LOOKED_AT)
        nested = [name for one in first for name in opened(one.values)]
        self.columns = list(dict.fromkeys([*self._table.columns, *nested]))

    def rows(self, problems: Problems) -> Iterator[Given]:
        for number, cells in self._table.rows(problems):
            yield Given(number, cells)


class _Objects:
    def __init__(self, path: Path, layout: Layout) -> None:
        self._path, self._layout = path, layout
        first = islice(self.rows(Problems("")), LOOKED_AT)
        self.columns = list(dict.fromkeys(name for one in first for name in opened(one.value)))

    def rows(self, problems: Problems) -> Iterator[Given]:
        for one in values(self._path, self._layout, problems):
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
