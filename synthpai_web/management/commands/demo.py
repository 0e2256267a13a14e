"""`make demo`: everything on this machine, with something in it to try."""

import fcntl
import os
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from simulation.domain.roles import Role
from simulation.domain.run_states import RunState
from simulation.models import Run, User
from synthpai_web import evaluated, given_out, processes, simulated, starter
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
            with Supervisor(settings.VAR_DIR / "log") as supervisor:
                prepare()
                accounts, corpus = starter.sow(settings.VAR_DIR)
                port = processes.free_port(port)
                model = start_model(supervisor, beside=port, latency=0.05)
                processes.start(supervisor, port)
                run = simulate(model, self._tell)
                self._say(port, accounts, corpus.name, run, time.monotonic() - started)
                supervisor.stay(self._revive)
        except Stopped:
            self.stdout.write("\nStopped. Your data stay in var/; `make demo` goes on with them.")
        except (ChildEnded, simulated.NotPaid) as error:
            raise CommandError(str(error)) from None

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _revive(self) -> None:
        """Starts an embedded server again whose processes were killed. One that cannot be ends the demo."""
        for name in attach_servers():
            self.stdout.write(f"The embedded {name} server was gone; it is up again.")
            self.stdout.flush()

    def _say(self, port: int, accounts: list[starter.Account], corpus: str, run: Run, seconds: float) -> None:
        address = f"http://{processes.HOST}:{port}/"
        lines = [
            "",
            f"SynthPAI Studio is up after {seconds:.0f} s:  {address}",
            "",
            *(f"  {account.username:<12} {account.password}" for account in accounts),
            "",
            f"The agents' run is {run.state}: {address}runs/{run.public_id}/",
            "",
            "Six things to try:",
            f"  1. Sign in as labeler, press “Start reviewing” ({corpus}); ? shows the keys.",
            "  2. Sign in as researcher, open the corpus, then Export… the labels you just set.",
            f"  3. Review what the agents wrote: the queue “{simulated.QUEUE}” of {simulated.CORPUS}.",
            "  4. Sign in as researcher and open Models: who guessed what about whom, and how sure that is.",
            f"  5. Open the releases of {simulated.CORPUS}: a dataset with card, digests and its lineage.",
            "  6. Sign in as admin, start a simulation of your own under Runs and watch it grow.",
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


def start_model(supervisor: Supervisor, *, beside: int, latency: float = 0.0) -> simulated.Model:
    """The model that answers the demo: the scripted one, served here, or a real one if asked for.

    The port `beside` is the site's, which is not up yet.
    """
    supervisor.env = {**supervisor.env, "SYNTHPAI_DEMO": "1"}
    if settings.DEMO_PAID:
        return simulated.paid()
    # Somewhere else each time: two demos that begin at once do not want the same port.
    port = processes.free_port(processes.MODEL_PORT + os.getpid() % 1000, but=beside)
    supervisor.start(processes.scripted_model(port, latency=latency))
    allowed = [*settings.LLM_PRIVATE_ADDRESSES, f"{processes.HOST}:{port}"]
    supervisor.env = {**supervisor.env, "LLM_PRIVATE_ADDRESSES": ",".join(allowed)}
    supervisor.wait_until(lambda: processes.answers(port), seconds=30, what="The scripted model")
    return simulated.scripted(f"http://{processes.HOST}:{port}/v1")


def simulate(model: simulated.Model, say: Callable[[str], None]) -> Run:
    """Agents write, a model tags and guesses, a queue is made: by the worker that is running."""
    admin = User.objects.get(username=Role.ADMIN.value)
    corpus = simulated.corpus(admin)
    likely = simulated.likely(corpus)
    about = f"{likely.calls_low} to {likely.calls_high} calls to {model.provider.name}"
    if model.paid:
        about = simulated.cost(likely, model=model.provider.default_model, max_calls=model.max_calls)
    if simulated.known(corpus) is None:
        say(f"Agents with {corpus.profiles.count()} profiles write threads: {about}")
    run = simulated.see_through(simulated.begin(admin, corpus, model), say)
    tags = simulated.tagged(run) if run.state == RunState.DONE else None
    if tags and simulated.see_through(tags, say).state == RunState.DONE:
        evaluated.evaluate(admin, tags, model, say)
        given_out.release(admin, corpus)
    if corpus.comments.exists():
        simulated.queue(admin, corpus)
    return run


def prepare() -> None:
    """The database's tables and the static files, up to date."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
