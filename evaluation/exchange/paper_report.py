"""The comparison with the paper as text for a terminal and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotation.exchange.problems import Problem
from evaluation.domain.paper.comparing import Compared, Status, tally
from evaluation.domain.paper.found import Value
from evaluation.domain.paper.tables import ORDER, in_order
from evaluation.exchange.recounting import FileReport

LONG = 16
"""A table of more numbers is shown in part at first: what differs, and a few printed numbers."""
COLUMNS = ("paper", "expected", "ours")
DEFINITIONS = (
    "Accuracy: the share of items whose first guess has a score of exactly 1. An item is one profile and one "
    "attribute with a label of hardness at least 1 and certainty at least 3; a half counts as wrong, and "
    "what could not be read from an answer is no item. A deviation (std) is that of a sample. The status "
    "rests on the expected numbers; the paper's are compared at the precision in which they are printed."
)


@dataclass(frozen=True)
class Report:
    """All rows, the files behind them, and what it took: seconds and, at most, so many bytes of memory."""

    folder: Path
    rows: Sequence[Compared]
    files: Sequence[FileReport]
    problems: Sequence[Problem]
    seconds: float
    peak: int

    @property
    def differing(self) -> list[Compared]:
        """The rows for which the command fails."""
        return [row for row in self.rows if row.status is Status.DIFFERS]

    def tables(self) -> Iterator[tuple[str, list[Compared]]]:
        """Heading and rows of each table, in order."""
        rows: dict[str, list[Compared]] = {}
        for row in self.rows:
            rows.setdefault(row.table, []).append(row)
        for table in in_order(rows):
            yield table, rows[table]

    @property
    def effort(self) -> str:
        """What it took, in words."""
        size = sum(one.size for one in self.files) / 2**20
        return (
            f"{len(self.files)} files, {size:.1f} MiB, read in {self.seconds:.1f} s; "
            f"at most {self.peak / 2**20:.0f} MiB of memory"
        )


def shown(value: Value, *, percent: bool = False) -> str:
    """A number as a table shows it: at most seven digits that count."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = str(value)
        return text if len(text) <= 24 else f"{text[:23]}…"
    return f"{value} %" if percent else f"{value:.7g}"


def said(counts: Mapping[Status, int]) -> str:
    """How many rows have which status, in words."""
    return ", ".join(f"{n} {status}" for status, n in counts.items() if n) or "none"


def lines(report: Report, *, everything: bool = False) -> Iterator[str]:
    """The report for a terminal. Long tables and those of models are summed up unless `everything`."""
    for table, rows in report.tables():
        yield f"{table}: {len(rows)} number{'s' * (len(rows) != 1)}: {said(tally(rows))}"
        if everything:
            yield from _table(rows)
            continue
        yield from _table(_picked(rows))
        if extra := _beside(rows):
            yield f"  without an expected number: {extra}"
        absent = Counter(row.reason for row in rows if row.status is Status.NOT_IN_FILES)
        yield from (f"  {n} not in files: {reason}" for reason, n in absent.items())
    yield ""
    for problem in report.problems:
        yield f"Skipped: {problem}"
    if report.problems:
        yield ""
    yield f"{len(report.rows)} numbers: {said(tally(report.rows))}. {report.effort}."
    if not everything:
        yield "Long tables are summed up; --all prints every number."


def is_long(rows: Sequence[Compared]) -> bool:
    """Whether a table is shown in part at first; rows without a number do not count."""
    there = [row for row in rows if row.status is not Status.NOT_IN_FILES]
    return len(there or rows) > LONG or rows[0].table not in ORDER


def _picked(rows: Sequence[Compared]) -> list[Compared]:
    """The rows of a table that are printed: all that have a number, of a long table those that matter."""
    there = [row for row in rows if row.status is not Status.NOT_IN_FILES]
    if not is_long(rows):
        return there
    printed = [row for row in there if row.paper is not None]
    return [
        row
        for row in there
        if row.status is Status.DIFFERS
        or row.reason.startswith("not as printed")
        or (row.paper is not None and len(printed) <= LONG)
    ]


def _beside(rows: Sequence[Compared]) -> str:
    """The numbers of a long table with which nothing was compared, in one line."""
    if not is_long(rows):
        return ""
    return ", ".join(
        f"{row.name.rpartition('.')[2]} {shown(row.ours)}" for row in rows if row.status is Status.OURS_ONLY
    )


def _table(rows: Sequence[Compared]) -> Iterator[str]:
    if not rows:
        return
    cells = [
        (
            row.name,
            shown(row.paper, percent=row.percent),
            shown(row.expected),
            shown(row.ours),
            str(row.status),
        )
        for row in rows
    ]
    heads = ("", *COLUMNS, "status")
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for cell, reason in zip([heads, *cells], ["reason", *(row.reason for row in rows)], strict=True):
        numbers = "  ".join(f"{text:>{width}}" for text, width in zip(cell[1:4], widths[1:4], strict=True))
        yield f"  {cell[0]:<{widths[0]}}  {numbers}  {cell[4]:<{widths[4]}}  {reason}".rstrip()


def as_json(report: Report) -> dict[str, Any]:
    """The whole report: every row, every file with its digest, every line that was skipped."""
    return {
        "folder": str(report.folder),
        "seconds": round(report.seconds, 3),
        "peak_memory_bytes": report.peak,
        "summary": {str(status): n for status, n in tally(report.rows).items()},
        "differing": [row.name for row in report.differing],
        "skipped": [asdict(problem) for problem in report.problems],
        "files": [
            {
                "name": one.name,
                "sha256": one.sha256,
                "bytes": one.size,
                "rows": one.rows,
                "is_counted": one.is_counted,
                "skipped_lines": one.skipped.lines,
            }
            for one in report.files
        ],
        "rows": [asdict(row) for row in report.rows],
    }
