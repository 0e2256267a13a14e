"""Writes down every call and every attempt, before it is sent and after. Keeps the run within its caps.

The order of locks is always: the run, then the step. The run's own counters (calls, tokens, tokens_held)
change in the same transaction as the attempt they count.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from simulation.domain.run_states import ENDED_CALLS, AttemptState, CallState, RunState
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import ChatReply, ChatRequest, Usage
from simulation.llm.structured import Parsed, Rung, Unparsed, Why
from simulation.models import CallAttempt, ModelCall, PromptVersion, Run, Step

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


class CapReached(Exception):
    """The next call would pass a cap of the run; the message says which and what to do."""


class Crowded(Exception):
    """What is set aside for calls in flight leaves no room below the cap; most of it comes back with them."""


class LeaseLost(Exception):
    """The step is not this worker's any more: its lease ran out, or the run has ended."""


class AlreadyAnswered(Exception):
    """A former holder of the step has kept the reply meanwhile: nothing has to be sent."""


class NotRunning(Exception):
    """The run was paused or halted: nothing new begins."""


def open_call(
    *, run: Run, step: Step, request: ChatRequest, prompt: PromptVersion, purpose: str, sample: int
) -> ModelCall:
    """The row of this very question for this step: the one that is there, or a new one (queued)."""
    call, _ = ModelCall.objects.get_or_create(
        step=step,
        key=request.digest(base_url=run.provider.base_url),
        sample=sample,
        defaults={
            "run": run,
            "purpose": purpose,
            "prompt": prompt,
            "provider": run.provider,
            "base_url": run.provider.base_url,
            "model": request.model,
            "request": request.as_dict(),
        },
    )
    return call


def settle_lost(*, run: Run, attempts: QuerySet[CallAttempt]) -> int:
    """Of `attempts`, those still in flight become lost and count as spent: their worker is gone. How many.

    Expects the run's row locked.
    """
    lost = list(attempts.filter(state=AttemptState.SENT).values_list("pk", "call_id", "held"))
    if lost:
        CallAttempt.objects.filter(pk__in=[pk for pk, _, _ in lost]).update(
            state=AttemptState.LOST,
            ended_at=timezone.now(),
            spent=F("held"),
            detail="its worker ended before the answer came",
        )
        ModelCall.objects.filter(pk__in=[call for _, call, _ in lost], state=CallState.LEASED).update(
            state=CallState.QUEUED
        )
        held = sum(tokens for _, _, tokens in lost)
        Run.objects.filter(pk=run.pk).update(tokens=F("tokens") + held, tokens_held=F("tokens_held") - held)
    return len(lost)


@transaction.atomic
def begin(*, run: Run, step: Step, lease: UUID, call: ModelCall, estimate: int) -> CallAttempt:
    """Sets `estimate` tokens aside and writes down that the call is being sent.

    Spent, set aside and estimate together never pass a cap. Raises NotRunning, LeaseLost, AlreadyAnswered,
    Crowded where calls in flight have to come back first, CapReached where even that would not help.
    """
    now_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    held = check_lease(step=step, lease=lease, run=now_run)
    if now_run.state != RunState.RUNNING:
        raise NotRunning
    if ModelCall.objects.filter(pk=call.pk, state__in=ENDED_CALLS).exists():
        raise AlreadyAnswered
    if now_run.calls + 1 > now_run.max_calls:
        raise CapReached(
            f"The cap of {now_run.max_calls:,} calls is reached. Raise it and resume, or cancel the run."
        )
    needed = now_run.tokens + estimate
    if needed <= now_run.max_tokens < needed + now_run.tokens_held:
        raise Crowded
    if needed > now_run.max_tokens:
        raise CapReached(
            f"The next call may bring the tokens to {needed:,}, above the cap of {now_run.max_tokens:,}."
            " Raise it and resume, or cancel the run."
        )
    held.leased_until = timezone.now() + timedelta(seconds=settings.STEP_LEASE_SECONDS)
    held.save(update_fields=["leased_until"])
    Run.objects.filter(pk=run.pk).update(calls=F("calls") + 1, tokens_held=F("tokens_held") + estimate)
    ModelCall.objects.filter(pk=call.pk).update(state=CallState.LEASED)
    number = call.attempts.exclude(state=AttemptState.LOST).count()
    return CallAttempt.objects.create(call=call, number=number, held=estimate, sent_at=timezone.now())


def check_lease(*, step: Step, lease: UUID, run: Run) -> Step:
    """The step's row, locked, when `lease` still holds it; else LeaseLost. Expects the run's row locked."""
    held = Step.objects.select_for_update(no_key=True).filter(pk=step.pk, lease=lease).first()
    if held is None or run.state in (RunState.CANCELLED, RunState.FAILED, RunState.DONE):
        raise LeaseLost
    return held


@transaction.atomic
def answered(
    *, run: Run, call: ModelCall, attempt: CallAttempt, reply: ChatReply, read: Parsed[Any] | Unparsed
) -> bool:
    """Keeps a reply and what was made of it; the call is finished. Tokens are what the provider counted.

    A provider that counts nothing has spent what was set aside. False, and nothing but the ledger's
    knowledge changes, when somebody else has declared the attempt lost meanwhile.
    """
    if not _end(run, attempt, AttemptState.ANSWERED, spent=counted(reply).total or attempt.held):
        return False
    call.state = CallState.DONE.value if isinstance(read, Parsed) else OUTCOMES[read.why].value
    call.rung = read.rung.value if isinstance(read, Parsed) else ""
    call.problem = "" if isinstance(read, Parsed) else read.problem
    call.reply = reply.as_dict()
    call.served_model, call.finish = reply.served_model[:200], reply.finish.value
    usage = counted(reply)
    call.tokens_in, call.tokens_out = usage.input, usage.output
    call.tokens_cached, call.tokens_reasoning = usage.cached, usage.reasoning
    call.finished_at = timezone.now()
    call.save()
    return True


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
    spent = attempt.held if error.unheard else 0
    if not _end(run, attempt, TROUBLES[error.trouble], spent=spent, error=error, wait=wait):
        return
    call.state = CallState.FAILED.value if final else CallState.QUEUED.value
    call.problem = error.detail if final else ""
    call.finished_at = timezone.now() if final else None
    call.save(update_fields=["state", "problem", "finished_at"])


def _end(
    run: Run,
    attempt: CallAttempt,
    state: AttemptState,
    *,
    spent: int,
    error: LLMError | None = None,
    wait: float | None = None,
) -> bool:
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    changed = CallAttempt.objects.filter(pk=attempt.pk, state=AttemptState.SENT).update(
        state=state,
        ended_at=timezone.now(),
        status=error.status if error else 200,
        detail=error.detail[:600] if error else "",
        wait=wait,
        spent=spent,
    )
    if changed:
        Run.objects.filter(pk=run.pk).update(
            tokens=F("tokens") + spent, tokens_held=F("tokens_held") - attempt.held
        )
    return bool(changed)
