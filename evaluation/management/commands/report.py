"""report: the leaderboard of a corpus, counted now, as a table, JSON or CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.tables import as_csv
from evaluation.domain.boards import MEASURE_WORDS, Board, Measure, as_json, from_json
from evaluation.exchange import board_tables
from evaluation.models import LabelSet, Scoring
from evaluation.selectors.board_lines import Ranking, ranking
from evaluation.services import boards, reports
from simulation.models import Corpus

USAGE = 2
WIDEST = 40


def _step(least: int) -> Any:
    def step(text: str) -> int:
        if text not in map(str, range(least, 6)):
            raise ArgumentTypeError(f"must be a whole number from {least} to 5, not {text!r}")
        return int(text)

    return step


class Command(BaseCommand):
    help = (
        "Counts the leaderboard of CORPUS (its name or id) and prints it: accuracy with its 95 % interval, "
        "clustered by profile, of all that was asked and of what was answered. Exit status: 0 counted, "
        "2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument(
            "--labels", metavar="NAME", help="label set, by name or id; default: the only one"
        )
        parser.add_argument("--mode", choices=[key for key, _ in Scoring.MODES], default=Scoring.DEFAULT)
        parser.add_argument(
            "--certainty", type=_step(0), default=3, metavar="N", help="least certainty, 0: any or none (3)"
        )
        parser.add_argument("--hardness", type=_step(1), default=1, metavar="N", help="least hardness (1)")
        parser.add_argument("--measure", choices=[one.value for one in Measure], default=Measure.TOP1.value)
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole board as JSON")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="write the ranking as CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        corpus = _corpus(options["corpus"])
        labels = _labels(corpus, options["labels"], options["mode"])
        parameters = {
            "label_set": labels.public_id,
            "mode": options["mode"],
            "min_certainty": options["certainty"],
            "min_hardness": options["hardness"],
        }
        report = reports.make(corpus, boards.KIND, parameters)
        if report.problem or report.content is None:
            raise CommandError(report.problem)
        board: Board = from_json(report.content)
        measure = Measure(options["measure"])
        if options["json"]:
            _write(options["json"], json.dumps(as_json(board), ensure_ascii=False, indent=1) + "\n")
        if options["csv"]:
            _write(options["csv"], as_csv(board_tables.lines(board, measure)))
        for line in _lines(board, measure):
            self.stdout.write(line)


def _corpus(name: str) -> Corpus:
    found = list(Corpus.objects.filter(name=name, trashed_at=None)[:2])
    found = found or list(Corpus.objects.filter(public_id=name, trashed_at=None))
    if len(found) == 1:
        return found[0]
    said = "several corpora have" if found else "no corpus has"
    raise CommandError(f"CORPUS: {said} the name or id “{name}”.", returncode=USAGE)


def _labels(corpus: Corpus, name: str | None, mode: str) -> LabelSet:
    """The label set that is named, or the only one that anything is scored against in this mode."""
    scored = LabelSet.objects.filter(corpus=corpus, scorings__mode=mode).distinct()
    known = ", ".join(f"“{one.name}”" for one in scored) or "none"
    if name is None:
        found = list(scored)
        if len(found) == 1:
            return found[0]
        raise CommandError(f"--labels: name one; scored in mode {mode}: {known}.", returncode=USAGE)
    one = corpus.label_sets.filter(name=name).first() or corpus.label_sets.filter(public_id=name).first()
    if one is None:
        raise CommandError(
            f"--labels: the corpus has no label set “{name}”; scored in mode {mode}: {known}.",
            returncode=USAGE,
        )
    if not scored.filter(pk=one.pk).exists():
        raise CommandError(
            f"--labels: nothing is scored against “{one.name}” in mode {mode}; scored are: {known}.",
            returncode=USAGE,
        )
    return one


def _lines(board: Board, measure: Measure) -> list[str]:
    shown = ranking(board, measure)
    certainty = f"certainty ≥ {board.min_certainty}" if board.min_certainty else "any certainty"
    lines = [
        f"{board.labels} labels of {board.profiles} profiles of “{board.label_set_name}”, "
        f"hardness ≥ {board.min_hardness}, {certainty}; mode {board.mode}",
        f"{measure.value}: {MEASURE_WORDS[measure]}; of all asked, 95 % clustered by profile",
        "",
        *_table(shown),
    ]
    pairs = board.pairs.get(measure.value)
    if pairs and pairs.of:
        lines += ["", pairs.words]
    return lines


HEAD = ("#", "model", "percent", "95 %", "n", "answered", "refused", "unparsed", "error", "open", "")


def _table(shown: Ranking) -> list[str]:
    rows: list[tuple[str, ...]] = [HEAD]
    for line in shown.lines:
        one = line.entry
        name = one.name if len(one.name) <= WIDEST else one.name[: WIDEST - 1] + "…"
        numbers = (line.asked.value, line.asked.interval, str(line.asked.cell.n), line.answered.value)
        failed = tuple(str(one.outcomes.get(key, 0)) for key in ("refused", "unparsed", "error"))
        mark = "baseline" if one.is_baseline else "few" if line.is_small else ""
        rows.append((str(line.rank or ""), name, *numbers, *failed, str(line.open), mark))
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    return [
        "  ".join(
            cell.ljust(width) if at in (1, len(HEAD) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.", returncode=USAGE) from None
