"""Every problem of an import as a table: written line by line while the files are checked."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from annotation.exchange.problems import Problem
from simulation.domain.spreadsheets import guarded

LONGEST = 100_000
"""Lines of the list. A file with more problems than these is another kind of file than was thought."""
COLUMNS = ("file", "line", "field", "message")


class ProblemList:
    """A CSV file at `path`, there only as a whole and, unless `always`, only when there is a problem.

    A cell that begins like a formula gets an apostrophe. The longest list says how many it leaves out.
    """

    def __init__(self, path: Path, *, always: bool = False) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._always = always
        self._writer: Any = None
        self._stack = ExitStack()
        self.count = 0

    def __enter__(self) -> Self:
        if self._always:
            self._begin()
        return self

    def add(self, problem: Problem) -> None:
        self.count += 1
        if self.count <= LONGEST:
            if self._writer is None:
                self._begin()
            cells = [problem.file, problem.line, problem.field, problem.message]
            self._writer.writerow(guarded(cells))

    def _begin(self) -> None:
        file = self._stack.enter_context(self._part.open("w", encoding="utf-8", newline=""))
        self._writer = csv.writer(file)
        self._writer.writerow(COLUMNS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if left := max(self.count - LONGEST, 0):
            self._writer.writerow(["", "", "", f"{left} more problems, not listed"])
        self._stack.close()
        if self._writer is None:
            return
        if kind is None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)
