"""Writes down every call and every attempt, before it is sent and after. Keeps runs within their caps.

The order of locks is always: the run, then the step, then the installation's one row. The counters of a run
(calls, tokens, cost and what is set aside) change in the same transaction as the attempt they count. The
usual way of a call is one transaction, sent whole, before the call and one after it: whoever runs thousands
of calls pays for each round trip. Everything unusual (an attempt that is repeated) goes the long way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from simulation.domain.run_states import ENDED_CALLS, AttemptState, CallState, RunState
from simulation.llm.messages import ChatRequest
from simulation.models import (
    CallAttempt,
    ModelCall,
    Price,
    PromptVersion,
    Provider,
    Run,
    Step,
    Workspace,
    new_public_id,
)
from simulation.selectors.prepared import at_once, prepared
from simulation.services import spending
from simulation.services.order import Turn, one_at_a_time


class LeaseLost(Exception):
    """The step is not this worker's any more: its lease ran out, or the run has ended."""


class AlreadyAnswered(Exception):
    """A former holder of the step has kept the reply meanwhile: nothing has to be sent."""


class NotRunning(Exception):
    """The run was paused or halted: nothing new begins."""


@dataclass(frozen=True)
class Asked:
    """A question as the ledger keeps it. `tokens` is what it may take at most: prompt and completion cap."""

    request: ChatRequest
    key: str
    sample: int
    purpose: str
    prompt: PromptVersion
    provider: Provider
    price: Price | None
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> int:
        """Nano-dollars it may cost at most."""
        return self.price.unit.cost(input=self.tokens_in, output=self.tokens_out) if self.price else 0


def find_call(*, step: Step, asked: Asked) -> ModelCall | None:
    """The row of this very question for this step, if a former holder of the step has made one."""
    return ModelCall.objects.filter(step=step, key=asked.key, sample=asked.sample).first()


def begin(
    *, run: Run, step: Step, lease: UUID, asked: Asked, call: ModelCall | None = None
) -> tuple[ModelCall, CallAttempt]:
    """Sets aside what the call may take and writes down that it is being sent.

    Spent, set aside and the new estimate together never pass a cap of the run or of the installation. Raises
    NotRunning, LeaseLost, AlreadyAnswered, Crowded where calls in flight have to come back first, CapReached
    where even that would not help.
    """
    with one_at_a_time(run.pk, Turn.BEGIN):
        if call is None and (begun := _at_once(run, lease, [(step, asked)])[0]):
            return begun
        with transaction.atomic():
            return _begin(run, step, lease, asked, call)


def _begin(
    run: Run, step: Step, lease: UUID, asked: Asked, call: ModelCall | None
) -> tuple[ModelCall, CallAttempt]:
    counters = spending.locked(run)
    if counters.state in (RunState.CANCELLED, RunState.FAILED, RunState.DONE):
        raise LeaseLost
    if counters.state != RunState.RUNNING:
        raise NotRunning
    spending.check(counters, tokens=asked.tokens, cost=asked.cost)
    if asked.cost:
        spending.hold(asked.cost)
    until = timezone.now() + timedelta(seconds=settings.STEP_LEASE_SECONDS)
    if call is None:
        if begun := _insert(run, step, lease, asked, until):
            return begun
        check_lease(step=step, lease=lease)
        call = ModelCall.objects.get(step=step, key=asked.key, sample=asked.sample)
    return call, _again(run, step, lease, asked, call, until)


BEGIN = """
WITH mine AS (
  UPDATE simulation_step SET leased_until = %(until)s WHERE id = %(step)s AND lease = %(lease)s {fits}
  RETURNING id
), call AS (
  INSERT INTO simulation_modelcall (
    public_id, run_id, step_id, purpose, key, sample, prompt_id, provider_id, base_url, model, served_model,
    request, reply, state, finish, rung, problem, tokens_in, tokens_out, tokens_cached, tokens_reasoning,
    price_id, cost, created_at)
  SELECT %(public_id)s, %(run)s, id, %(purpose)s, %(key)s, %(sample)s, %(prompt)s, %(provider)s, %(base_url)s,
    %(model)s, '', %(request)s::jsonb, NULL, 'leased', '', '', '', 0, 0, 0, 0, %(price)s::bigint, 0, %(now)s
  FROM mine
  ON CONFLICT (step_id, key, sample) DO NOTHING RETURNING id
), attempt AS (
  INSERT INTO simulation_callattempt (call_id, number, state, sent_at, held, held_cost, spent, cost, detail)
  SELECT id, 0, 'sent', %(now)s, %(tokens)s, %(money)s, 0, 0, '' FROM call RETURNING id, call_id
), counted AS (
  UPDATE simulation_run SET calls = calls + 1, tokens_held = tokens_held + %(tokens)s,
    cost_held = cost_held + %(money)s, tick = tick + 1
  WHERE id = %(run)s AND EXISTS (SELECT 1 FROM attempt)
) {paid}
SELECT id, call_id FROM attempt
"""
FITS = """
  AND EXISTS (SELECT 1 FROM simulation_run WHERE id = %(run)s AND state = 'running' AND calls < max_calls
    AND tokens + tokens_held + %(tokens)s <= max_tokens
    AND (max_cost IS NULL OR cost + cost_held + %(money)s <= max_cost))
  AND (%(money)s = 0 OR EXISTS (SELECT 1 FROM simulation_workspace WHERE id = %(budget)s
    AND (hard_cap IS NULL OR spent + held + %(money)s <= hard_cap)))
"""
"""`spending.check` and `spending.hold` as conditions; what does not fit goes the long way, to be told why."""
PAID = """
, paid AS (
  UPDATE simulation_workspace SET held = held + %(money)s
  WHERE id = %(budget)s AND %(money)s > 0 AND EXISTS (SELECT 1 FROM attempt)
)
"""
UNDER_LOCK = BEGIN.format(fits="", paid="")
IF_IT_FITS = BEGIN.format(fits=FITS, paid=PAID)
LOCK_BUDGET = "SELECT 1 FROM simulation_workspace WHERE id = %(budget)s FOR UPDATE"


Begun = tuple[ModelCall, CallAttempt]


def begin_together(*, run: Run, lease: UUID, calls: Sequence[tuple[Step, Asked]]) -> list[Begun | None]:
    """`begin` for the first calls of steps that were just claimed together. None, and nothing written for a
    call, where anything is in its way: `begin` says what."""
    with one_at_a_time(run.pk, Turn.BEGIN):
        return _at_once(run, lease, calls)


def _at_once(run: Run, lease: UUID, calls: Sequence[tuple[Step, Asked]]) -> list[Begun | None]:
    """Locks, check of the caps and all rows in one go."""
    until = timezone.now() + timedelta(seconds=settings.STEP_LEASE_SECONDS)
    each = [_values(run, step, lease, asked, until) for step, asked in calls]
    locks = [spending.LOCK_RUN] + ([LOCK_BUDGET] if any(asked.cost for _, asked in calls) else [])
    statements = [(lock, each[0]) for lock in locks] + [(IF_IT_FITS, values) for values in each]
    found = at_once(statements)[len(locks) :]
    return [
        _rows(run, step, asked, values, rows[0]) if rows else None
        for (step, asked), values, rows in zip(calls, each, found, strict=True)
    ]


def _insert(
    run: Run, step: Step, lease: UUID, asked: Asked, until: datetime
) -> tuple[ModelCall, CallAttempt] | None:
    """Call, first attempt and counters in one statement; None where the call is there already or the lease
    is lost."""
    values = _values(run, step, lease, asked, until)
    with prepared() as cursor:
        cursor.execute(UNDER_LOCK, values)
        found = cursor.fetchone()
    return _rows(run, step, asked, values, found) if found else None


def _values(run: Run, step: Step, lease: UUID, asked: Asked, until: datetime) -> dict[str, Any]:
    request = asked.request.as_dict()
    return {
        "asked": request,
        "until": until,
        "step": step.pk,
        "lease": lease,
        "public_id": new_public_id(),
        "run": run.pk,
        "purpose": asked.purpose,
        "key": asked.key,
        "sample": asked.sample,
        "prompt": asked.prompt.pk,
        "provider": asked.provider.pk,
        "base_url": asked.provider.base_url,
        "model": asked.request.model,
        "request": json.dumps(request),
        "price": asked.price.pk if asked.price else None,
        "now": timezone.now(),
        "tokens": asked.tokens,
        "money": asked.cost,
        "budget": Workspace.THE_ONE,
    }


def _rows(
    run: Run, step: Step, asked: Asked, values: Mapping[str, Any], found: Sequence[int]
) -> tuple[ModelCall, CallAttempt]:
    call = ModelCall(
        pk=found[1],
        public_id=values["public_id"],
        run=run,
        step=step,
        purpose=asked.purpose,
        key=asked.key,
        sample=asked.sample,
        prompt=asked.prompt,
        provider=asked.provider,
        base_url=asked.provider.base_url,
        model=asked.request.model,
        request=values["asked"],
        state=CallState.LEASED.value,
        price=asked.price,
        created_at=values["now"],
    )
    attempt = CallAttempt(
        pk=found[0],
        call=call,
        number=0,
        held=asked.tokens,
        held_cost=asked.cost,
        sent_at=values["now"],
    )
    call._state.adding = attempt._state.adding = False
    return call, attempt


def _again(run: Run, step: Step, lease: UUID, asked: Asked, call: ModelCall, until: datetime) -> CallAttempt:
    """One more attempt of a call that has a row."""
    held = check_lease(step=step, lease=lease)
    call.refresh_from_db(fields=["state", "reply"])
    if call.state in ENDED_CALLS:
        raise AlreadyAnswered
    Step.objects.filter(pk=held.pk).update(leased_until=until)
    Run.objects.filter(pk=run.pk).update(
        calls=F("calls") + 1,
        tokens_held=F("tokens_held") + asked.tokens,
        cost_held=F("cost_held") + asked.cost,
        tick=F("tick") + 1,
    )
    ModelCall.objects.filter(pk=call.pk).update(state=CallState.LEASED, price=asked.price)
    call.price = asked.price
    return CallAttempt.objects.create(
        call=call,
        number=call.attempts.exclude(state=AttemptState.LOST).count(),
        held=asked.tokens,
        held_cost=asked.cost,
        sent_at=timezone.now(),
    )


def check_lease(*, step: Step, lease: UUID) -> Step:
    """The step's row, locked, when `lease` still holds it; else LeaseLost. Expects the run's row locked."""
    held = Step.objects.select_for_update(no_key=True).filter(pk=step.pk, lease=lease).first()
    if held is None:
        raise LeaseLost
    return held
