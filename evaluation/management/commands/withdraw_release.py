"""withdraw_release: says of a release that it should not be used any more."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.management.releases_named import ID_HELP, USAGE, release_named
from evaluation.services.releases import Refused, withdraw
from simulation.domain.typed import NotConfirmed


class Command(BaseCommand):
    help = (
        "Withdraws a release with a notice that everybody sees. Its files stay. "
        "Exit status: 0 done, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", help=ID_HELP)
        parser.add_argument("--corpus", default="", metavar="NAME")
        parser.add_argument("--notice", required=True, help="why, and what to use instead")
        parser.add_argument("--yes", required=True, metavar="NAME", help="the release's name once more")

    def handle(self, *args: Any, **options: Any) -> None:
        release = release_named(options["release"], options["corpus"])
        try:
            withdraw(release, by=None, notice=options["notice"], typed=options["yes"])
        except (Refused, NotConfirmed) as error:
            raise CommandError(str(error), returncode=USAGE) from None
        self.stdout.write(f"Release {release.name} of {release.corpus.name} is withdrawn. Its files stay.")
