"""Imports profiles, thread trees and rows of the flat layout into a corpus."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.dataset import BadPath, import_paths

INVALID, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Imports SynthPAI data: profiles, thread trees, or rows in the flat layout, plain or .gz. "
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
        parser.add_argument("--dry-run", action="store_true", help="only report what would change")
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
        try:
            report = import_paths(
                paths=[Path(path) for path in options["paths"]],
                corpus_name=options["corpus"],
                dry_run=options["dry_run"],
                licence=options["licence"],
                description=options["description"],
                language=options["language"],
            )
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
