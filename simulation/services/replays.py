"""Answers from the ledger of another run: the same question of the same step, and nothing is sent."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from simulation.domain.run_states import ENDED_CALLS, ENDED_STEPS, StepState
from simulation.models import ModelCall, Run, Step
from simulation.services.ledger import Asked

KEPT = (
    *("state", "reply", "served_model", "finish", "rung", "problem"),
    *("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"),
)


def take(*, run: Run, step: Step, asked: Asked) -> ModelCall | None:
    """The finished call of the replayed run with this very key, as a call of this run; None: there is none.

    It costs nothing and has no attempts. Taken twice, after a kill, it is one row.
    """
    kept = ModelCall.objects.filter(
        run=run.source_id, step__key=step.key, key=asked.key, sample=asked.sample, state__in=ENDED_CALLS
    ).first()
    if kept is None:
        return None
    call, _ = ModelCall.objects.get_or_create(
        step=step,
        key=asked.key,
        sample=asked.sample,
        defaults={
            "run": run,
            "purpose": asked.purpose,
            "prompt": asked.prompt,
            "provider": asked.provider,
            "base_url": asked.provider.base_url,
            "model": asked.request.model,
            "request": asked.request.as_dict(),
            "replayed_from": kept,
            "finished_at": timezone.now(),
            **{field: getattr(kept, field) for field in KEPT},
        },
    )
    return call


def retry_as_then(run: Run) -> bool:
    """Makes the steps ready that were tried again together next in the replayed run, in the order in which
    they ended then. Whether there were any. Expects the run's row locked and nothing of it open.
    """
    again = Step.objects.filter(run=run.source_id, tries__gt=0, state__in=ENDED_STEPS)
    mine = {step.key: step for step in run.steps.filter(key__in=again.values("key"))}
    then = list(again.order_by("finished_at", "id"))
    waiting = [
        batch
        for one in then
        for batch in one.asks.get("batches", [])
        if one.key in mine and batch not in mine[one.key].asks.get("batches", [])
    ]
    if not waiting:
        return False
    now, batch = timezone.now(), min(waiting)
    for place, one in enumerate(then):
        if batch in one.asks.get("batches", []) and one.key in mine:
            _ready(mine[one.key], one.asks["batches"], batch, now + timedelta(microseconds=place))
    return True


def _ready(step: Step, batches: list[int], batch: int, due_at: datetime) -> None:
    done = batches[: batches.index(batch) + 1]
    step.state, step.tries, step.due_at = StepState.READY.value, len(done), due_at
    step.asks = step.asks | {"batches": done}
    step.reason = step.detail = ""
    step.finished_at = None
    step.save()
