"""Reads a backup through and compares it with its manifest."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from synthpai_web.backups import archive


class Command(BaseCommand):
    help = "Reads a backup through and compares every entry with the manifest; exit 1 where one differs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = archive.verify(options["file"])
        except archive.BadBackup as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(
            f"Whole: made {manifest.made_at} by version {manifest.code} from PostgreSQL {manifest.server};"
            f" {manifest.rows:,} rows in {len(manifest.tables)} tables, {len(manifest.files)} files."
        )
        self.stdout.write(f"Digest of the database: {manifest.digest}")
