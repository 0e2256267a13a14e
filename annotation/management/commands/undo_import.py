"""Undoes a whole import."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.exchange import undoing
from annotation.exchange.uploads import NotPossible
from annotation.models import DataImport

REFUSED, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Undoes a whole import of the page or the API: what it made goes, what it changed is what it was. "
        "Refuses, and changes nothing, where people, runs or later imports built on it. "
        "Exit status: 0 undone, 1 refused, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("public_id", metavar="PUBLIC_ID", help="the last part of the import's address")

    def handle(self, *args: Any, **options: Any) -> None:
        one = DataImport.objects.filter(public_id=options["public_id"]).select_related("corpus").first()
        if one is None:
            raise CommandError("There is no import with this public id.", returncode=USAGE)
        try:
            done = undoing.undo(by=None, one=one)
        except NotPossible as refusal:
            raise CommandError(str(refusal), returncode=REFUSED) from None
        self.stdout.write(f"Undone: {one.file_name} in “{one.corpus.name}”.")
        for what, words in (("Removed", done.removed_words), ("Given back", done.given_back_words)):
            if words:
                self.stdout.write(f"{what}: {', '.join(words)}.")
