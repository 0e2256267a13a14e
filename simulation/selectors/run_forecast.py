"""What a run under way will still cost and take, from its own calls so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.core.cache import cache
from django.db.models import Count

from simulation.domain.dry_run import PerCall, Task, rule_of_thumb, seconds
from simulation.domain.parameters import Parameters
from simulation.domain.plans import Range, comments_per_agent, expected_calls
from simulation.domain.run_states import ENDED_RUNS, ENDED_STEPS, StepState
from simulation.models import Run, RunThread, Step
from simulation.selectors import past_calls

FRESH_SECONDS = 10
"""How long a forecast is shown to all who watch: it costs some queries, and moves slowly."""
ENOUGH_ANSWERS = 20
"""Interest checks from which on the share that joins is the run's own."""
OWN_SPREAD = (0.8, 1.2)
"""Fewest and most turns around what that share leads to."""
ASKED_AGAIN = 1.2
"""Calls a step at most, where all steps are known: one in five answers has to be asked for once more."""
OPEN_THREADS = (RunThread.WAITING, RunThread.RUNNING)


@dataclass(frozen=True)
class Left:
    """Nano-dollars and seconds until the end of the run, fewest and most that are likely."""

    cost_low: int
    cost_high: int
    seconds_low: float
    seconds_high: float


def left(run: Run, *, lane_limit: int | None = None) -> Left | None:
    """None before the first call has come back and after the end. Kept for some seconds for every reader.

    `lane_limit`: how many calls the run's lane allows at once, where that is known.
    """
    if run.state in ENDED_RUNS:
        return None
    key = f"run-forecast:{run.public_id}:{lane_limit}"
    if (known := cache.get(key)) is None:
        known = (counted(run, lane_limit=lane_limit),)
        cache.set(key, known, FRESH_SECONDS)
    forecast: Left | None = known[0]
    return forecast


def counted(run: Run, *, lane_limit: int | None = None) -> Left | None:
    """The forecast as of now: four queries, each on an index."""
    known = _by_purpose(past_calls.of_run(run.pk))
    if not known:
        return None
    states = RunThread.objects.filter(run=run).order_by().values_list("state").annotate(n=Count("pk"))
    by_state = Counter(dict(states))
    open_threads = sum(by_state[state] for state in OPEN_THREADS)
    share = open_threads / by_state.total() if by_state else 0.0
    tasks = []
    for purpose, calls in _calls_left(run, share).items():
        tasks.append(
            Task(
                purpose=purpose,
                model="",
                provider="",
                provider_name="",
                calls=calls,
                per_call=known.get(purpose) or _guessed(purpose, known.values()),
                price=None,
                width=min(run.parallel, lane_limit or run.parallel),
            )
        )
    low, high = seconds(tasks, threads=open_threads)
    return Left(
        cost_low=round(sum(task.calls.low * task.per_call.cost for task in tasks)),
        cost_high=round(sum(task.calls.high * task.per_call.cost_p95 for task in tasks)),
        seconds_low=low,
        seconds_high=high,
    )


def _by_purpose(found: Mapping[past_calls.Key, PerCall]) -> dict[str, PerCall]:
    """One for each purpose; of several models the one that was asked most."""
    most: dict[str, PerCall] = {}
    for (_, _, purpose), one in found.items():
        if purpose not in most or most[purpose].n < one.n:
            most[purpose] = one
    return most


def _guessed(purpose: str, known: Iterable[PerCall]) -> PerCall:
    """For a purpose that has not been asked yet: usual tokens at what a token has cost so far."""
    one = rule_of_thumb(purpose)
    others = list(known)
    tokens = sum(other.n * (other.input + other.output) for other in others)
    rate = sum(other.n * other.cost for other in others) / tokens if tokens else 0.0
    return replace(
        one, cost=rate * (one.input + one.output), cost_p95=rate * (one.input_p95 + one.output_p95)
    )


def _calls_left(run: Run, share: float) -> dict[str, Range]:
    """Calls by purpose: the steps that are known to wait, and of a simulation those still to be planned.

    `share` of its threads are open: no more is left than their share of the whole.
    """
    ended: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    steps = Step.objects.filter(run=run).order_by()
    for kind, state, n in steps.values_list("kind", "state").annotate(n=Count("pk")):
        if state in ENDED_STEPS:
            ended[kind] += n
        elif state in (StepState.READY, StepState.LEASED):
            waiting[kind] += n
    calls = {kind: Range(n, round(n * ASKED_AGAIN)) for kind, n in waiting.items()}
    if run.kind != Run.SIMULATE or not run.plan.get("targets"):
        return calls
    for kind, whole in _planned(run, ended).items():
        known = calls.get(kind, Range(0, 0))
        low, high = (min(most - ended[kind], round(most * share)) for most in (whole.low, whole.high))
        calls[kind] = Range(max(known.low, low), max(known.high, high))
    return calls


def _planned(run: Run, ended: Counter[str]) -> dict[str, Range]:
    """Calls of the whole simulation. Turns follow from who joined so far, once enough were asked."""
    targets, profiles = run.plan["targets"], len(run.plan["profiles"])
    parameters = Parameters.from_dict(run.plan["parameters"])
    whole = expected_calls(targets=targets, profiles=profiles, parameters=parameters, then_tag=False)
    whole.pop("topic", None)  # every post is a step from the start
    if ended["interest"] >= ENOUGH_ANSWERS:
        asked = Step.objects.filter(run=run, kind="interest")
        joined = asked.filter(state=StepState.DONE, result__interested=True).count()
        agents = whole["interest"].high * joined / ended["interest"]
        turns = agents * comments_per_agent(parameters)
        whole["turn"] = Range(*(round(turns * factor) for factor in OWN_SPREAD))
    return whole
