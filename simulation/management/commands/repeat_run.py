"""repeat_run: replay a run from the ledger, run its plan again, or fork one of its threads."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.plans import BadPlan
from simulation.models import Run
from simulation.selectors.progress import corpus_digest, run_digest
from simulation.services import descending, terminal
from simulation.services.runs import LARGEST_SEED
from simulation.services.simulating import Simulation

LARGEST_NUMBER = 10**9
"""Of a thread or a turn; how many there are says the run."""


class Command(BaseCommand):
    help = (
        "replay: the same threads from the ledger, in a new corpus, without a call; again: the same plan with"
        " other answers; fork: one thread, copied up to a turn and written on. Exit status as run_simulation."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("how", choices=["replay", "again", "fork"])
        parser.add_argument("run", metavar="RUN", help="its id (the end of its address), or its name")
        parser.add_argument(
            "--corpus", help="replay: name of the new corpus; default: that of the run, replay"
        )
        parser.add_argument("--thread", type=int, default=1, help="fork: number of the thread (1)")
        parser.add_argument(
            "--turn", type=int, default=0, help="fork: the last turn that is copied (0: the post)"
        )
        parser.add_argument(
            "--seed", type=int, help="fork: who answers whom from there on; default: as in the run"
        )
        parser.add_argument("--name", help="fork: name of the new run")
        parser.add_argument("--max-calls", type=int, help="default: as the run")
        parser.add_argument("--max-tokens", type=int, help="default: as the run")
        parser.add_argument("--max-cost", metavar="USD", help="default: as the run; none: no cap in money")
        parser.add_argument("--here", type=int, metavar="THREADS", help="do it in this process")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        source = terminal.run_named(options["run"])
        try:
            made = _made(source, options)
        except (BadPlan, ValueError) as problem:
            raise CommandError(str(problem), returncode=terminal.USAGE) from None
        ended = terminal.see_through(made, Simulation(), options, unit="steps")
        counts = {
            "origin": ended.origin,
            "comments": ended.corpus.comments.filter(thread__run_thread__run=ended).count(),
            "corpus_digest": corpus_digest(ended.corpus),
            "run_digest": run_digest(ended),
            "source_digest": run_digest(source),
        }
        terminal.report(self, ended, counts, as_json=options["json"])


def _made(source: Run, options: dict[str, Any]) -> Run:
    if options["how"] == "replay":
        name = options["corpus"] or f"{source.corpus.name[:68]}, replay"
        return descending.replay(by=None, run=source, corpus_name=name)
    _require(options)
    caps: dict[str, Any] = {
        "max_calls": source.max_calls if options["max_calls"] is None else options["max_calls"],
        "max_tokens": source.max_tokens if options["max_tokens"] is None else options["max_tokens"],
        "max_cost": terminal.money("--max-cost", options["max_cost"], default=source.max_cost),
        "soft_cost": None,
    }
    if options["how"] == "again":
        return descending.rerun(by=None, run=source, **caps)
    return descending.fork(
        by=None,
        run=source,
        thread=options["thread"] - 1,
        turn=options["turn"],
        seed=options["seed"],
        name=options["name"] or f"{source.name[:60]}, fork of thread {options['thread']}",
        **caps,
    )


def _require(options: dict[str, Any]) -> None:
    """Raises CommandError (status 2) naming the first option out of its range."""
    ranges = {"thread": (1, LARGEST_NUMBER), "turn": (0, LARGEST_NUMBER), "seed": (0, LARGEST_SEED)}
    for name, (least, most) in ranges.items():
        if options[name] is not None and not least <= options[name] <= most:
            raise CommandError(
                f"--{name} {options[name]}: a whole number from {least} to {most:,}.",
                returncode=terminal.USAGE,
            )
