"""push_release: a copy of a release becomes a repository of a hub."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.exchange import release_push
from evaluation.management.releases_named import ID_HELP, USAGE, release_named
from evaluation.services.releases import Refused


class Command(BaseCommand):
    help = (
        "Sends the files of a release to a hub of data sets (needs the extra “hub”). Private unless "
        "--public. The token is read from an environment variable. Exit status: 0 sent, 1 failed, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", help=ID_HELP)
        parser.add_argument("--corpus", default="", metavar="NAME")
        parser.add_argument("--repository", required=True, metavar="OWNER/NAME")
        parser.add_argument("--token-variable", default=release_push.TOKEN, metavar="NAME")
        parser.add_argument("--public", action="store_true", help="anybody may see it")
        parser.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        release = release_named(options["release"], options["corpus"])
        where = {
            "repository": options["repository"],
            "variable": options["token_variable"],
            "public": options["public"],
        }
        try:
            plan = release_push.plan(release, **where)
            for one in plan.files:
                self.stdout.write(f"{one.name} {one.size} bytes")
            kind = "public" if plan.public else "private"
            self.stdout.write(f"{plan.size} bytes to {plan.repository}, {kind}")
            if options["dry_run"]:
                return
            release_push.ask(release, by=None, **where)
        except Refused as error:
            raise CommandError(str(error), returncode=USAGE) from None
        said = release_push.push(release.pk, **where)
        if said["state"] != release_push.SENT:
            raise CommandError(said["problem"])
        self.stdout.write(f"Sent: {said['url']}")
