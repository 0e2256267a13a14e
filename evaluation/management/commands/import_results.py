"""import_results: released labels and predictions into a corpus."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.exchange.dataset import BadPath
from annotation.exchange.problems import Problem
from annotation.exchange.reading import is_text, readable
from evaluation.exchange.importing_folder import (
    FolderImport,
    FolderReport,
    UnknownModels,
    chosen,
    has_profiles,
    import_profiles,
    sizes,
)
from evaluation.exchange.released import BadFolder, Release, find
from evaluation.models import Masking, Scoring
from evaluation.selectors.masking import ready
from simulation.models import Corpus

USAGE = 2
SHOWN = 20


class Command(BaseCommand):
    help = (
        "Imports labels and predictions in DIR (labels/*.jsonl, predictions/<model>/*.jsonl, plain or .gz) "
        "into a corpus: label sets, prediction runs and the scores that the files record. A corpus without "
        "profiles takes those of DIR/profiles.json first; comments come with import_synthpai. The same "
        "files again change nothing. Exit status: 0 imported, 2 wrong usage or a file that was refused "
        "(nothing of that file is kept; the other files are)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="holds the files, plain or .gz")
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--create", action="store_true", help="make the corpus if there is none")
        parser.add_argument(
            "--skip-unreadable",
            action="store_true",
            help="pass over lines that cannot be read and keep them listed; else their file is refused",
        )
        parser.add_argument(
            "--replace", action="store_true", help="let a changed file replace the former one"
        )
        parser.add_argument("--models", default="", metavar="A,B", help="only these; default: all")
        parser.add_argument(
            "--masking",
            default="",
            metavar="NAME",
            help="the masking whose texts the models were shown; default: the comments as they are",
        )
        parser.add_argument(
            "--score",
            choices=[Scoring.DEFAULT, Scoring.COMPATIBLE, "none"],
            default="none",
            help="score the evaluated runs against the revised labels by these rules, too; default: none",
        )
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"])
        try:
            release = find(folder)
            if not release.labels and not release.predictions:
                raise BadFolder(folder, "holds neither labels/*.jsonl nor predictions/<model>/*.jsonl")
            models = chosen(release, filter(None, (one.strip() for one in options["models"].split(","))))
            corpus, profiles = _corpus(release, options["corpus"], create=options["create"])
        except (BadFolder, BadPath, UnknownModels) as error:
            raise CommandError(f"{error}.", returncode=USAGE) from None
        except ValidationError as error:
            raise CommandError(
                f"The corpus cannot be made: {' '.join(error.messages)}", returncode=USAGE
            ) from None
        report = _imported(release, corpus, models, _masking(corpus, options["masking"]), options)
        report.profiles = profiles
        if options["json"]:
            self.stdout.write(json.dumps(as_json(report), ensure_ascii=False, indent=1))
        else:
            for line in lines(report):
                self.stdout.write(line)
        if report.refused:
            raise CommandError(_said(report.refused, report.refused_in_all), returncode=USAGE)


def _corpus(release: Release, name: str, *, create: bool) -> tuple[Corpus, int]:
    """The corpus, with profiles, and how many of these are new. Raises CommandError."""
    found = Corpus.objects.filter(name=name.strip()).first() if is_text(name) else None
    if found and found.trashed_at:
        raise CommandError(f"{found.name} is in the trash: restore it first.", returncode=USAGE)
    if found and has_profiles(found):
        return found, 0
    if found is None and not create:
        raise CommandError(
            f"There is no corpus {readable(name)!r}. Name one that is there, or add --create.",
            returncode=USAGE,
        )
    problems: list[Problem] = []
    made, new = import_profiles(release, name, problems)
    if problems:
        raise CommandError(_said(problems, len(problems)), returncode=USAGE)
    if made is None:
        raise CommandError(
            f"The corpus has no profiles, and {readable(str(release.folder))} has no profiles.json. Import "
            "profiles first: manage.py import_synthpai.",
            returncode=USAGE,
        )
    return made, new


def _masking(corpus: Corpus, name: str) -> Masking | None:
    """The masking of this name; None where none is named. Raises CommandError."""
    if not name:
        return None
    found = ready(corpus).filter(name=name.strip()).first() if is_text(name) else None
    if found is None:
        known = ", ".join(ready(corpus).values_list("name", flat=True)) or "none"
        said = f"There is no masking {readable(name)!r} that is done in {corpus.name}; there are: {known}."
        raise CommandError(said, returncode=USAGE)
    return found


def _imported(
    release: Release, corpus: Corpus, models: list[str], masking: Masking | None, options: dict[str, Any]
) -> FolderReport:
    """Imports behind a bar on the standard error, drawn only where somebody looks."""
    total = sizes(release, models)
    mode = "" if options["score"] == "none" else options["score"]
    with tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, disable=None, leave=False) as bar:
        work = FolderImport(
            release,
            corpus,
            skip=options["skip_unreadable"],
            replace=options["replace"],
            progress=bar.update,
            masking=masking,
        )
        return work.everything(models, mode)


def _said(problems: list[Problem], total: int) -> str:
    named = "\n".join(map(str, problems[:SHOWN]))
    more = f"\n… and {total - SHOWN} more" if total > SHOWN else ""
    remedy = "Mend the lines, or pass over them with --skip-unreadable."
    return f"{total} problem{'s' * (total != 1)}:\n{named}{more}\n{remedy}"


def as_json(report: FolderReport) -> dict[str, Any]:
    """The report for a program."""
    return {
        "corpus": {"name": report.corpus.name, "id": str(report.corpus.public_id)},
        "profiles": report.profiles,
        "files": [
            {
                "file": one.file,
                "profiles": one.rows,
                "made": [made.__dict__ for made in one.made],
                "skipped": [
                    {"line": problem.line, "field": problem.field, "message": problem.message}
                    for problem in one.skipped.problems
                ],
                "notes": one.notes,
            }
            for one in report.files
        ],
        "scored": [
            {"run": name, "verdicts": verdicts, "open": left} for name, verdicts, left in report.scored
        ],
        "passed_over": report.passed_over,
        "problems": [one.__dict__ if hasattr(one, "__dict__") else str(one) for one in report.refused],
        "rows": report.written,
        "seconds": round(report.seconds, 3),
    }


def lines(report: FolderReport) -> Iterator[str]:
    """The report for a person: a table of what was made, what was passed over, the speed."""
    made = [one for file in report.files for one in file.made]
    width = max([len(one.name) for one in made], default=4)
    yield f"{report.corpus.name}: {report.profiles} new profiles"
    yield f"{'what':<16} {'name':<{width}} {'rows':>7}  outcome"
    for one in made:
        yield f"{one.kind:<16} {one.name:<{width}} {one.rows:>7}  {one.outcome}"
    for name, verdicts, left in report.scored:
        yield f"{'scored here':<16} {name:<{width}} {verdicts:>7}  {left} open"
    for file in report.files:
        if file.skipped.lines:
            numbers = ", ".join(map(str, file.skipped.lines[:SHOWN]))
            plural = "s" * (len(file.skipped.lines) != 1)
            yield f"{file.file}: skipped {len(file.skipped.lines)} line{plural}: {numbers}"
        for note in file.notes:
            yield f"{file.file}: {note}"
    yield from report.passed_over
    speed = report.written / report.seconds if report.seconds else 0
    yield f"{report.written} rows in {report.seconds:.1f} s, {speed:.0f} rows a second"
