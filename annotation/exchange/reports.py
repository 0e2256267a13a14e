"""What an import did, or would do: the answer of the door, and how a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.exchange.problems import Problem

KINDS = ("profiles", "threads", "comments", "suggestions", "annotations", "labels")

NEW, CHANGED, SAME = "new", "changed", "same"


@dataclass(slots=True)
class Tally:
    new: int = 0
    changed: int = 0
    same: int = 0
    invalid: int = 0

    def add(self, other: Tally) -> None:
        self.new += other.new
        self.changed += other.changed
        self.same += other.same
        self.invalid += other.invalid


def tallies() -> dict[str, Tally]:
    return {kind: Tally() for kind in KINDS}


@dataclass(frozen=True)
class FileReport:
    """`outcome` is imported, unchanged, invalid, or skipped: checked and fine, but behind an invalid file."""

    file: str
    outcome: str
    tallies: dict[str, Tally]
    problem_count: int = 0


@dataclass(frozen=True)
class ImportReport:
    corpus: str
    dry_run: bool
    tallies: dict[str, Tally]
    files: tuple[FileReport, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    """The first hundred; `problem_count` counts all."""
    problem_count: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.problem_count == 0

    def files_with(self, outcome: str) -> list[str]:
        return [one.file for one in self.files if one.outcome == outcome]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ok": self.ok}

    def lines(self) -> Iterator[str]:
        """The report as a small table, then warnings and problems."""
        yield f"{'':12}{'new':>9}{'changed':>9}{'same':>9}{'invalid':>9}"
        for kind, tally in self.tallies.items():
            yield f"{kind:12}{tally.new:>9}{tally.changed:>9}{tally.same:>9}{tally.invalid:>9}"
        for warning in self.warnings:
            yield f"Warning: {warning}"
        for problem in self.problems:
            yield f"Problem: {problem}"
        if self.problem_count > len(self.problems):
            yield f"… and {self.problem_count - len(self.problems)} more problems, not shown."
        yield from self._verdict()

    def _verdict(self) -> Iterator[str]:
        if self.ok:
            done = "Dry run: nothing was written" if self.dry_run else f"Imported into “{self.corpus}”"
            count = len(self.files)
            yield f"{done}; {count} file{'s' * (count != 1)} in {self.seconds:.1f} s."
            return
        kept = self.files_with("imported") + self.files_with("unchanged")
        if kept and not self.dry_run:
            yield f"Imported before the first invalid file, and kept: {_names(kept)}."
        yield f"Invalid, nothing of it was imported: {_names(self.files_with('invalid'))}."
        if skipped := self.files_with("skipped"):
            yield f"Checked only, because they come after an invalid file: {_names(skipped)}."


def _names(files: list[str]) -> str:
    shown = ", ".join(files[:5])
    return shown if len(files) <= 5 else f"{shown} and {len(files) - 5} more"
