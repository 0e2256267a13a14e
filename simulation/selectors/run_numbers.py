"""The numbers of a run, counted from rows by the database: a fixed number of queries, all on an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, OuterRef, Sum

from simulation.domain.run_states import ENDED_STEPS, AttemptState, CallState, StepState
from simulation.models import CallAttempt, ModelCall, Run, Step

WRITING = ("topic", "turn")
"""Steps that write a comment."""
TROUBLED = (
    AttemptState.RATE_LIMITED,
    AttemptState.TRANSIENT,
    AttemptState.QUOTA,
    AttemptState.PERMANENT,
    AttemptState.LOST,
)
Tally = Mapping[str, Mapping[str, int]]
"""Kind of step -> state -> how many."""


@dataclass(frozen=True)
class Trouble:
    """Attempts of one run that came to the same kind of trouble."""

    state: AttemptState
    count: int
    waited: float
    last_id: int


@dataclass(frozen=True)
class Numbers:
    """What a run did so far."""

    tally: Tally
    calls: Mapping[str, int]
    """State of a call -> how many."""
    retries: int
    """Attempts beyond the first of their call."""
    troubles: Sequence[Trouble]

    def steps(self, *states: StepState, kinds: Sequence[str] | None = None) -> int:
        """How many steps are in one of `states` (none given: in any)."""
        chosen = kinds if kinds is not None else list(self.tally)
        return sum(
            n
            for kind in chosen
            for state, n in self.tally.get(kind, {}).items()
            if not states or state in states
        )

    @property
    def known(self) -> int:
        return self.steps()

    @property
    def ended(self) -> int:
        return self.steps(*ENDED_STEPS)

    @property
    def in_work(self) -> int:
        return self.steps(StepState.LEASED)

    @property
    def waiting(self) -> int:
        return self.steps(StepState.READY)

    @property
    def skipped(self) -> int:
        return self.steps(StepState.SKIPPED)

    @property
    def failed(self) -> int:
        return self.steps(StepState.FAILED)

    @property
    def written(self) -> int:
        """Comments that the run wrote."""
        return self.steps(StepState.DONE, kinds=WRITING)

    @property
    def turns(self) -> int:
        """Replies that the run wrote."""
        return self.steps(StepState.DONE, kinds=("turn",))

    @property
    def done(self) -> int:
        return self.steps(StepState.DONE)

    @property
    def tagged(self) -> int:
        return self.steps(StepState.DONE, kinds=("tag",))

    @property
    def in_flight(self) -> int:
        """Calls that were sent and not answered yet."""
        return self.calls.get(CallState.LEASED, 0)

    @property
    def refused(self) -> int:
        return self.calls.get(CallState.REFUSED, 0)

    @property
    def unreadable(self) -> int:
        return self.calls.get(CallState.INVALID, 0)

    @property
    def cut(self) -> int:
        return self.calls.get(CallState.TRUNCATED, 0)

    @property
    def rejected(self) -> int:
        return self.calls.get(CallState.FAILED, 0)

    @property
    def lost(self) -> int:
        """Answers that could not be used, and steps that came to nothing."""
        return self.unreadable + self.cut + self.rejected + self.skipped + self.failed

    @property
    def waited(self) -> float:
        """Seconds between attempts, added up over all calls."""
        return sum(trouble.waited for trouble in self.troubles)


def numbers(run: Run) -> Numbers:
    """Four queries: steps by kind and state, calls by state, those never sent, attempts by trouble."""
    tally: dict[str, Counter[str]] = {}
    steps = Step.objects.filter(run=run).order_by()
    for kind, state, n in steps.values_list("kind", "state").annotate(n=Count("pk")):
        tally.setdefault(kind, Counter())[state] = n
    of_run = ModelCall.objects.filter(run=run).order_by()
    calls = Counter(dict(of_run.values_list("state").annotate(n=Count("pk"))))
    sent = CallAttempt.objects.filter(call=OuterRef("pk"))
    unsent = of_run.filter(~Exists(sent), state=CallState.QUEUED).count()
    return Numbers(
        tally=tally,
        calls=calls,
        retries=max(0, run.calls - (calls.total() - unsent)),
        troubles=_troubles(run),
    )


def _troubles(run: Run) -> list[Trouble]:
    attempts = CallAttempt.objects.filter(call__run=run, state__in=TROUBLED).order_by()
    groups = attempts.values("state").annotate(n=Count("pk"), waited=Sum("wait"), last_id=Max("pk"))
    return [
        Trouble(AttemptState(group["state"]), group["n"], group["waited"] or 0.0, group["last_id"])
        for group in groups.order_by("-last_id")
    ]
