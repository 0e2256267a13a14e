"""`make demo`: everything on this machine, with something in it to try."""

import fcntl
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from synthpai_web import processes, starter
from synthpai_web.start import attach_servers
from synthpai_web.supervisor import ChildEnded, Stopped, Supervisor


class Command(BaseCommand):
    help = "Sets up the demo and serves it until Ctrl-C. The data stay in var/ for the next time."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=port_number, default=processes.FIRST_PORT, help="first port to try, 1 to 65535"
        )

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        with (settings.VAR_DIR / "demo.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CommandError("The demo is running already, in another terminal.") from None
            self._run(port)

    def _run(self, port: int) -> None:
        started = time.monotonic()
        try:
            with Supervisor(settings.VAR_DIR / "log", {"SYNTHPAI_DEMO": "1"}) as supervisor:
                prepare()
                accounts, corpus = starter.sow(settings.VAR_DIR)
                port = processes.free_port(port)
                processes.start(supervisor, port)
                self._say(port, accounts, corpus.name, time.monotonic() - started)
                supervisor.stay(self._revive)
        except Stopped:
            self.stdout.write("\nStopped. Your data stay in var/; `make demo` goes on with them.")
        except ChildEnded as error:
            raise CommandError(str(error)) from None

    def _revive(self) -> None:
        """Starts an embedded server again whose processes were killed. One that cannot be ends the demo."""
        for name in attach_servers():
            self.stdout.write(f"The embedded {name} server was gone; it is up again.")
            self.stdout.flush()

    def _say(self, port: int, accounts: list[starter.Account], corpus: str, seconds: float) -> None:
        address = f"http://{processes.HOST}:{port}/"
        lines = [
            "",
            f"SynthPAI Studio is up after {seconds:.0f} s:  {address}",
            "",
            *(f"  {account.username:<12} {account.password}" for account in accounts),
            "",
            "Three things to try:",
            f"  1. Sign in as labeler, press “Start reviewing” ({corpus}); ? shows the keys.",
            "  2. Sign in as researcher, open the corpus, then Export… the labels you just set.",
            "  3. Sign in as admin and invite a colleague under People.",
            "",
            "Ctrl-C stops everything; the data stay.",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def port_number(text: str) -> int:
    """A TCP port that one may ask for."""
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= processes.LAST_PORT:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a port; write a whole number from 1 to {processes.LAST_PORT}")


def prepare() -> None:
    """The database's tables and the static files, up to date."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
