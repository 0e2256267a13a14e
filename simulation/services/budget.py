"""The budget of the whole installation: its caps, and since when its spending is counted."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from simulation.domain.money import MOST_NANO
from simulation.models import User, Workspace
from simulation.services import audit


@dataclass(frozen=True)
class Installation:
    """What the audit log calls the one row."""

    public_id: str = "budget"


def workspace() -> Workspace:
    """The row of the installation, made at its first use."""
    return Workspace.objects.get_or_create(pk=Workspace.THE_ONE)[0]


def _locked() -> Workspace:
    """The same, locked. Nothing is asked of another row's lock while this one is held."""
    workspace()
    return Workspace.objects.select_for_update(no_key=True).get(pk=Workspace.THE_ONE)


@transaction.atomic
def set_caps(*, by: User | None, soft_cap: int | None, hard_cap: int | None) -> Workspace:
    """New caps in nano-dollars; None: none. Raises ValidationError, field by field.

    A hard cap below what is spent and set aside is allowed: no further call is begun then.
    """
    problems = {
        name: "From 0 to 9,000,000,000 dollars, or nothing for no cap."
        for name, cap in (("soft_cap", soft_cap), ("hard_cap", hard_cap))
        if cap is not None and not 0 <= cap <= MOST_NANO
    }
    if not problems and soft_cap is not None and hard_cap is not None and soft_cap > hard_cap:
        problems["soft_cap"] = "It warns before the hard cap stops: it cannot be above it."
    if problems:
        raise ValidationError(problems)
    row = _locked()
    row.soft_cap, row.hard_cap = soft_cap, hard_cap
    row.save(update_fields=["soft_cap", "hard_cap"])
    audit.record(
        by=by,
        action="budget.caps_set",
        target=Installation(),
        details={"soft_cap": soft_cap, "hard_cap": hard_cap},
    )
    return row


@transaction.atomic
def begin_period(*, by: User | None) -> Workspace:
    """Spending is counted anew from now on. What is set aside stays so: those calls end in the new period."""
    row = _locked()
    former = row.spent
    row.spent, row.counted_from = 0, timezone.now()
    row.save(update_fields=["spent", "counted_from"])
    audit.record(by=by, action="budget.period_begun", target=Installation(), details={"spent": former})
    return row
