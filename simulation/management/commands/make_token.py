"""make_token: a personal token from the command line, for a script that is set up with the machine."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.scopes import Scope
from simulation.models import Corpus, User
from simulation.services import api_tokens

USAGE = 2


class Command(BaseCommand):
    help = (
        "Make a token with which a script uses the API as PERSON, and write it to standard output: it is"
        " shown this once and stored nowhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="name of the account")
        parser.add_argument("--name", required=True, help="what will use it; told from other tokens by it")
        parser.add_argument(
            "--scopes",
            default=Scope.READ.value,
            metavar="READ,RUN",
            help=f"what it may do: {', '.join(Scope)}; default: read",
        )
        parser.add_argument("--days", type=int, default=90, help="how long it works; default: 90")
        parser.add_argument("--corpus", metavar="NAME", help="it opens this corpus alone")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["person"]).first()
        if person is None:
            raise CommandError(f"There is no account “{options['person']}”.", returncode=USAGE)
        try:
            token, text = api_tokens.make_token(
                by=None,
                person=person,
                name=options["name"],
                scopes=_scopes(options["scopes"]),
                days=options["days"],
                corpus=_corpus(options["corpus"]) if options["corpus"] else None,
            )
        except api_tokens.BadToken as problem:
            raise CommandError(f"--{problem.field}: {problem}", returncode=USAGE) from None
        self.stderr.write(f"“{token.name}” works until {token.expires_at:%Y-%m-%d %H:%M %Z}.")
        self.stdout.write(text)


def _scopes(text: str) -> list[Scope]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in set(Scope)]:
        known = ", ".join(Scope)
        raise CommandError(
            f"--scopes: there is no “{', '.join(unknown)}”; there are: {known}.", returncode=USAGE
        )
    return [Scope(name) for name in names]


def _corpus(name: str) -> Corpus:
    try:
        return Corpus.objects.get(name=name, trashed_at=None)
    except Corpus.DoesNotExist:
        known = ", ".join(Corpus.objects.filter(trashed_at=None).values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no corpus “{name}”. Corpora: {known}.", returncode=USAGE) from None
