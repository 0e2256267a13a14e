"""Tables as text (RFC 4180): comma, semicolon, tab or bar between the cells, quotes around any of them.

Read strictly: a row with more or fewer cells than the header is named with its line, and nothing is guessed.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from annotation.exchange import reading
from annotation.exchange.plain import COLUMNS
from annotation.exchange.problems import Problems
from annotation.exchange.reading import MAX_RECORD, TOO_LONG, Unreadable
from simulation.domain.spreadsheets import FORMULA

DELIMITERS = ",;\t|"
OURS = frozenset({"id", "thread_id", "parent_id", "author", "username", "text", "depth", "state"})
"""Columns of a table of comments that this program has written."""
csv.field_size_limit(MAX_RECORD)  # the module's own limit, 128 KiB, is below a long comment


class CsvRow(NamedTuple):
    """A row, and the line of the file in which it begins."""

    line: int
    cells: list[str]


class _Lines:
    """The lines of a text; counts them, and what has been read of the row that is under way."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.number = 0
        self._begun, self._size = 1, 0

    def next_row(self) -> int:
        """Where the next row begins."""
        self._begun, self._size = self.number + 1, 0
        return self._begun

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_RECORD + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._size += len(line)
        if self._size > MAX_RECORD:
            message = f"the row that begins here {TOO_LONG}, and that every quote is closed"
            raise Unreadable(self._begun, "", message)
        if "\0" in line:
            raise Unreadable(self.number, "", "holds a NUL byte, which cannot be stored; remove it")
        return line


class CsvTable:
    """A table in a file: its columns, and its rows as often as one asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.delimiter = _delimiter(reading.head(path))
        header = next(self._records(reading.FIRST_LOOK), None)
        if header is None:
            raise Unreadable(None, "", "the file is empty")
        self.line, self.columns = header.line, [name.strip() for name in header.cells]
        self._check_header()
        self.labels = self.columns == list(COLUMNS)
        """Whether it is our own table with one row a label; each comment then stands in several rows."""
        self.guarded = self.labels or set(self.columns) >= OURS
        """Whether it is a table of ours, in which an apostrophe stands before what looks like a formula."""

    def _check_header(self) -> None:
        for place, name in enumerate(self.columns, start=1):
            if not name:
                raise Unreadable(
                    self.line, "", f"column {place} has no name; the first row names the columns"
                )
        name, count = Counter(self.columns).most_common(1)[0]
        if count > 1:
            raise Unreadable(self.line, name, f"{count} columns have this name; rename all but one")

    def rows(self, problems: Problems, most: int | None = None) -> Iterator[CsvRow]:
        """The rows that have as many cells as the header; the others are problems.

        `most`: those in the first so many bytes.
        """
        wanted = len(self.columns)
        records = self._records(most)
        next(records)
        for row in records:
            if len(row.cells) != wanted:
                message = (
                    f"has {len(row.cells)} cells, the header has {wanted}; is a quote or a separator missing?"
                )
                self._refuse(problems, row, message)
            elif [cell.strip() for cell in row.cells] == self.columns:
                self._refuse(problems, row, "the header stands here again; remove this line")
            else:
                yield CsvRow(row.line, [_bare(cell) for cell in row.cells]) if self.guarded else row

    def _refuse(self, problems: Problems, row: CsvRow, message: str) -> None:
        problems.add(row.line, "", message)
        problems.invalid["comments"] += 1

    def _records(self, most: int | None = None) -> Iterator[CsvRow]:
        with reading.beginning(self._path, most) as stream:
            lines = _Lines(io.TextIOWrapper(stream, "utf-8-sig", newline=""))
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            begun = 1
            try:
                with reading.named_faults(lambda: lines.number + 1):
                    for cells in reader:
                        if cells:  # an empty line is no row
                            yield CsvRow(begun, cells)
                        begun = lines.next_row()
            except UnicodeDecodeError:
                raise reading.undecodable(self._path) from None
            except csv.Error as error:
                raise Unreadable(begun, "", f"the row that begins here is no CSV: {_said(error)}") from None


def _said(error: csv.Error) -> str:
    message = str(error)
    if "unexpected end" in message:
        return "a quote is never closed"
    if "expected after" in message:
        return "something follows a closing quote; write a quote within a cell twice"
    return message


def _bare(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def _delimiter(head: str) -> str:
    """The sign that parts the cells of the header, counted outside of quotes; a comma where there is none."""
    outside = "".join(head.split('"')[::2]).lstrip().splitlines()
    first = outside[0] if outside else ""
    return max(DELIMITERS, key=lambda sign: (first.count(sign), -DELIMITERS.index(sign)))
