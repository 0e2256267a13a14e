"""create_person: an account from the command line, as the first admin of an installation needs."""

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from simulation.domain.roles import STRENGTH, Role
from simulation.models import Corpus, User
from simulation.services import people


class Command(BaseCommand):
    help = "Make an account with a role in one corpus or in the whole installation. Asks for the password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", required=True)
        parser.add_argument("--role", required=True, choices=[role.value for role in STRENGTH])
        parser.add_argument("--corpus", metavar="NAME", help="role in this corpus only; default: everywhere")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        corpus = _corpus(options["corpus"]) if options["corpus"] else None
        person = User(username=options["username"], email=options["email"])
        password = sys.stdin.readline().rstrip("\r\n") if options["password_stdin"] else _ask()
        try:
            person.clean_fields(exclude=["password"])
            validate_password(password, person)
        except ValidationError as error:
            raise CommandError(" ".join(_sentences(error))) from None
        try:
            people.create_user(
                username=person.username,
                email=person.email,
                password=password,
                role=Role(options["role"]),
                corpus=corpus,
            )
        except people.PeopleError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{person.username} is {options['role']} in {corpus or 'the whole installation'}.")


def _corpus(name: str) -> Corpus:
    try:
        return Corpus.objects.get(name=name)
    except Corpus.DoesNotExist:
        known = ", ".join(Corpus.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no corpus “{name}”. Corpora: {known}.") from None


def _ask() -> str:
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("Password again: "):
        raise CommandError("The two passwords differ. Nothing was made.")
    return password


def _sentences(error: ValidationError) -> list[str]:
    if hasattr(error, "error_dict"):
        return [f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items()]
    return list(error.messages)
