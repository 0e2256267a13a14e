"""Takes up what nobody is working on, every few seconds: the workers of it may be gone."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from simulation.domain.run_states import ENDED_RUNS, OPEN_RUNS, AttemptState, RunState, StepState
from simulation.models import CallAttempt, Run
from simulation.services import engine, settlement
from simulation.services.engine import tell, touch


def sweep() -> None:
    """Takes up what nobody is working on: steps whose worker is gone, runs whose message was lost."""
    _settle_ended()
    for run in Run.objects.filter(state__in=OPEN_RUNS).order_by("id"):
        if _give_back_expired(run) and run.state in (RunState.QUEUED, RunState.RUNNING):
            engine.ask_for_hands(run.pk, run.kind, run.parallel, None, 0)


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
