"""Writes the whole installation into one file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from synthpai_web.backups import dump, nightly
from synthpai_web.backups.archive import BadBackup


class Command(BaseCommand):
    help = (
        "Writes database and kept files into one zip, in one moment of the database, while people work on."
        " SECRET_KEY and keys of providers are not in it: keep them elsewhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", type=Path, help="file or folder (default: a new file in BACKUP_DIR)")
        parser.add_argument("--without-files", action="store_true", help="the database alone")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["to"] or nightly.folder()
        if path.is_dir() or not path.suffix:
            path = path / nightly.file_name(timezone.now())
        try:
            manifest = dump.write(path, with_files=not options["without_files"])
        except (BadBackup, dump.Busy) as problem:
            raise CommandError(str(problem)) from problem
        nightly.audit_backup(path, manifest)
        files = f", {len(manifest.files)} files" if manifest.has_files else ", without files"
        self.stdout.write(f"{path}: {manifest.rows:,} rows in {len(manifest.tables)} tables{files}.")
        self.stdout.write(f"Digest of the database: {manifest.digest}")
