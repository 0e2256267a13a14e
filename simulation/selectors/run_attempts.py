"""The attempts of a call with what each took: waiting before it was sent, working until it came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulation.models import CallAttempt, ModelCall


@dataclass(frozen=True)
class Timed:
    """Seconds; `working` is None while the attempt is in flight."""

    attempt: CallAttempt
    waiting: float
    working: float | None


@dataclass(frozen=True)
class Attempts:
    rows: Sequence[Timed]

    @property
    def waited(self) -> float:
        return sum(one.waiting for one in self.rows)

    @property
    def worked(self) -> float:
        return sum(one.working or 0.0 for one in self.rows)


def timed(call: ModelCall) -> Attempts:
    """One query. The first attempt waits from when the call was opened, each further one from the end of the
    one before."""
    rows, free = [], call.created_at
    for attempt in call.attempts.order_by("id"):
        waiting = max(0.0, (attempt.sent_at - free).total_seconds())
        working = max(0.0, (attempt.ended_at - attempt.sent_at).total_seconds()) if attempt.ended_at else None
        rows.append(Timed(attempt, waiting, working))
        free = attempt.ended_at or attempt.sent_at
    return Attempts(rows)
