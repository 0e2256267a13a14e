"""Carries a run out, one step at a time: claim, ask outside any transaction, write the result, go on.

Any number of workers do this at once, and any of them may be killed at any moment: the lease of the step it
held runs out, `sweep` gives the step back, and the ledger knows what was answered already. A worker that has
ended a step takes the next one in the same transaction: a call costs two transactions in all.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

from celery import current_app
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F
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
from simulation.services import claiming, ledger, replays, settlement, spending
from simulation.services.claiming import Claim
from simulation.services.completions import Asker, Halt
from simulation.services.lanes import Full, Later

MOST_FAULTS = 3
STINT_SECONDS = 15.0
"""How long a worker's thread stays at one run before it goes to the end of the line."""
log = logging.getLogger("synthpai.runs")


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
        """Writes what came out and plans what follows (`plan`), inside the transaction that ends the step.

        The comment that was written, if one was. The run's row is locked.
        """
        ...


def touch(run: Run) -> None:
    """Something that the run's page shows has changed."""
    Run.objects.filter(pk=run.pk).update(tick=F("tick") + 1)


def tell(run: Run, text: str, level: str = "info") -> None:
    """One line of the run's story."""
    Happening.objects.create(run=run, text=text[:400], level=level)


def plan(claim: Claim, steps: Sequence[Step]) -> None:
    """New steps of a run, planned by the end of another: workers are asked for as many hands as they need."""
    Step.objects.bulk_create(steps, batch_size=1000)
    claim.planned += len(steps)


def advance(*, run_id: int, work: Work) -> bool:
    """Does one step of a run, if there is one to do. Whether there was one."""
    claim = _claim(run_id)
    if claim is None:
        return False
    _do(claim, work, go_on=False)
    return True


def carry_on(*, run_id: int, work: Work, seconds: float = STINT_SECONDS) -> None:
    """Does steps of a run until none is left to begin, or the time is over and others have their turn."""
    end = time.monotonic() + seconds
    claim = _claim(run_id)
    while claim is not None:
        claim = _do(claim, work, go_on=time.monotonic() < end)


@transaction.atomic
def _claim(run_id: int) -> Claim | None:
    run = Run.objects.select_related("provider", "corpus").get(pk=run_id)
    if run.state not in (RunState.QUEUED, RunState.RUNNING):
        return None
    usable = claiming.lock(run)
    if run.state == RunState.QUEUED:
        move(run, RunEvent.START)
    return claiming.take(run) if usable else None


def _do(claim: Claim, work: Work, *, go_on: bool) -> Claim | None:
    """Does the claimed step; with `go_on` the next one is claimed at once, where there is one."""
    asker = Asker(claim.run, claim.step, claim.lease, partial(_renew, claim))
    try:
        return _complete(claim, work.perform(claim, asker), work, asker, go_on=go_on)
    except Later as later:
        _flush(asker)
        _give_back(claim, later.seconds)
        if not isinstance(later, Full) or not _others_at_work(claim.run):
            wake(claim.run, messages=1, countdown=later.seconds)
    except (Halt, spending.CapReached) as stop:
        _flush(asker)
        _give_back(claim, 0)
        _halt(claim.run, str(stop))
    except ledger.NotRunning:
        _flush(asker)
        _give_back(claim, 0)
    except ledger.LeaseLost:
        _flush(asker)
        log.warning("lease lost", extra={"step": claim.step.key})
    except (OperationalError, InterfaceError, RedisError):  # a server is away; the sweep takes it up again
        log.warning("a server is away", extra={"step": claim.step.key})
        raise
    except Exception:  # a fault of ours has no name yet; three of them end the run, whatever they are
        log.exception("step %s broke", claim.step.key)
        _flush(asker)
        _fault(claim)
        wake(claim.run, messages=1)
    return None


def _flush(asker: Asker) -> None:
    """Keeps a reply that came before the step went wrong: it is never asked for again."""
    try:
        asker.flush()
    except ledger.LeaseLost:
        log.warning("a reply came too late", extra={"step": asker.step.key})


def _others_at_work(run: Run) -> bool:
    return run.steps.filter(state=StepState.LEASED).exists()


def _renew(claim: Claim) -> None:
    mine = Step.objects.filter(pk=claim.step.pk, lease=claim.lease)
    if not mine.update(leased_until=claiming.soon(settings.STEP_LEASE_SECONDS)):
        raise ledger.LeaseLost


@transaction.atomic
def _complete(claim: Claim, outcome: Outcome, work: Work, asker: Asker, *, go_on: bool) -> Claim | None:
    """Ends the step and writes down its last reply; then what follows is planned, and the next one taken."""
    run, pending = claim.run, asker.pending
    usable = claiming.lock(run)
    if run.state in ENDED_RUNS:
        raise ledger.LeaseLost
    if pending is not None and not settlement.write(run=run, pending=pending):
        raise ledger.LeaseLost
    _end(claim, outcome)
    if comment := work.record(claim, outcome):
        Step.objects.filter(pk=claim.step.pk).update(comment=comment)
    if run.stepping and run.state == RunState.RUNNING and claiming.turn_is_over(claim):
        move(run, RunEvent.PAUSE)
        tell(run, "One turn is done; paused again.")
    following = claiming.take(run) if usable and go_on else None
    over = following is None and _finish_if_over(run)
    if following is None and not over and go_on and usable:
        following = claiming.take(run)
    if not over:
        hands = claim.planned - 1 if following else claim.planned if go_on else max(1, claim.planned)
        if hands > 0 and run.state == RunState.RUNNING:
            wake(run, messages=min(hands, run.parallel))
    if pending is not None:
        settlement.settle(pending)
    transaction.on_commit(partial(setattr, asker, "pending", None))
    return following


ENDED = """
UPDATE simulation_step SET state = %s, lease = NULL, leased_until = NULL, reason = %s, detail = %s,
  result = %s::jsonb, finished_at = %s WHERE id = %s AND lease = %s
"""


def _end(claim: Claim, outcome: Outcome) -> None:
    """The step has come to its end. Raises LeaseLost where it is not ours any more."""
    step = claim.step
    event = StepEvent.FINISH if outcome.state is StepState.DONE else StepEvent.SKIP
    step.state = step_after(StepState.LEASED, event).value
    step.result, step.reason, step.detail = dict(outcome.result), outcome.reason[:40], outcome.detail
    step.finished_at, step.lease, step.leased_until = timezone.now(), None, None
    result = json.dumps(step.result)
    values: list[Any] = [step.state, step.reason, step.detail, result, step.finished_at, step.pk, claim.lease]
    with connection.cursor() as cursor:
        cursor.execute(ENDED, values)
        if cursor.rowcount != 1:
            raise ledger.LeaseLost


def _finish_if_over(run: Run) -> bool:
    if run.steps.filter(state__in=[StepState.READY, StepState.LEASED]).exists():
        return False
    if run.origin == Run.REPLAY and replays.retry_as_then(run):
        wake(run, messages=1)
        return False
    move(run, RunEvent.FINISH)
    tell(run, "Everything planned is done.", "ok")
    return True


def _locked(claim: Claim) -> tuple[Run, Step]:
    run = Run.objects.select_for_update(no_key=True).get(pk=claim.run.pk)
    if run.state in ENDED_RUNS:
        raise ledger.LeaseLost
    return run, ledger.check_lease(step=claim.step, lease=claim.lease)


def _free(step: Step, event: StepEvent, *, reason: str = "", detail: str = "") -> None:
    step.state = step_after(StepState(step.state), event)
    step.lease = step.leased_until = None
    step.reason, step.detail = reason[:40], detail
    step.finished_at = timezone.now() if event is not StepEvent.GIVE_BACK else None


@transaction.atomic
def _give_back(claim: Claim, seconds: float) -> None:
    try:
        run, step = _locked(claim)
    except ledger.LeaseLost:
        return
    _free(step, StepEvent.GIVE_BACK)
    step.due_at = claiming.soon(seconds)
    step.save()
    touch(run)


@transaction.atomic
def _fault(claim: Claim) -> None:
    """Our own code broke on a step: it is tried again, and after a few times the run fails."""
    try:
        run, step = _locked(claim)
    except ledger.LeaseLost:
        return
    step.faults += 1
    if step.faults < MOST_FAULTS:
        _free(step, StepEvent.GIVE_BACK)
        step.save()
        return
    _free(step, StepEvent.FAIL, reason="fault", detail="An error of ours; the server's log has the details.")
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
    run.reason, run.stepping = reason, event is RunEvent.STEP
    if event in (RunEvent.START, RunEvent.RESUME, RunEvent.STEP, RunEvent.RETRY):
        run.resumed_at = timezone.now()
    if event in (RunEvent.FINISH, RunEvent.FAIL, RunEvent.CANCEL):
        run.ended_at = timezone.now()
    if event is RunEvent.RETRY:
        run.ended_at = None
    run.save(update_fields=["state", "reason", "stepping", "resumed_at", "ended_at"])
    touch(run)


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
    """Calls that no answer came for in good time, in runs of which no step is taken up again: ended ones, and
    those that wait for somebody. Their worker is gone as well."""
    resting = [*ENDED_RUNS, RunState.PAUSED, RunState.HALTED]
    sent = CallAttempt.objects.filter(state=AttemptState.SENT, call__run__state__in=resting)
    sent = sent.exclude(call__step__state=StepState.LEASED)
    ended = Run.objects.filter(pk__in=set(sent.values_list("call__run", flat=True)))
    free = ended.select_for_update(no_key=True, skip_locked=True, of=("self",))
    for run in free.select_related("provider").order_by("pk"):
        patience = timedelta(seconds=run.provider.timeout_seconds + settings.STEP_LEASE_SECONDS)
        settlement.settle_lost(
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
        touch(run)
        tell(run, f"The worker of {count} step{'s' if count > 1 else ''} is gone; taken up again.", "warn")
    return True
