"""What a person may do to a run: pause, resume, go one turn, stop, try again, raise its caps."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from simulation.domain.plans import BadPlan
from simulation.domain.run_states import OPEN_RUNS, NotPossible, RunEvent, RunState, StepState
from simulation.models import Run, RunThread, Step, User
from simulation.services import audit, engine, spending
from simulation.services.runs import check_caps, check_money

SAID = {
    RunEvent.PAUSE: "Paused: what is in flight finishes, nothing new begins.",
    RunEvent.RESUME: "Resumed.",
    RunEvent.STEP: "Resumed for one turn.",
    RunEvent.CANCEL: "Stopped. What was written stays.",
}
ENDED_BADLY = (StepState.SKIPPED, StepState.FAILED, StepState.CANCELLED)
NO_HELP = "withdrawn"
"""A reason that another try does not take away."""


@transaction.atomic
def control(*, by: User | None, run: Run, event: RunEvent) -> Run:
    """Pauses, resumes, resumes for one turn, or stops for good (cancel).

    Raises NotPossible where the run's state does not allow it.
    """
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if event is RunEvent.CANCEL:
        engine.end(locked, event, SAID[event])
    else:
        engine.move(locked, event)
        engine.tell(locked, SAID[event])
    audit.record(by=by, action=f"run.{event.value}", target=locked, corpus=locked.corpus)
    if event in (RunEvent.RESUME, RunEvent.STEP):
        locked.steps.filter(state="ready", due_at__gt=timezone.now()).update(due_at=timezone.now())
        engine.wake(locked)
    return locked


@transaction.atomic
def raise_caps(
    *,
    by: User | None,
    run: Run,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
) -> Run:
    """New caps, money in nano-dollars (None: no cap). Raises BadPlan for one below what is spent."""
    check_caps(max_calls, max_tokens)
    check_money(soft_cost, max_cost)
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if max_calls < locked.calls:
        raise BadPlan("max_calls", f"{locked.calls:,} calls have been made already.")
    if max_tokens < (taken := locked.tokens + locked.tokens_held):
        raise BadPlan("max_tokens", f"{taken:,} tokens have been spent or set aside already.")
    if max_cost is not None and max_cost < (taken := locked.cost + locked.cost_held):
        raise BadPlan("max_cost", f"{spending.said(taken)} have been spent or set aside already.")
    locked.max_calls, locked.max_tokens = max_calls, max_tokens
    locked.soft_cost, locked.max_cost = soft_cost, max_cost
    if soft_cost is None or soft_cost > locked.cost:
        locked.warned_at = None
    locked.save(update_fields=["max_calls", "max_tokens", "soft_cost", "max_cost", "warned_at"])
    caps = {"max_calls": max_calls, "max_tokens": max_tokens, "max_cost": max_cost, "soft_cost": soft_cost}
    audit.record(by=by, action="run.caps_set", target=locked, corpus=locked.corpus, details=caps)
    money = "no cap in money" if max_cost is None else f"{spending.said(max_cost)}"
    engine.tell(locked, f"Caps set to {max_calls:,} calls, {max_tokens:,} tokens, {money}.")
    engine.touch(locked)
    return locked


def retryable(run: Run) -> QuerySet[Step]:
    """The steps that ended without a result and may be tried again, in threads that are over.

    So what comes late is written behind everything else, and a replay can do it in the same order. Interest
    checks are not among them once turns of their thread have begun: another agent would change who is asked
    when. Nor is what answered a withdrawn comment.
    """
    turns = Step.objects.filter(run_thread=OuterRef("run_thread"), kind="turn")
    ended = run.steps.filter(state__in=ENDED_BADLY).exclude(reason=NO_HELP)
    ended = ended.exclude(run_thread__state__in=[RunThread.WAITING, RunThread.RUNNING])
    return ended.filter(~Q(kind="interest") | ~Exists(turns))


@transaction.atomic
def retry(*, by: User | None, run: Run, steps: Sequence[str] = (), reason: str = "") -> int:
    """Makes steps that ended without a result ready again: those of the given keys, of one reason, or all.

    How many. Each asks anew, with another seed; the calls made before stay in the ledger. A reply that comes
    late stands where its turn was planned, behind what was written meanwhile. Raises NotPossible for a run
    that was stopped, and where no such step is left.
    """
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if locked.state == RunState.CANCELLED:
        raise NotPossible("A run that was stopped cannot be taken up again.")
    if locked.origin == Run.REPLAY:
        raise NotPossible("A replay repeats what was; try the steps of the replayed run again.")
    chosen = retryable(locked)
    if steps:
        chosen = chosen.filter(key__in=steps)
    if reason:
        chosen = chosen.filter(reason=reason)
    found = list(chosen.values_list("pk", "run_thread"))
    if not found:
        raise NotPossible("There is no step that could be tried again.")
    _make_ready(locked, [pk for pk, _ in found])
    RunThread.objects.filter(pk__in={thread for _, thread in found if thread}).update(
        state=RunThread.RUNNING, reason=""
    )
    _share_caps(locked)
    engine.move(locked, RunEvent.RETRY)
    engine.tell(locked, f"{len(found)} step{'s' if len(found) > 1 else ''} will be tried again.")
    audit.record(
        by=by, action="run.retried", target=locked, corpus=locked.corpus, details={"steps": len(found)}
    )
    engine.wake(locked)
    return len(found)


READY = """
UPDATE simulation_step SET state = 'ready', tries = tries + 1, faults = 0, reason = '', detail = '',
  finished_at = NULL, due_at = %(now)s, asks = jsonb_set(asks, '{batches}',
    COALESCE(asks -> 'batches', '[]') || to_jsonb(1 + (
      SELECT COALESCE(max((asks -> 'batches' ->> -1)::int), 0) FROM simulation_step WHERE run_id = %(run)s)))
WHERE id = ANY(%(steps)s)
"""


def _make_ready(run: Run, steps: list[int]) -> None:
    """The steps are ready again, and remember as which batch: a replay takes them up together, as here."""
    with connection.cursor() as cursor:
        cursor.execute(READY, {"now": timezone.now(), "run": run.pk, "steps": steps})


def _share_caps(run: Run) -> None:
    """A run's caps hold for it and for what followed it: what those were given, or have spent, is not this
    run's to spend again. A follower that is over gives back what it did not need."""
    given = _given(run)
    if given is None:
        return
    calls, tokens, cost = given
    run.max_calls = max(run.calls, run.max_calls - calls)
    run.max_tokens = max(run.tokens, run.max_tokens - tokens)
    if run.max_cost is not None:
        run.max_cost = max(run.cost, run.max_cost - cost)
    run.save(update_fields=["max_calls", "max_tokens", "max_cost"])
    engine.tell(run, "Its caps are less what the runs that followed it were given or have spent.", "warn")


def _given(run: Run) -> tuple[int, int, int] | None:
    """Calls, tokens, nano-dollars that those who follow a run may spend, or have spent; None: nobody does."""
    follower = run.followers.select_for_update(no_key=True).first()
    if follower is None:
        return None
    if follower.state in OPEN_RUNS:
        return follower.max_calls, follower.max_tokens, follower.max_cost or follower.cost
    later = _given(follower) or (0, 0, 0)
    spent = (follower.calls + later[0], follower.tokens + later[1], follower.cost + later[2])
    follower.max_calls, follower.max_tokens = max(1, follower.calls), max(1, follower.tokens)
    if follower.max_cost is not None:
        follower.max_cost = follower.cost
    follower.save(update_fields=["max_calls", "max_tokens", "max_cost"])
    return spent
