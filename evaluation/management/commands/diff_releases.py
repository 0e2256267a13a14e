"""diff_releases: what differs between two releases of a corpus, and why."""

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.domain import release_changes as rules
from evaluation.exchange import release_differences as differences
from evaluation.management.releases_named import ID_HELP, USAGE, release_named
from evaluation.services.releases import Refused


class Command(BaseCommand):
    help = (
        "Compares two releases of a corpus row by row: added, removed, relabelled, and why. Exit status: 0 "
        "compared, 1 failed, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("old", help=ID_HELP)
        parser.add_argument("new", help=ID_HELP)
        parser.add_argument("--corpus", default="", metavar="NAME")
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="all differences, one JSON object a line"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        old, new = (release_named(options[name], options["corpus"]) for name in ("old", "new"))
        try:
            one = differences.ask(by=None, old=old, new=new)
        except Refused as error:
            raise CommandError(str(error), returncode=USAGE) from None
        differences.make(one.pk)
        one.refresh_from_db()
        path = differences.path_of(one)
        if one.counts is None or path is None:
            raise CommandError(one.problem or "A worker is at it; try again when it has ended.")
        for table in rules.TABLES:
            n = one.counts.get(table, {})
            said = ", ".join(f"{n.get(key, 0)} {key}" for key in (*rules.CHANGES, rules.SAME))
            self.stdout.write(f"{table}: {said}")
        for key, number in one.counts.get("why", {}).items():
            self.stdout.write(f"{number} labels: {rules.WHY.get(key, key)}")
        if options["out"]:
            shutil.copyfile(path, options["out"])
            self.stdout.write(f"All differences: {options['out']}")
