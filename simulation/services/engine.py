"""Carries a run out, one step at a time: claim, ask outside any transaction, write the result, go on.

Any number of workers do this at once, and any of them may be killed at any moment: the lease of the step it
held runs out, `sweep` gives the step back, and the ledger knows what was answered already. A worker that has
ended a step takes the next one in the same transaction: a call costs two transactions in all.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from simulation.domain.run_states import (
    ENDED_RUNS,
    RunEvent,
    RunState,
    StepEvent,
    StepState,
    run_after,
    step_after,
)
from simulation.models import Happening, Run, RunThread, Step
from simulation.selectors.prepared import prepared
from simulation.selectors.workers import broker
from simulation.services import bundles, claiming, ledger, replays, settlement, spending, webhooks
from simulation.services.claiming import Claim
from simulation.services.completions import Asker, Halt
from simulation.services.ending import Ended, Part, at_a_stroke
from simulation.services.lanes import Full, Later
from simulation.services.order import Turn, one_at_a_time
from simulation.services.work import Outcome, Work

MOST_FAULTS = 3
STINT_SECONDS = 15.0
"""How long a worker's thread stays at one run before it goes to the end of the line."""
log = logging.getLogger("synthpai.runs")


def touch(run: Run) -> None:
    """Something that the run's page shows has changed."""
    Run.objects.filter(pk=run.pk).update(tick=F("tick") + 1)


def tell(run: Run, text: str, level: str = "info") -> None:
    """One line of the run's story."""
    Happening.objects.create(run=run, text=text[:400], level=level)


def plan(claim: Claim, steps: Sequence[Step]) -> None:
    """New steps of a run, planned by the end of another: workers are asked for as many hands as they need."""
    if len(steps) == 1:
        steps[0].save(force_insert=True)  # half the time, and most turns plan one
    else:
        Step.objects.bulk_create(steps, batch_size=1000)
    claim.hands += _hands(claim.run.pk, Counter(step.kind for step in steps))


def _hands(run_id: int, kinds: Mapping[str, int]) -> int:
    """How many hands so many steps of each kind need; of some kinds one hand takes several at once."""
    together = claiming.together(run_id)
    return sum(
        math.ceil(count / together) if kind == claiming.TOGETHER else count for kind, count in kinds.items()
    )


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
    claim = _claim(run_id, together=True)
    while claim is not None:
        do = _do_together if claim.fellows else _do
        claim = do(claim, work, go_on=time.monotonic() < end)


def _claim(run_id: int, *, together: bool = False) -> Claim | None:
    with one_at_a_time(run_id, Turn.CLAIM), transaction.atomic():
        return _first(run_id, together)


def _first(run_id: int, together: bool) -> Claim | None:
    run = claiming.run_of(run_id)
    usable = claiming.lock(run)
    if run.state == RunState.QUEUED:
        move(run, RunEvent.START)
    return claiming.take(run, most=_most(run) if together else 1) if usable else None


def _most(run: Run) -> int:
    """How many steps a hand takes at once. A replay sends nothing: there is nothing to be won."""
    return 1 if run.origin == Run.REPLAY else claiming.together(run.pk)


def _asker(claim: Claim) -> Asker:
    return Asker(claim.run, claim.step, claim.lease, partial(_renew, claim))


def _do_together(claim: Claim, work: Work, *, go_on: bool) -> Claim | None:
    """Does a claim and its fellows in one go; what does not end with the others goes on alone."""
    every = [claim, *claim.fellows]
    try:
        bundle = bundles.carry_out(claim, work, _asker, go_on=go_on)
    except Full as full:
        claiming.give_back_untouched(every, full.seconds)
        if not _others_at_work(claim.run):
            wake(claim.run, messages=1, countdown=full.seconds)
        return None
    except ledger.LeaseLost:
        log.warning("lease lost", extra={"step": claim.step.key})
        return None
    except (OperationalError, InterfaceError, RedisError):  # as in `_do`
        log.warning("a server is away", extra={"step": claim.step.key})
        raise
    except Exception:  # as in `_do`
        log.exception("steps with %s broke", claim.step.key)
        for one in every:
            _fault(one)
        wake(claim.run, messages=1)
        return None
    following = bundle.following
    for number, (one, asker) in enumerate(bundle.alone, start=1):
        last = number == len(bundle.alone) and following is None
        following = _do(one, work, go_on=go_on and last, asker=asker) or following
    if following is None and go_on:
        return _claim(claim.run.pk, together=True)
    if not go_on:
        wake(claim.run, messages=1)
    return following


def _do(claim: Claim, work: Work, *, go_on: bool, asker: Asker | None = None) -> Claim | None:
    """Does the claimed step; with `go_on` the next one is claimed at once, where there is one.

    `asker` has heard the first answer already.
    """
    asker = asker or _asker(claim)
    try:
        outcome = work.perform(claim, asker)
        if asker.heard:
            asker.flush()
        with one_at_a_time(claim.run.pk, Turn.END):
            if ended := _at_a_stroke(claim, outcome, work, asker, go_on=go_on):
                return ended.following or (_claim(claim.run.pk, together=True) if go_on else None)
            with transaction.atomic():
                return _complete(claim, outcome, work, asker, go_on=go_on)
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


def _at_a_stroke(claim: Claim, outcome: Outcome, work: Work, asker: Asker, *, go_on: bool) -> Ended | None:
    """The short way to the end of a step, where its work and its run allow it."""
    pending = asker.pending
    if pending is None or outcome.state is not StepState.DONE or not work.ends_alone(claim.step):
        return None
    part = Part(claim, outcome.result, pending)
    ended = at_a_stroke([part], take=_most(claim.run) if go_on else 0)
    if not ended.written[0]:
        return None
    asker.pending = None
    if not go_on:
        wake(claim.run, messages=1)
    return ended


def _flush(asker: Asker) -> None:
    """Keeps a reply that came before the step went wrong: it is never asked for again."""
    try:
        asker.flush()
    except ledger.LeaseLost:
        log.warning("a reply came too late", extra={"step": asker.step.key})


def _others_at_work(run: Run) -> bool:
    return run.steps.filter(state=StepState.LEASED).exists()


def _renew(claim: Claim) -> None:
    mine = Step.objects.filter(run=claim.run, lease=claim.lease)  # its fellows wait as well
    if not mine.update(leased_until=claiming.soon(settings.STEP_LEASE_SECONDS)):
        raise ledger.LeaseLost


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
    following = claiming.take(run, most=_most(run)) if usable and go_on else None
    over = following is None and _finish_if_over(run)
    if following is None and not over and go_on and usable:
        following = claiming.take(run, most=_most(run))
    if not over:
        hands = claim.hands - 1 if following else claim.hands if go_on else max(1, claim.hands)
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
    with prepared() as cursor:
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
    webhooks.run_ended(run)
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
    run.ended_at = timezone.now() if run.state in ENDED_RUNS else None
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
    webhooks.run_ended(run)


def wake(run: Run, *, messages: int | None = None, countdown: float = 0) -> None:
    """Asks workers, once the transaction is over, to take up a run: one message for each step to be done.

    Where the broker is down nothing is lost: the sweep asks again.
    """
    transaction.on_commit(partial(ask_for_hands, run.pk, run.kind, run.parallel, messages, countdown))


def ask_for_hands(run_id: int, kind: str, parallel: int, messages: int | None, countdown: float) -> None:
    """So many messages to workers; None: as many as are missing."""
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
    """How many hands could begin something now; the run has at most `parallel` steps in work."""
    steps = Step.objects.filter(run=run_id)
    room = max(0, parallel - steps.filter(state=StepState.LEASED).count())
    ready = steps.filter(state=StepState.READY, due_at__lte=timezone.now())
    return _hands(run_id, Counter(ready.values_list("kind", flat=True)[:room]))
