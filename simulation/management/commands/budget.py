"""budget: the installation's budget from the command line."""

import json
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from simulation.domain.money import dollars, nanos
from simulation.models import Workspace
from simulation.services import budget
from simulation.services.terminal import STOPPED

NONE = "none"


class Command(BaseCommand):
    help = (
        "Says what all runs have cost in this period and how far they may go, in US dollars; sets the caps or"
        " begins a new period. Exit status: 0 done, 1 the caps cannot be so, 2 wrong usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--soft", type=cap, metavar="USD", help="from here on pages warn; none: never")
        parser.add_argument("--hard", type=cap, metavar="USD", help="never passed; none: no such cap")
        parser.add_argument("--new-period", action="store_true", help="count what is spent anew from now on")
        parser.add_argument("--json", action="store_true", help="report in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        row = budget.workspace()
        if options["soft"] or options["hard"]:
            row = _set(row, options)
        if options["new_period"]:
            row = budget.begin_period(by=None)
        said = {
            "spent": _plain(row.spent),
            "set_aside": _plain(row.held),
            "soft_cap": _plain(row.soft_cap),
            "hard_cap": _plain(row.hard_cap),
            "counted_from": row.counted_from.isoformat(),
        }
        if options["json"]:
            self.stdout.write(json.dumps(said, indent=1))
            return
        for key, value in said.items():
            self.stdout.write(f"{key:<13} {NONE if value is None else value}")
        if row.hard_cap is not None and row.hard_cap < row.spent + row.held:
            self.stdout.write("The hard cap is below what is spent and set aside: no further call is begun.")


def cap(text: str) -> tuple[int | None]:
    """An amount of dollars in nano-dollars, or "none": wrapped, so that none can be told from not asked."""
    if text.strip().lower() == NONE:
        return (None,)
    try:
        return (nanos(Decimal(text)),)
    except InvalidOperation:
        raise ValueError(text) from None


def _set(row: Workspace, options: dict[str, Any]) -> Workspace:
    soft, hard = options["soft"] or (row.soft_cap,), options["hard"] or (row.hard_cap,)
    try:
        return budget.set_caps(by=None, soft_cap=soft[0], hard_cap=hard[0])
    except ValidationError as problems:
        said = "; ".join(f"{field}: {' '.join(words)}" for field, words in problems.message_dict.items())
        raise CommandError(f"The caps were not set. {said}", returncode=STOPPED) from None


def _plain(amount: int | None) -> str | None:
    """Dollars to the last digit, as text: no number of JSON is exact."""
    return None if amount is None else f"{dollars(amount).normalize():f}"
