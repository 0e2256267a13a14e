"""reproduce_paper: the paper's tables and figures counted again from released files."""

import json
import os
import resource
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.exchange import decoding, reading
from annotation.exchange.reading import Unreadable, readable
from evaluation.domain.paper.comparing import BadTolerance, compare
from evaluation.exchange.paper_html import pieces
from evaluation.exchange.paper_report import Report, as_json, lines
from evaluation.exchange.recounting import recount
from evaluation.exchange.released import BadFolder, Release, find

DIFFERS, USAGE = 1, 2
NAMED = 20
"""So many differing numbers are named in the last word; all are in the table, the JSON and the HTML."""


class Command(BaseCommand):
    help = (
        "Counts every table and figure of the paper again from the released files in DIR (thread trees, "
        "labels, predictions and raw answers of any models) and prints paper, expected and ours side by "
        "side. Lines that cannot be read are skipped and listed. "
        "Exit status: 0 nothing differs, 1 a number differs beyond its tolerance, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="holds the files, plain or .gz")
        parser.add_argument(
            "--expected",
            type=Path,
            metavar="FILE",
            help="numbers to compare with; default: DIR/expected.json",
        )
        parser.add_argument(
            "--paper", type=Path, metavar="FILE", help="numbers as printed; default: DIR/paper.json"
        )
        parser.add_argument("--all", action="store_true", help="print every number, not only short tables")
        parser.add_argument("--json", metavar="FILE", help="write every row as JSON; - is standard output")
        parser.add_argument("--html", type=Path, metavar="FILE", help="write a report for a browser")

    def handle(self, *args: Any, **options: Any) -> None:
        started = monotonic()
        folder = Path(options["folder"])
        try:
            release = find(folder)
            expected = _numbers(options["expected"], folder / "expected.json")
            paper = _numbers(options["paper"], folder / "paper.json")
            report = _reported(release, expected, paper, started)
        except (BadFolder, BadTolerance) as error:
            raise CommandError(f"{error}.", returncode=USAGE) from None
        except OSError as error:
            where = readable(str(error.filename or folder))
            raise CommandError(f"{where} cannot be read: {error.strerror}.", returncode=USAGE) from None
        if not any(row.ours is not None for row in report.rows):
            said = "; ".join(map(str, report.problems[:3])) or "the files are empty"
            raise CommandError(f"Nothing in {readable(str(folder))} can be read: {said}.", returncode=USAGE)
        try:
            self._write(report, options)
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if report.differing:
            raise CommandError(_said(report), returncode=DIFFERS)

    def _write(self, report: Report, options: dict[str, Any]) -> None:
        if options["json"]:
            text = json.dumps(as_json(report), ensure_ascii=False, indent=1)
            if options["json"] == "-":
                self.stdout.write(text)
            else:
                _save(Path(options["json"]), [text, "\n"])
        if options["html"]:
            _save(Path(options["html"]), pieces(report))
        if options["json"] != "-":
            nothing_expected = all(row.expected is None for row in report.rows)
            for line in lines(report, everything=options["all"] or nothing_expected):
                self.stdout.write(line)
            self.stdout.flush()


def _numbers(given: Path | None, default: Path) -> dict[str, Any] | None:
    """The object in a file; None where none is named and the usual one is not there."""
    path = Path(given or default)
    if given is None and not path.is_file():
        return None
    try:
        value = decoding.decode("".join(reading.chunks(path)))
    except ValueError as error:
        fault = decoding.fault(error)
        said = f"line {fault.line}: {fault.message}"
    except Unreadable as error:
        said = error.message
    else:
        if isinstance(value, dict):
            return value
        said = "holds no JSON object"
    raise CommandError(f"{readable(str(path))}: {said}.", returncode=USAGE)


def _reported(
    release: Release, expected: dict[str, Any] | None, paper: dict[str, Any] | None, started: float
) -> Report:
    """Counts behind a bar on the standard error, drawn only where somebody looks."""
    total = sum(path.stat().st_size for path in release.files())
    with tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, disable=None, leave=False) as bar:
        made = recount(release, bar.update)
    rows = compare(made.found, expected, paper)
    return Report(release.folder, rows, made.files, made.problems, monotonic() - started, _peak())


def _peak() -> int:
    """The most memory that this process has held, in bytes; the system counts in KiB, macOS in bytes."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _said(report: Report) -> str:
    names = [row.name for row in report.differing]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    plural = "numbers differ" if len(names) != 1 else "number differs"
    return f"{len(names)} {plural} beyond the tolerance: {', '.join(names[:NAMED])}{more}."


def _save(path: Path, parts: Iterable[str]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(parts)
    except OSError as error:
        said = f"{readable(str(path))} cannot be written: {error.strerror}."
        raise CommandError(said, returncode=USAGE) from None
