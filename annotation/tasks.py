"""Doors for the worker: ids in, one service or exchange call, done."""

from celery import shared_task
from django.utils import timezone

from annotation.exchange import uploads
from annotation.services import claims, tagging
from simulation.services import engine


@shared_task
def run_import(import_id: int) -> None:
    """Imports an uploaded file. Delivered twice, the second finds it taken and does nothing."""
    uploads.run(import_id=import_id)


@shared_task
def sweep_imports() -> None:
    """Takes up imports that a dead worker or a lost message left behind."""
    for import_id in uploads.stale():
        run_import.delay(import_id)


@shared_task
def advance_tagging(run_id: int) -> None:
    """Tags one comment of a tagging run."""
    engine.advance(run_id=run_id, work=tagging.Tagging())


@shared_task
def follow_simulations() -> None:
    """Starts the tagging runs that finished simulations asked for."""
    tagging.follow_simulations()


@shared_task
def release_leases() -> None:
    """Frees the comments that nobody holds any more."""
    claims.release_all_expired(now=timezone.now())
