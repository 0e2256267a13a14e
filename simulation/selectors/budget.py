"""The budget of the installation as pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from simulation.domain.roles import Right
from simulation.models import User, Workspace
from simulation.selectors.access import rights_of


@dataclass(frozen=True)
class Notice:
    """The installation has passed its soft cap. Nano-dollars; `is_full`: no call fits below the hard cap."""

    spent: int
    held: int
    soft_cap: int | None
    hard_cap: int | None
    counted_from: datetime
    is_full: bool


def notice(person: User) -> Notice | None:
    """What those who see runs are told about the budget: None while it is below its soft cap. One query."""
    if Right.SEE_RUNS not in rights_of(person):
        return None
    row = Workspace.objects.filter(pk=Workspace.THE_ONE).first()
    if row is None:
        return None
    soft = row.soft_cap is not None and row.spent >= row.soft_cap
    hard = row.hard_cap is not None and row.spent >= row.hard_cap
    if not soft and not hard:
        return None
    return Notice(row.spent, row.held, row.soft_cap, row.hard_cap, row.counted_from, hard)
