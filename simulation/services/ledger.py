"""Writes down every call and every attempt, before it is sent and after. Keeps runs within their caps.

The order of locks is always: the run, then the step, then the installation's one row. The counters of a run
(calls, tokens, cost and what is set aside) change in the same transaction as the attempt they count. The
usual way of a call is one statement before it is sent and one after it came back: whoever runs thousands of
calls pays for each round trip. Everything unusual (an attempt that is repeated) goes the long way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
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
    new_public_id,
)
from simulation.services import spending


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


@transaction.atomic
def begin(
    *, run: Run, step: Step, lease: UUID, asked: Asked, call: ModelCall | None = None
) -> tuple[ModelCall, CallAttempt]:
    """Sets aside what the call may take and writes down that it is being sent.

    Spent, set aside and the new estimate together never pass a cap of the run or of the installation. Raises
    NotRunning, LeaseLost, AlreadyAnswered, Crowded where calls in flight have to come back first, CapReached
    where even that would not help.
    """
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
  UPDATE simulation_step SET leased_until = %(until)s WHERE id = %(step)s AND lease = %(lease)s RETURNING id
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
)
SELECT id, call_id FROM attempt
"""


def _insert(
    run: Run, step: Step, lease: UUID, asked: Asked, until: datetime
) -> tuple[ModelCall, CallAttempt] | None:
    """Call, first attempt and counters in one statement; None where the call is there already or the lease
    is lost."""
    now, public_id = timezone.now(), new_public_id()
    request = asked.request.as_dict()
    values: dict[str, Any] = {
        "until": until,
        "step": step.pk,
        "lease": lease,
        "public_id": public_id,
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
        "now": now,
        "tokens": asked.tokens,
        "money": asked.cost,
    }
    with connection.cursor() as cursor:
        cursor.execute(BEGIN, values)
        found = cursor.fetchone()
    if found is None:
        return None
    call = ModelCall(
        pk=found[1],
        public_id=public_id,
        run=run,
        step=step,
        purpose=asked.purpose,
        key=asked.key,
        sample=asked.sample,
        prompt=asked.prompt,
        provider=asked.provider,
        base_url=asked.provider.base_url,
        model=asked.request.model,
        request=request,
        state=CallState.LEASED.value,
        price=asked.price,
        created_at=now,
    )
    attempt = CallAttempt(
        pk=found[0],
        call=call,
        number=0,
        held=asked.tokens,
        held_cost=asked.cost,
        sent_at=now,
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
