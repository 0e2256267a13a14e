"""Doors for the worker: ids in, one service or exchange call, done."""

from celery import shared_task
from django.utils import timezone

from annotation.exchange import undoing, uploads
from annotation.services import claims, following, judging, tagging
from simulation.services import engine


@shared_task
def run_import(import_id: int) -> None:
    """Imports an uploaded file. Delivered twice, the second finds it taken and does nothing."""
    uploads.run(import_id=import_id)


@shared_task
def sweep_imports() -> None:
    """Takes up imports and undoings that a dead worker or a lost message left behind."""
    for import_id in uploads.stale():
        run_import.delay(import_id)
    for import_id in undoing.stale():
        run_undo.delay(import_id)


@shared_task
def run_undo(import_id: int) -> None:
    """Undoes a whole import."""
    undoing.run(import_id=import_id)


@shared_task
def advance_tagging(run_id: int) -> None:
    """Tags comments of a tagging run."""
    engine.carry_on(run_id=run_id, work=tagging.Tagging())


@shared_task
def advance_judging(run_id: int) -> None:
    """Checks the tags of comments."""
    engine.carry_on(run_id=run_id, work=judging.Judging())


@shared_task
def follow_simulations() -> None:
    """Starts what finished runs asked for: tags of a simulation, a check of tags."""
    following.follow_simulations()
    following.follow_taggings()


@shared_task
def release_leases() -> None:
    """Frees the comments that nobody holds any more."""
    claims.release_all_expired(now=timezone.now())
