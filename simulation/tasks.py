"""Doors for the worker: ids in, one service call, done."""

from celery import shared_task
from django.utils import timezone

from simulation.services import artefacts, engine, sweeping, webhook_sending
from simulation.services.profiling import Profiling
from simulation.services.simulating import Simulation


@shared_task
def advance_simulation(run_id: int) -> None:
    """Does steps of a simulation run. Too many messages do no harm: who finds nothing to do ends."""
    engine.carry_on(run_id=run_id, work=Simulation())


@shared_task
def advance_profiles(run_id: int) -> None:
    """Does steps of a run that generates profiles or styles; as above."""
    engine.carry_on(run_id=run_id, work=Profiling())


@shared_task
def sweep_runs() -> None:
    """Takes up runs and steps that a dead worker or a lost message left behind."""
    sweeping.sweep()


@shared_task
def scan_artefacts(corpus_id: int, by_id: int | None = None) -> None:
    """Looks through the comments of a corpus. Delivered twice, the second finds nothing new."""
    artefacts.scan(corpus_id=corpus_id, by_id=by_id)


@shared_task
def send_webhooks() -> None:
    """Sends the messages that are due. Called too often, the second finds nothing to send."""
    webhook_sending.send_due(now=timezone.now())
