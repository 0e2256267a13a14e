"""control_run: what an admin may do to a run, from the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation.domain.plans import BadPlan
from simulation.domain.run_states import NotPossible, RunEvent
from simulation.models import Run
from simulation.services import steering, terminal

EVENTS = {
    "pause": RunEvent.PAUSE,
    "resume": RunEvent.RESUME,
    "step": RunEvent.STEP,
    "stop": RunEvent.CANCEL,
}


class Command(BaseCommand):
    help = (
        "Pauses, resumes, goes one turn, stops, tries failed steps again, or sets new caps. The run is named"
        " by its id (the end of its address) or, where it is the only one, by its name."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN")
        parser.add_argument("act", choices=[*EVENTS, "retry", "caps"])
        parser.add_argument("--step", action="append", default=[], metavar="KEY", help="retry: only this one")
        parser.add_argument("--reason", default="", help="retry: only those that ended for this reason")
        parser.add_argument("--max-calls", type=int, help="caps")
        parser.add_argument("--max-tokens", type=int, help="caps")
        parser.add_argument("--max-cost", metavar="USD", help="caps; none: no cap in money")
        parser.add_argument("--soft-cost", metavar="USD", help="caps; none: no warning")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        run = terminal.run_named(options["run"])
        said: dict[str, Any] = {"run": run.public_id, "act": options["act"]}
        try:
            if options["act"] == "retry":
                steps, reason = options["step"], options["reason"]
                said["steps"] = steering.retry(by=None, run=run, steps=steps, reason=reason)
            elif options["act"] == "caps":
                steering.raise_caps(by=None, run=run, **_caps(run, options))
            else:
                steering.control(by=None, run=run, event=EVENTS[options["act"]])
        except (NotPossible, BadPlan) as refusal:
            raise CommandError(str(refusal), returncode=terminal.STOPPED) from None
        run.refresh_from_db()
        said |= {"state": run.state, "reason": run.reason}
        self.stdout.write(
            json.dumps(said)
            if options["json"]
            else "\n".join(f"{key:<7} {value}" for key, value in said.items())
        )


def _caps(run: Run, options: dict[str, Any]) -> dict[str, Any]:
    caps: dict[str, Any] = {
        name: getattr(run, name) if options[name] is None else options[name]
        for name in ("max_calls", "max_tokens")
    }
    for name in ("max_cost", "soft_cost"):
        option = f"--{name.replace('_', '-')}"
        caps[name] = terminal.money(option, options[name], default=getattr(run, name))
    return caps
