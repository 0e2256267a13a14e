"""What became of a call: its reply kept, its trouble said, its tokens and its money settled.

The counters of a run change in the same transaction as the attempt they count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from simulation.domain.money import FREE
from simulation.domain.run_states import AttemptState, CallState
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import ChatReply, Usage
from simulation.llm.structured import Parsed, Rung, Unparsed, Why
from simulation.models import CallAttempt, ModelCall, Run
from simulation.selectors.prepared import prepared
from simulation.services import spending

OUTCOMES = {
    Why.REFUSED: CallState.REFUSED,
    Why.TRUNCATED: CallState.TRUNCATED,
    Why.EMPTY: CallState.INVALID,
    Why.UNREADABLE: CallState.INVALID,
}
TROUBLES = {
    Trouble.RATE_LIMIT: AttemptState.RATE_LIMITED,
    Trouble.TRANSIENT: AttemptState.TRANSIENT,
    Trouble.QUOTA: AttemptState.QUOTA,
    Trouble.PERMANENT: AttemptState.PERMANENT,
}
MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True)
class Pending:
    """A reply that came and is not written down yet, and what was made of it."""

    call: ModelCall
    attempt: CallAttempt
    reply: ChatReply
    read: Parsed[Any] | Unparsed


ANSWERED = """
WITH ended AS (
  UPDATE simulation_callattempt SET state = 'answered', ended_at = %(now)s, status = 200, spent = %(spent)s,
    cost = %(cost)s WHERE id = %(attempt)s AND state = 'sent' {only} RETURNING held, held_cost
), call AS (
  UPDATE simulation_modelcall SET state = %(state)s, rung = %(rung)s, problem = %(problem)s,
    reply = %(reply)s::jsonb,
    served_model = %(served)s, finish = %(finish)s, tokens_in = %(input)s, tokens_out = %(output)s,
    tokens_cached = %(cached)s, tokens_reasoning = %(reasoning)s, cost = cost + %(cost)s,
    finished_at = %(now)s
  WHERE id = %(call)s AND EXISTS (SELECT 1 FROM ended)
)
UPDATE simulation_run SET tokens = tokens + %(spent)s, tokens_held = tokens_held - ended.held,
  cost = simulation_run.cost + %(cost)s, cost_held = cost_held - ended.held_cost, tick = tick + 1
FROM ended WHERE id = %(run)s RETURNING simulation_run.cost, soft_cost, warned_at
"""


def write(*, run: Run, pending: Pending) -> bool:
    """Keeps a reply and what was made of it; the call is finished. Tokens are what the provider counted.

    False, and nothing but the ledger's knowledge changes, when somebody else has declared the attempt lost
    meanwhile. Expects a transaction in which the run's row is locked, and `settle` at its end.
    """
    values = as_written(run, pending)
    with prepared() as cursor:
        cursor.execute(ANSWERED.format(only=""), values)
        after = cursor.fetchone()
    if after is None:
        return False
    warn(run, *after)
    return True


def as_written(run: Run, pending: Pending) -> dict[str, Any]:
    """The parameters of `ANSWERED`; the call in `pending` says from now on how it ended."""
    call, attempt, reply, read = pending.call, pending.attempt, pending.reply, pending.read
    usage = counted(reply)
    spent, cost = _spent(call, attempt, usage)
    call.state = CallState.DONE.value if isinstance(read, Parsed) else OUTCOMES[read.why].value
    call.rung = read.rung.value if isinstance(read, Parsed) else ""
    call.problem = "" if isinstance(read, Parsed) else read.problem
    call.reply = reply.as_dict()
    return {
        "now": timezone.now(),
        "spent": spent,
        "cost": cost,
        "held_cost": attempt.held_cost,
        "attempt": attempt.pk,
        "state": call.state,
        "rung": call.rung,
        "problem": call.problem,
        "reply": json.dumps(call.reply),
        "served": reply.served_model[:200],
        "finish": reply.finish.value,
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "call": call.pk,
        "run": run.pk,
    }


def settle(pending: Pending) -> None:
    """What a reply that was written cost, in the installation's budget: the last lock of a transaction."""
    _, cost = _spent(pending.call, pending.attempt, counted(pending.reply))
    spending.settle(held=pending.attempt.held_cost, cost=cost)


@transaction.atomic
def answered(*, run: Run, pending: Pending) -> bool:
    """`write` and `settle` in a transaction of their own."""
    spending.locked(run)
    if not write(run=run, pending=pending):
        return False
    settle(pending)
    return True


def _spent(call: ModelCall, attempt: CallAttempt, usage: Usage) -> tuple[int, int]:
    """Tokens and nano-dollars by the provider's count; without a count of the prompt, what was set aside is
    the least."""
    unit = call.price.unit if call.price else FREE
    cost = unit.cost(input=usage.input, output=usage.output, cached=usage.cached)
    if not usage.input:
        return max(attempt.held, usage.total), max(attempt.held_cost, cost)
    return usage.total, cost


def warn(run: Run, cost: int, soft_cost: int | None, warned_at: datetime | None) -> None:
    """Says once that the soft cap is passed."""
    if soft_cost is None or cost <= soft_cost or warned_at is not None:
        return
    Run.objects.filter(pk=run.pk).update(warned_at=timezone.now())
    text = f"The soft cap of {spending.said(soft_cost)} is passed: {spending.said(cost)} are spent."
    run.happenings.create(level="warn", text=text)


def counted(reply: ChatReply) -> Usage:
    """The provider's count, within what can be: no provider lowers what was spent, or breaks a column."""
    usage = reply.usage
    counts = (usage.input, usage.output, usage.cached, usage.reasoning)
    return Usage(*(min(max(0, count), MOST_TOKENS) for count in counts))


def repaired(*, call: ModelCall, rung: Rung) -> None:
    """The last rung made a value of an answer that could not be read as it was."""
    ModelCall.objects.filter(pk=call.pk, state=CallState.INVALID).update(
        state=CallState.DONE, rung=rung.value
    )


@transaction.atomic
def troubled(
    *, run: Run, call: ModelCall, attempt: CallAttempt, error: LLMError, wait: float | None, final: bool
) -> None:
    """Keeps an attempt that brought no reply. `final` ends the call; else it waits to be tried again."""
    spending.locked(run)
    spent, cost = (attempt.held, attempt.held_cost) if error.unheard else (0, 0)
    changed = CallAttempt.objects.filter(pk=attempt.pk, state=AttemptState.SENT).update(
        state=TROUBLES[error.trouble],
        ended_at=timezone.now(),
        status=error.status,
        detail=error.detail[:600],
        wait=wait,
        spent=spent,
        cost=cost,
    )
    if not changed:
        return
    Run.objects.filter(pk=run.pk).update(
        tokens=F("tokens") + spent,
        tokens_held=F("tokens_held") - attempt.held,
        cost=F("cost") + cost,
        cost_held=F("cost_held") - attempt.held_cost,
        tick=F("tick") + 1,
    )
    spending.settle(held=attempt.held_cost, cost=cost)
    ModelCall.objects.filter(pk=call.pk).update(
        state=CallState.FAILED.value if final else CallState.QUEUED.value,
        problem=error.detail if final else "",
        cost=F("cost") + cost,
        finished_at=timezone.now() if final else None,
    )


def settle_lost(*, run: Run, attempts: QuerySet[CallAttempt]) -> int:
    """Of `attempts`, those still in flight become lost and count as spent: their worker is gone. How many.

    Expects the run's row locked.
    """
    lost = list(attempts.filter(state=AttemptState.SENT).values_list("pk", "call_id", "held", "held_cost"))
    if not lost:
        return 0
    CallAttempt.objects.filter(pk__in=[pk for pk, _, _, _ in lost]).update(
        state=AttemptState.LOST,
        ended_at=timezone.now(),
        spent=F("held"),
        cost=F("held_cost"),
        detail="its worker ended before the answer came",
    )
    for _, call, _, money in lost:
        ModelCall.objects.filter(pk=call).update(cost=F("cost") + money)
    _queued_again(call for _, call, _, _ in lost)
    tokens, cost = sum(row[2] for row in lost), sum(row[3] for row in lost)
    Run.objects.filter(pk=run.pk).update(
        tokens=F("tokens") + tokens,
        tokens_held=F("tokens_held") - tokens,
        cost=F("cost") + cost,
        cost_held=F("cost_held") - cost,
        tick=F("tick") + 1,
    )
    spending.settle(held=cost, cost=cost)
    return len(lost)


@transaction.atomic
def forsaken(*, run: Run, attempt: CallAttempt) -> None:
    """An attempt whose answer nobody waits for any more is lost, and counts as spent."""
    spending.locked(run)
    settle_lost(run=run, attempts=CallAttempt.objects.filter(pk=attempt.pk))


def _queued_again(calls: Iterable[int]) -> None:
    ModelCall.objects.filter(pk__in=set(calls), state=CallState.LEASED).update(state=CallState.QUEUED)
