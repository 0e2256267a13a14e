"""What the engine asks of a kind of run: how a step is done, and what is written when it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulation.domain.run_states import StepState
from simulation.models import Comment, Step
from simulation.services.claiming import Claim
from simulation.services.completions import Answered, Asker, Question


@dataclass(frozen=True)
class Outcome:
    """How a step ended: done with a result, or skipped with a reason that the page shows."""

    state: StepState = StepState.DONE
    result: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    detail: str = ""


class Work(Protocol):
    """What a kind of run does. Both may be called again for the same step, after a kill."""

    def perform(self, claim: Claim, asker: Asker) -> Outcome:
        """Asks the models. No transaction is open; nothing is written but the ledger."""
        ...

    def ends_alone(self, step: Step) -> bool:
        """Whether nothing is written or planned when such a step is done while others of its thread are
        open: `record` is not called then, and some such steps are asked in one go."""
        return False

    def questions(self, claims: Sequence[Claim]) -> list[Question | None]:
        """What steps of one thread ask that end alone; None for one that need not ask."""
        return [None for _ in claims]

    def outcome(self, answered: Answered) -> Outcome:
        """How a step ends that ends alone."""
        raise TypeError("no step of this work ends alone")

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        """Writes what came out and plans what follows (`plan`), inside the transaction that ends the step.

        The comment that was written, if one was. The run's row is locked.
        """
        ...
