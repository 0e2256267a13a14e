"""verify_release: whether the files of a release are those of its manifest."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.exchange import release_reading
from evaluation.exchange.release_verifying import BadManifest, files_of, manifest_in, problems
from evaluation.management.releases_named import ID_HELP, USAGE, release_named
from evaluation.models import Release


class Command(BaseCommand):
    help = (
        "Computes SHA-256 of every file of a release and compares it with manifest.json. Exit status: 0 all "
        "as it was, 1 a file is missing, changed or too many (it is named), 2 no release is there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", help=f"a folder with the files; or {ID_HELP}")
        parser.add_argument("--corpus", default="", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        folder, digest = Path(options["release"]), ""
        if not folder.is_dir():
            release = release_named(options["release"], options["corpus"])
            if release.state != Release.READY:
                raise CommandError(f"Release {release.name} is {release.state}.", returncode=USAGE)
            folder, digest = release_reading.place_of(release), release.digest
        try:
            found = list(problems(folder, digest=digest))
            n = len(files_of(manifest_in(folder)))
        except BadManifest as error:
            raise CommandError(f"{error}.", returncode=1) from None
        if found:
            raise CommandError("\n".join(found), returncode=1)
        self.stdout.write(f"{folder}: all {n} files are as the manifest says.")
