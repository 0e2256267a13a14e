"""Puts a backup in the place of what is here."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from synthpai_web.backups import archive, nightly
from synthpai_web.backups.restore import NotPossible, restore


class Command(BaseCommand):
    help = (
        "Restores a backup: verifies it, makes the tables, brings in the rows, compares, and only then takes"
        " the place of what is here. Stop the site, the workers and the clock first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--wipe", action="store_true", help="lose what the database holds now")
        parser.add_argument("--yes", action="store_true", help="do not ask for the name of the database")
        parser.add_argument("--force", action="store_true", help="although other connections are open")

    def handle(self, *args: Any, **options: Any) -> None:
        name = str(connection.settings_dict["NAME"])
        if options["wipe"] and not options["yes"]:
            typed = input(f"Everything in the database “{name}” will be lost. Type its name to go on: ")
            if typed.strip() != name:
                raise CommandError("That was not its name; nothing was changed.")
        try:
            done = restore(
                options["file"], wipe=options["wipe"], force=options["force"], say=self.stdout.write
            )
        except (archive.BadBackup, NotPossible) as problem:
            raise CommandError(str(problem)) from problem
        nightly.audit_restore(options["file"], done.manifest)
        if done.files_before:
            self.stdout.write(f"The files that were here lie in {done.files_before}; delete them by hand.")
        if done.left_out:
            self.stdout.write(
                f"Left out, for they are no tables of this program: {', '.join(done.left_out)}."
                " The digest of the others is not the one that `backup` printed."
            )
        self.stdout.write(f"Restored: the digest of the database is {done.manifest.digest}, as backed up.")
        self.stdout.write("Run `manage.py check_events`, then start site, workers and clock.")
