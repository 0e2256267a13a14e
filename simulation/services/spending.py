"""What may still be spent: the counters of a run and of the installation, and the one rule over them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.db.models import F

from simulation.domain.money import NANO, Limit, Room, room
from simulation.models import Run, Workspace
from simulation.selectors.prepared import prepared


class CapReached(Exception):
    """The next call would pass a cap; the message says which and what to do."""


class Crowded(Exception):
    """What is set aside for calls in flight leaves no room below a cap; most of it comes back with them."""


@dataclass(frozen=True)
class Counters:
    """A run's row, locked, as it is now."""

    state: str
    calls: int
    max_calls: int
    tokens: int
    tokens_held: int
    max_tokens: int
    cost: int
    cost_held: int
    max_cost: int | None


COUNTERS = ", ".join(field.name for field in fields(Counters))
LOCK = f"SELECT {COUNTERS} FROM simulation_run WHERE id = %s FOR NO KEY UPDATE"  # noqa: S608 - our own names


LOCK_RUN = "SELECT 1 FROM simulation_run WHERE id = %(run)s FOR NO KEY UPDATE"


def locked(run: Run) -> Counters:
    """The run's row, locked until the transaction ends."""
    with prepared() as cursor:
        cursor.execute(LOCK, [run.pk])
        row: Any = cursor.fetchone()
    if row is None:
        raise Run.DoesNotExist
    return Counters(*row)


def check(run: Counters, *, tokens: int, cost: int) -> None:
    """Raises Crowded or CapReached for the next call of a run."""
    calls = Limit(run.calls, 0, run.max_calls)
    of_tokens = Limit(run.tokens, run.tokens_held, run.max_tokens)
    money = Limit(run.cost, run.cost_held, run.max_cost)
    verdict = room([(calls, 1), (of_tokens, tokens), (money, cost)])
    if verdict is Room.FITS:
        return
    if verdict is Room.CROWDED:
        raise Crowded
    if calls.room_for(1) is Room.FULL:
        raise CapReached(
            f"The cap of {run.max_calls:,} calls is reached. Raise it and resume, or stop the run."
        )
    if of_tokens.room_for(tokens) is Room.FULL:
        raise CapReached(
            f"The next call may bring the tokens to {run.tokens + tokens:,}, above the cap of"
            f" {run.max_tokens:,}. Raise it and resume, or stop the run."
        )
    raise CapReached(
        f"The next call may bring the cost to {said(run.cost + cost)}, above the hard cap of"
        f" {said(run.max_cost or 0)}. Raise it and resume, or stop the run."
    )


def said(amount: int) -> str:
    """Nano-dollars for people, as $3.18; small amounts with more digits."""
    dollars = amount / NANO
    return f"${dollars:,.2f}" if dollars >= 1 or not amount else f"${max(dollars, 0.0001):.4f}"


def hold(cost: int) -> None:
    """Sets money aside in the installation's budget. Raises Crowded or CapReached."""
    row = Workspace.objects.select_for_update().filter(pk=Workspace.THE_ONE).first()
    if row is None:
        Workspace.objects.get_or_create(pk=Workspace.THE_ONE)
        row = Workspace.objects.select_for_update().get(pk=Workspace.THE_ONE)
    verdict = Limit(row.spent, row.held, row.hard_cap).room_for(cost)
    if verdict is Room.CROWDED:
        raise Crowded
    if verdict is Room.FULL:
        raise CapReached(
            f"The next call may bring the installation to {said(row.spent + cost)}, above its hard cap of"
            f" {said(row.hard_cap or 0)}. An admin can raise it on the page Budget; then resume."
        )
    Workspace.objects.filter(pk=row.pk).update(held=F("held") + cost)


def settle(*, held: int, cost: int) -> None:
    """In the installation's budget: what was set aside comes back, what was spent is spent."""
    if held or cost:
        Workspace.objects.filter(pk=Workspace.THE_ONE).update(held=F("held") - held, spent=F("spent") + cost)
