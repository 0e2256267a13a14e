"""Carries a run out, one step at a time: claim, ask outside any transaction, write the result, go on.

Any number of workers do this at once, and any of them may be killed at any moment: the lease of the step it
held runs out, `sweep` gives the step back, and the ledger knows what was answered already.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Protocol
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from simulation.domain.run_states import (
    ENDED_RUNS,
    OPEN_RUNS,
    AttemptState,
    RunEvent,
    RunState,
    StepEvent,
    StepState,
    run_after,
    step_after,
)
from simulation.models import CallAttempt, Comment, Happening, Run, RunThread, Step
from simulation.selectors.workers import broker
from simulation.services import ledger
from simulation.services.completions import Asker, Halt, Later

MOST_FAULTS = 3
log = logging.getLogger("synthpai.runs")


@dataclass(frozen=True)
class Claim:
    """A step in this worker's hands until the lease runs out."""

    run: Run
    step: Step
    lease: UUID


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

    def record(self, claim: Claim, outcome: Outcome) -> Comment | None:
        """Writes what came out and plans what follows, inside the transaction that has just ended the step.

        The comment that was written, if one was. The run's row is locked.
        """
        ...


def tell(run: Run, text: str, level: str = "info") -> None:
    """One line of the run's story."""
    Happening.objects.create(run=run, text=text[:400], level=level)


def advance(*, run_id: int, work: Work) -> bool:
    """Does one step of a run, if there is one to do, and sees to it that somebody does the next.

    Whether there was one.
    """
    claim = _claim(run_id)
    if claim is None:
        return False
    _do(claim, work)
    return True


def _do(claim: Claim, work: Work) -> None:
    asker = Asker(claim.run, claim.step, claim.lease, partial(_renew, claim))
    messages = 1
    try:
        outcome = work.perform(claim, asker)
        messages = _complete(claim, outcome, work)
    except Later as later:
        _give_back(claim, later.seconds)
        wake(claim.run, messages=1, countdown=later.seconds)
        return
    except (Halt, ledger.CapReached) as stop:
        _give_back(claim, 0)
        _halt(claim.run, str(stop))
        return
    except ledger.NotRunning:
        _give_back(claim, 0)
        return
    except ledger.LeaseLost:
        log.warning("lease lost", extra={"step": claim.step.key})
        return
    except (OperationalError, InterfaceError, RedisError):  # a server is away; the sweep takes it up again
        log.warning("a server is away", extra={"step": claim.step.key})
        raise
    except Exception:  # a fault of ours has no name yet; three of them end the run, whatever they are
        log.exception("step %s broke", claim.step.key)
        _fault(claim)
    if messages:
        wake(claim.run, messages=messages)


@transaction.atomic
def _claim(run_id: int) -> Claim | None:
    run = (
        Run.objects.select_for_update(no_key=True, of=("self",))
        .select_related("provider", "corpus")
        .get(pk=run_id)
    )
    now = timezone.now()
    if run.state == RunState.QUEUED:
        move(run, RunEvent.START)
    if run.state != RunState.RUNNING or run.corpus.trashed_at is not None:
        return None
    if run.steps.filter(state=StepState.LEASED).count() >= run.parallel:
        return None
    ready = run.steps.filter(state=StepState.READY, due_at__lte=now).order_by("due_at", "id")
    step = ready.select_for_update(no_key=True, skip_locked=True, of=("self",)).first()
    if step is None:
        return None
    step.state = step_after(StepState(step.state), StepEvent.CLAIM)
    step.lease, step.leased_until = uuid4(), now + _lease()
    step.claims += 1
    step.save(update_fields=["state", "lease", "leased_until", "claims"])
    if step.claims > 1:
        ledger.settle_lost(run=run, attempts=CallAttempt.objects.filter(call__step=step))
    return Claim(run, step, step.lease)


def _lease() -> timedelta:
    return timedelta(seconds=settings.STEP_LEASE_SECONDS)


def _renew(claim: Claim) -> None:
    mine = Step.objects.filter(pk=claim.step.pk, lease=claim.lease)
    if not mine.update(leased_until=timezone.now() + _lease()):
        raise ledger.LeaseLost


def _locked(claim: Claim) -> tuple[Run, Step]:
    run = Run.objects.select_for_update(no_key=True).get(pk=claim.run.pk)
    return run, ledger.check_lease(step=claim.step, lease=claim.lease, run=run)


@transaction.atomic
def _complete(claim: Claim, outcome: Outcome, work: Work) -> int:
    """Ends the step. How many messages are due: one for each step that was planned, at least one while any
    step waits, so that as many hands stay at the run as there were."""
    run, step = _locked(claim)
    before = _ready(run)
    event = StepEvent.FINISH if outcome.state is StepState.DONE else StepEvent.SKIP
    _end(step, event, reason=outcome.reason, detail=outcome.detail)
    step.result = dict(outcome.result)
    step.save()
    if comment := work.record(claim, outcome):
        step.comment = comment
        step.save(update_fields=["comment"])
    _finish_if_over(run)
    ready = _ready(run)
    return max(ready - before, min(ready, 1))


def _ready(run: Run) -> int:
    """How many steps wait, counted no further than the run may have in work."""
    return run.steps.filter(state=StepState.READY)[: run.parallel].count()


def _end(step: Step, event: StepEvent, *, reason: str = "", detail: str = "") -> None:
    step.state = step_after(StepState(step.state), event)
    step.lease = step.leased_until = None
    step.reason, step.detail = reason[:40], detail
    step.finished_at = timezone.now() if event is not StepEvent.GIVE_BACK else None


def _finish_if_over(run: Run) -> None:
    if run.steps.filter(state__in=[StepState.READY, StepState.LEASED]).exists():
        return
    move(run, RunEvent.FINISH)
    tell(run, "Everything planned is done.", "ok")


@transaction.atomic
def _give_back(claim: Claim, seconds: float) -> None:
    try:
        _, step = _locked(claim)
    except ledger.LeaseLost:
        return
    _end(step, StepEvent.GIVE_BACK)
    step.due_at = timezone.now() + timedelta(seconds=seconds)
    step.save()


@transaction.atomic
def _fault(claim: Claim) -> None:
    """Our own code broke on a step: it is tried again, and after a few times the run fails."""
    try:
        run, step = _locked(claim)
    except ledger.LeaseLost:
        return
    step.faults += 1
    if step.faults < MOST_FAULTS:
        _end(step, StepEvent.GIVE_BACK)
        step.save()
        return
    _end(step, StepEvent.FAIL, reason="fault", detail="An error of ours; the server's log has the details.")
    step.save()
    end(
        run,
        RunEvent.FAIL,
        f"An error of ours stopped it at step {step.key}; what was written stays."
        " The server's log has the details: tell whoever runs this installation.",
    )


@transaction.atomic
def _halt(run: Run, reason: str) -> None:
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if locked.state == RunState.RUNNING:
        move(locked, RunEvent.HALT, reason)
        tell(locked, reason, "danger")


def move(run: Run, event: RunEvent, reason: str = "") -> None:
    """Changes the state of a run, whose row the caller has locked. Raises NotPossible."""
    run.state = run_after(RunState(run.state), event)
    run.reason = reason
    if event in (RunEvent.START, RunEvent.RESUME):
        run.resumed_at = timezone.now()
    if event in (RunEvent.FINISH, RunEvent.FAIL, RunEvent.CANCEL):
        run.ended_at = timezone.now()
    run.save(update_fields=["state", "reason", "resumed_at", "ended_at"])


def end(run: Run, event: RunEvent, reason: str) -> None:
    """Fails or cancels a run, whose row the caller has locked, and with it every open step."""
    move(run, event, reason)
    run.steps.filter(state__in=[StepState.READY, StepState.LEASED]).update(
        state=StepState.CANCELLED, lease=None, leased_until=None, finished_at=timezone.now()
    )
    unfinished = run.run_threads.filter(state__in=[RunThread.WAITING, RunThread.RUNNING])
    unfinished.filter(thread=None).update(state=RunThread.FAILED, reason=f"the run was {run.state}")
    unfinished.filter(thread__isnull=False).update(state=RunThread.PARTIAL, reason=f"the run was {run.state}")
    tell(run, reason, "danger" if event is RunEvent.FAIL else "warn")


def wake(run: Run, *, messages: int | None = None, countdown: float = 0) -> None:
    """Asks workers, once the transaction is over, to take up a run: one message for each step to be done.

    Where the broker is down nothing is lost: the sweep asks again.
    """
    transaction.on_commit(partial(_send, run.pk, run.kind, run.parallel, messages, countdown))


def _send(run_id: int, kind: str, parallel: int, messages: int | None, countdown: float) -> None:
    try:
        for _ in range(messages or _messages(run_id, parallel)):
            current_app.send_task(settings.RUN_TASKS[kind], args=[run_id], countdown=countdown or None)
    except (BrokerError, RedisError):
        log.warning("the broker does not answer; the sweep will ask again")


def _messages(run_id: int, parallel: int) -> int:
    """How many messages are missing: steps that could be begun, less what waits in the queue already.

    At least one where there is a step to do, so that a run keeps its pace beside others.
    """
    wanted = _wanted(run_id, parallel)
    return max(min(wanted, 1), wanted - int(broker().llen("llm"))) if wanted else 0


def _wanted(run_id: int, parallel: int) -> int:
    """How many steps could be begun now, at most as many as the run may have in work."""
    steps = Step.objects.filter(run=run_id)
    room = max(0, parallel - steps.filter(state=StepState.LEASED).count())
    return steps.filter(state=StepState.READY, due_at__lte=timezone.now())[:room].count()


def sweep() -> None:
    """Takes up what nobody is working on: steps whose worker is gone, runs whose message was lost."""
    _settle_ended()
    for run in Run.objects.filter(state__in=OPEN_RUNS).order_by("id"):
        if _give_back_expired(run) and run.state in (RunState.QUEUED, RunState.RUNNING):
            _send(run.pk, run.kind, run.parallel, None, 0)


@transaction.atomic
def _settle_ended() -> None:
    """Calls of ended runs that no answer came for in good time: their worker is gone as well."""
    sent = CallAttempt.objects.filter(state=AttemptState.SENT, call__run__state__in=ENDED_RUNS)
    ended = Run.objects.filter(pk__in=set(sent.values_list("call__run", flat=True)))
    free = ended.select_for_update(no_key=True, skip_locked=True, of=("self",))
    for run in free.select_related("provider").order_by("pk"):
        patience = timedelta(seconds=run.provider.timeout_seconds) + _lease()
        ledger.settle_lost(
            run=run, attempts=sent.filter(call__run=run, sent_at__lt=timezone.now() - patience)
        )


@transaction.atomic
def _give_back_expired(run: Run) -> bool:
    """Frees the steps whose lease ran out. False, and nothing done, where somebody holds the run's row: a
    worker that hangs with it must not keep the sweep from other runs, and the next sweep comes soon."""
    if not Run.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=run.pk).first():
        return False
    now = timezone.now()
    expired = run.steps.filter(state=StepState.LEASED, leased_until__lt=now)
    count = expired.update(state=StepState.READY, lease=None, leased_until=None, due_at=now)
    if count:
        tell(run, f"The worker of {count} step{'s' if count > 1 else ''} is gone; taken up again.", "warn")
    return True
