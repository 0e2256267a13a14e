"""Imports profiles, thread trees, rows and tables into a corpus."""

import json
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.dataset import BadPath, ImportReport, Unreadable, describe, import_paths
from annotation.exchange.problem_list import ProblemList
from annotation.models import ColumnMapping
from annotation.services import column_mappings
from simulation.models import Corpus

INVALID, USAGE = 1, 2
SHOWN_ROWS = 3


class Command(BaseCommand):
    help = (
        "Imports profiles, thread trees, rows in the flat or the plain layout, releases, plain or .gz, and "
        "foreign tables (CSV, Parquet, JSONL) by a mapping of their columns. "
        "Importing the same files again changes nothing. "
        "Exit status: 0 imported, 1 invalid data (the invalid file changed nothing), 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            nargs="+",
            type=Path,
            metavar="DIR_OR_FILE",
            help="a folder means its profiles.json[.gz] and threads/",
        )
        parser.add_argument("--corpus", required=True, metavar="NAME", help="is made if there is none")
        parser.add_argument(
            "--mapping",
            metavar="FILE_OR_NAME",
            help="what columns of foreign tables stand for: a JSON file, or a name the corpus remembers",
        )
        parser.add_argument(
            "--columns", action="store_true", help="only print layout, columns and a proposed mapping"
        )
        parser.add_argument("--dry-run", action="store_true", help="only report what would change")
        parser.add_argument(
            "--problems",
            type=Path,
            metavar="FILE",
            help="a table (CSV) for every problem; the report has the first hundred",
        )
        parser.add_argument("--json", action="store_true", help="report in JSON")
        parser.add_argument("--licence", default="", metavar="TEXT", help="of a corpus that is made")
        parser.add_argument("--description", default="", metavar="TEXT", help="of a corpus that is made")
        parser.add_argument(
            "--language",
            default="en",
            metavar="CODE",
            help="of a corpus that is made, such as de; usually en",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["columns"]:
            for path in options["paths"]:
                self._print_columns(Path(path), options["corpus"])
            return
        mapping = self._mapping(options["mapping"], options["corpus"])
        try:
            report = self._import(options, mapping)
        except BadPath as error:
            raise CommandError(str(error), returncode=USAGE) from None
        except ValidationError as error:
            said = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
            raise CommandError(f"The corpus cannot be made: {said}", returncode=USAGE) from None
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=1))
        else:
            for line in report.lines():
                self.stdout.write(line)
        if not report.ok:
            count = report.problem_count
            raise CommandError(f"{count} problem{'s' * (count != 1)} in the data.", returncode=INVALID)

    def _import(self, options: dict[str, Any], mapping: dict[str, Any] | None) -> ImportReport:
        with ExitStack() as stack:
            listed = None
            if options["problems"]:
                try:
                    listed = stack.enter_context(ProblemList(options["problems"], always=True))
                except OSError as error:
                    message = f"{options['problems']}: cannot be written: {error.strerror}"
                    raise CommandError(message, returncode=USAGE) from None
            return import_paths(
                paths=[Path(path) for path in options["paths"]],
                corpus_name=options["corpus"],
                dry_run=options["dry_run"],
                licence=options["licence"],
                description=options["description"],
                language=options["language"],
                options={"mapping": mapping} if mapping is not None else None,
                list_problem=listed.add if listed else None,
            )

    def _print_columns(self, path: Path, corpus: str) -> None:
        """What a file is and, of a table, the mapping that its columns' names or an earlier file suggest."""
        try:
            described = describe(path)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}", returncode=USAGE) from None
        except Unreadable as fault:
            raise CommandError(f"{path}: {fault.message}", returncode=INVALID) from None
        self.stdout.write(f"{path.name}: {described.layout.value}")
        if not described.columns:
            return
        self.stdout.write(f"Columns: {', '.join(described.columns)}")
        for row in described.rows[:SHOWN_ROWS]:
            self.stdout.write(f"  {' | '.join(row)}")
        remembered = self._remembered(corpus, described.columns)
        mapping = remembered.mapping if remembered else described.proposal
        said = f"Mapping “{remembered.name}” of the corpus:" if remembered else "Proposed mapping:"
        self.stdout.write(said)
        self.stdout.write(json.dumps(mapping, ensure_ascii=False, indent=1))

    def _remembered(self, corpus: str, columns: tuple[str, ...]) -> ColumnMapping | None:
        found = Corpus.objects.filter(name=corpus).first()
        return column_mappings.find(corpus=found, columns=columns) if found else None

    def _mapping(self, given: str | None, corpus: str) -> dict[str, Any] | None:
        """The mapping in a file, or that of the corpus with this name."""
        if given is None:
            return None
        path = Path(given)
        if path.is_file():
            try:
                mapping = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise CommandError(f"{given}: no JSON ({error}).", returncode=USAGE) from None
            if not isinstance(mapping, dict):
                raise CommandError(f"{given}: a mapping is an object, field -> column.", returncode=USAGE)
            return mapping
        found = Corpus.objects.filter(name=corpus).first()
        one = column_mappings.named(corpus=found, name=given) if found else None
        if one is None:
            message = f"{given}: neither a file nor a mapping that the corpus remembers."
            raise CommandError(message, returncode=USAGE)
        column_mappings.used(one=one)
        return dict(one.mapping)
