"""import_masking: released masked comments beside those of a corpus."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange.reading import is_text, readable
from evaluation.exchange.importing_reading import Refused
from evaluation.exchange.masking_import import AFTER, MaskingImport, import_masking
from evaluation.exchange.released import BadFolder
from simulation.models import Corpus

USAGE = 2


class Command(BaseCommand):
    help = (
        "Imports the masked comments in DIR (labels/comments_anonymized.jsonl beside"
        " labels/comments_eval_revised.jsonl, plain or .gz) as a masking of a corpus that has the comments."
        " They are found by user name and text; what is not found is counted and listed. The same file again"
        " changes nothing. Exit status: 0 imported, 2 wrong usage or refused, and nothing was changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="holds labels/, files plain or .gz")
        parser.add_argument("--corpus", required=True, metavar="NAME")
        parser.add_argument("--name", default=AFTER, help=f"of the masking; default: {AFTER}")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        corpora = Corpus.objects.filter(trashed_at=None)
        name = options["corpus"]
        corpus = corpora.filter(name=name.strip()).first() if is_text(name) else None
        if corpus is None:
            there = ", ".join(corpora.values_list("name", flat=True)) or "none"
            raise CommandError(
                f"There is no corpus {readable(name)!r}; there are: {there}.", returncode=USAGE
            )
        try:
            made = import_masking(corpus, Path(options["folder"]), name=options["name"])
        except (BadFolder, Refused) as error:
            raise CommandError(f"{error}.", returncode=USAGE) from None
        self._say(made, as_json=options["json"])

    def _say(self, made: MaskingImport, *, as_json: bool) -> None:
        outcome = "same" if made.is_same else "new"
        said = {"masking": made.masking.name, "id": str(made.masking.public_id), "outcome": outcome}
        if as_json:
            whole = said | made.numbers | {"examples": made.examples}
            self.stdout.write(json.dumps(whole, ensure_ascii=False, indent=1))
            return
        numbers = {f"file_{key}": value for key, value in made.file.items()}
        numbers |= {key: made.numbers[key] for key in ("kept", "unmatched", "edited", "alone")}
        for key, value in {**said, **numbers}.items():
            self.stdout.write(f"{key:<24} {value}")
        for author, text in made.examples:
            self.stdout.write(f"not found: {author}: {text}")
