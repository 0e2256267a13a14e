"""serve_scripted_model: the scripted model over HTTP in the OpenAI format, for demos and load tests."""

from __future__ import annotations

import asyncio
import signal
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.faults import Faults, Latency
from simulation.llm.serving.server import Behaviour, ModelServer

HONEST = "This is a set of rules, not a language model: its texts say nothing about any model."


class Command(BaseCommand):
    help = "Serve the scripted model (rules, not a language model) over HTTP in the OpenAI format."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8900, help="0 picks a free one")
        parser.add_argument("--latency", type=_seconds, default=0.05, help="seconds an answer takes at least")
        parser.add_argument("--spread", type=_seconds, default=0.02, help="seconds it may take longer")
        parser.add_argument(
            "--faults", default="", metavar="KIND=SHARE,...", help="e.g. 429=0.05,500=0.05,cut=0.02"
        )
        parser.add_argument("--seed", type=int, default=0, help="another seed draws other faults")
        parser.add_argument(
            "--limit",
            "--most-in-flight",
            type=int,
            default=0,
            help="most requests at a time, more are answered 429; 0: no limit",
        )
        parser.add_argument(
            "--timeout-seconds", type=_seconds, default=5.0, help="how late a 'timeout' answer comes"
        )
        parser.add_argument(
            "--retry-after", type=_seconds, default=0.2, help="seconds a 429 asks the client to wait"
        )
        parser.add_argument("--no-retry-after", action="store_true", help="a 429 does not say how long")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            faults = Faults.parse(options["faults"], seed=options["seed"])
        except ValueError as error:
            raise CommandError(f"--faults {error}") from None
        behaviour = Behaviour(
            faults=faults,
            latency=Latency(options["latency"], options["spread"], options["seed"]),
            limit=options["limit"],
            timeout=options["timeout_seconds"],
            retry_after=None if options["no_retry_after"] else options["retry_after"],
        )
        self.stdout.write(HONEST)
        self.stdout.flush()
        try:
            asyncio.run(self._serve(behaviour, options["host"], options["port"]))
        except OSError as error:
            raise CommandError(f"cannot listen on {options['host']}:{options['port']}: {error}") from None

    async def _serve(self, behaviour: Behaviour, host: str, port: int) -> None:
        server, stopped = ModelServer(ScriptedModel(), behaviour), asyncio.Event()
        for sign in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(sign, stopped.set)
        self.stdout.write(f"Listening on {await server.start(host, port)}")
        self.stdout.flush()
        await stopped.wait()
        await server.close()
        self.stdout.write(f"Stopped after {server.requests} requests.")


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return number
