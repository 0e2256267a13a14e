"""Every state and every event of runs and steps: what follows, or that it cannot be."""

from itertools import product

import pytest

from simulation.domain.run_states import (
    ENDED_RUNS,
    ENDED_STEPS,
    NotPossible,
    RunEvent,
    RunState,
    StepEvent,
    StepState,
    run_after,
    step_after,
)

R, E = RunState, RunEvent
RUNS = {
    (R.QUEUED, E.START): R.RUNNING,
    (R.QUEUED, E.FAIL): R.FAILED,
    (R.QUEUED, E.CANCEL): R.CANCELLED,
    (R.RUNNING, E.PAUSE): R.PAUSED,
    (R.RUNNING, E.HALT): R.HALTED,
    (R.RUNNING, E.FINISH): R.DONE,
    (R.RUNNING, E.FAIL): R.FAILED,
    (R.RUNNING, E.CANCEL): R.CANCELLED,
    (R.PAUSED, E.RESUME): R.RUNNING,
    (R.PAUSED, E.FINISH): R.DONE,
    (R.PAUSED, E.FAIL): R.FAILED,
    (R.PAUSED, E.CANCEL): R.CANCELLED,
    (R.HALTED, E.RESUME): R.RUNNING,
    (R.HALTED, E.FINISH): R.DONE,
    (R.HALTED, E.FAIL): R.FAILED,
    (R.HALTED, E.CANCEL): R.CANCELLED,
    (R.PAUSED, E.STEP): R.RUNNING,
    (R.HALTED, E.STEP): R.RUNNING,
    (R.RUNNING, E.RETRY): R.RUNNING,
    (R.PAUSED, E.RETRY): R.RUNNING,
    (R.HALTED, E.RETRY): R.RUNNING,
    (R.DONE, E.RETRY): R.RUNNING,
    (R.FAILED, E.RETRY): R.RUNNING,
}
S, T = StepState, StepEvent
STEPS = {
    (S.READY, T.CLAIM): S.LEASED,
    (S.READY, T.CANCEL): S.CANCELLED,
    (S.LEASED, T.GIVE_BACK): S.READY,
    (S.LEASED, T.FINISH): S.DONE,
    (S.LEASED, T.SKIP): S.SKIPPED,
    (S.LEASED, T.FAIL): S.FAILED,
    (S.LEASED, T.CANCEL): S.CANCELLED,
    (S.SKIPPED, T.RETRY): S.READY,
    (S.FAILED, T.RETRY): S.READY,
    (S.CANCELLED, T.RETRY): S.READY,
}


@pytest.mark.parametrize(("state", "event"), list(product(RunState, RunEvent)))
def test_every_event_of_a_run(state, event):
    if (state, event) in RUNS:
        assert run_after(state, event) is RUNS[state, event]
    else:
        with pytest.raises(NotPossible, match=f"run that is {state.value} cannot"):
            run_after(state, event)


@pytest.mark.parametrize(("state", "event"), list(product(StepState, StepEvent)))
def test_every_event_of_a_step(state, event):
    if (state, event) in STEPS:
        assert step_after(state, event) is STEPS[state, event]
    else:
        with pytest.raises(NotPossible, match=f"step that is {state.value} cannot"):
            step_after(state, event)


def test_what_has_ended_stays_as_it_is_unless_it_is_tried_again():
    assert {event for state, event in RUNS if state in ENDED_RUNS} == {E.RETRY}
    assert {event for state, event in STEPS if state in ENDED_STEPS} == {T.RETRY}
    assert not [state for state, _ in RUNS if state is R.CANCELLED]
    assert not [state for state, _ in STEPS if state is S.DONE]
