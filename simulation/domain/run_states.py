"""What state a run, a step and a call may be in, and the one function that says what comes next.

A cancelled run is final. What is done or failed can be taken up again for the steps that ended without a
result; a step that is done, and a call that has its reply, are final.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar


class RunState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    """By a person; what is in flight finishes, nothing new begins."""
    HALTED = "halted"
    """By trouble: a cap, the provider's refusal of our key, an outage. The reason says what to do."""
    DONE = "done"
    FAILED = "failed"
    """By a fault of ours."""
    CANCELLED = "cancelled"


class RunEvent(StrEnum):
    START = "start"
    PAUSE = "pause"
    HALT = "halt"
    RESUME = "resume"
    STEP = "step"
    """Resumed for one turn; then it pauses again."""
    RETRY = "retry"
    """Steps that ended without a result are ready again."""
    FINISH = "finish"
    FAIL = "fail"
    CANCEL = "cancel"


class StepState(StrEnum):
    READY = "ready"
    LEASED = "leased"
    DONE = "done"
    SKIPPED = "skipped"
    """Came to an end without a result, with a reason; the run goes on."""
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepEvent(StrEnum):
    CLAIM = "claim"
    GIVE_BACK = "give_back"
    """Wait and try again, or the worker is gone."""
    FINISH = "finish"
    SKIP = "skip"
    FAIL = "fail"
    CANCEL = "cancel"
    RETRY = "retry"


class CallState(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    INVALID = "invalid"
    """Answered, but the answer could not be read."""
    FAILED = "failed"


class AttemptState(StrEnum):
    SENT = "sent"
    ANSWERED = "answered"
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    QUOTA = "quota"
    PERMANENT = "permanent"
    LOST = "lost"
    """In flight when its worker ended: may have been answered and billed, nobody knows."""


OPEN_RUNS = (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED, RunState.HALTED)
ENDED_RUNS = (RunState.DONE, RunState.FAILED, RunState.CANCELLED)
ENDED_STEPS = (StepState.DONE, StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED)
ENDED_CALLS = (
    CallState.DONE,
    CallState.REFUSED,
    CallState.TRUNCATED,
    CallState.INVALID,
    CallState.FAILED,
)

_RUNS = {
    (RunState.QUEUED, RunEvent.START): RunState.RUNNING,
    (RunState.RUNNING, RunEvent.PAUSE): RunState.PAUSED,
    (RunState.RUNNING, RunEvent.HALT): RunState.HALTED,
    (RunState.PAUSED, RunEvent.RESUME): RunState.RUNNING,
    (RunState.HALTED, RunEvent.RESUME): RunState.RUNNING,
    (RunState.PAUSED, RunEvent.STEP): RunState.RUNNING,
    (RunState.HALTED, RunEvent.STEP): RunState.RUNNING,
    **{
        (state, RunEvent.RETRY): RunState.RUNNING
        for state in (RunState.RUNNING, RunState.PAUSED, RunState.HALTED, RunState.DONE, RunState.FAILED)
    },
    (RunState.RUNNING, RunEvent.FINISH): RunState.DONE,
    (RunState.PAUSED, RunEvent.FINISH): RunState.DONE,
    (RunState.HALTED, RunEvent.FINISH): RunState.DONE,
    **{(state, RunEvent.FAIL): RunState.FAILED for state in OPEN_RUNS},
    **{(state, RunEvent.CANCEL): RunState.CANCELLED for state in OPEN_RUNS},
}
_STEPS = {
    (StepState.READY, StepEvent.CLAIM): StepState.LEASED,
    (StepState.LEASED, StepEvent.GIVE_BACK): StepState.READY,
    (StepState.LEASED, StepEvent.FINISH): StepState.DONE,
    (StepState.LEASED, StepEvent.SKIP): StepState.SKIPPED,
    (StepState.LEASED, StepEvent.FAIL): StepState.FAILED,
    (StepState.READY, StepEvent.CANCEL): StepState.CANCELLED,
    (StepState.LEASED, StepEvent.CANCEL): StepState.CANCELLED,
    **{
        (state, StepEvent.RETRY): StepState.READY
        for state in (StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED)
    },
}

State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)


class NotPossible(Exception):
    """An event that cannot happen in this state; the message is fit for the person who asked for it."""


def run_after(state: RunState, event: RunEvent) -> RunState:
    """The state of a run after `event`. Raises NotPossible for a pair that has no meaning."""
    return _after(_RUNS, state, event, "run")


def step_after(state: StepState, event: StepEvent) -> StepState:
    """The state of a step after `event`. Raises NotPossible for a pair that has no meaning."""
    return _after(_STEPS, state, event, "step")


def _after(table: dict[tuple[State, Event], State], state: State, event: Event, what: str) -> State:
    try:
        return table[state, event]
    except KeyError:
        raise NotPossible(f"A {what} that is {state.value} cannot {event.value.replace('_', ' ')}.") from None
