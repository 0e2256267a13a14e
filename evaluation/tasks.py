"""Doors for the worker: ids in, one service or exchange call, done."""

from typing import Any

from celery import shared_task
from django.db import IntegrityError, OperationalError

from evaluation.exchange import importing_uploads, release_differences, release_making, release_push
from evaluation.services import (
    following,
    inferring,
    masking,
    masking_rewriting,
    matching,
    naming,
    reports,
    scoring_many,
    scoring_stale,
)
from simulation.services import engine


@shared_task
def make_reports() -> None:
    """Counts the reports that were asked for and are out of date."""
    reports.make_asked()


@shared_task
def advance_matching(run_id: int) -> None:
    """Asks a judge about questions that rules left open."""
    engine.carry_on(run_id=run_id, work=matching.Matching())


@shared_task
def advance_inference(run_id: int) -> None:
    """Asks a model about authors."""
    engine.carry_on(run_id=run_id, work=inferring.Inferring())


@shared_task
def run_result_import(import_id: int) -> None:
    """Imports an uploaded file of results. Delivered twice, the second finds it taken and does nothing."""
    importing_uploads.run(import_id=import_id)


@shared_task
def sweep_result_imports() -> None:
    """Takes up imports of results that a dead worker or a lost message left behind."""
    for import_id in importing_uploads.stale():
        run_result_import.delay(import_id)


@shared_task
def follow_inferences() -> None:
    """Scores what inference runs have guessed."""
    following.follow_inferences()


@shared_task(autoretry_for=(OperationalError, IntegrityError), max_retries=3, default_retry_delay=5)
def score_runs(
    labels: int, runs: list[int], modes: list[str], more: dict[str, Any], by: int | None = None
) -> None:
    """Scores runs against a label set; `more` as `scoring_many.score_by_keys` takes it. Can be repeated."""
    scoring_many.score_by_keys(labels, runs, modes, by=by, **more)


@shared_task
def mask_texts(masking_id: int) -> None:
    """Masks the comments of a corpus. Delivered twice, the second finds it taken and does nothing."""
    masking.carry_out(masking_id)


@shared_task
def advance_rewriting(run_id: int) -> None:
    """Asks models to rewrite comments."""
    engine.carry_on(run_id=run_id, work=masking_rewriting.RewritingWork())


@shared_task
def advance_topics(run_id: int) -> None:
    """Asks a model to name communities for threads."""
    engine.carry_on(run_id=run_id, work=naming.Naming())


@shared_task
def sweep_maskings() -> None:
    """Takes up maskings that a dead worker or a lost message left behind; ends those whose run has ended."""
    masking_rewriting.follow_rewritings()
    for masking_id in masking.stale():
        mask_texts.delay(masking_id)


@shared_task
def follow_labels() -> None:
    """Scores anew what was scored against labels that have changed since."""
    scoring_stale.follow_labels()


@shared_task
def make_release(release_id: int) -> None:
    """Writes the files of a release. Delivered twice, the second finds it taken and does nothing."""
    release_making.make(release_id)


@shared_task
def make_difference(difference_id: int) -> None:
    """Compares two releases. Delivered twice, the second finds it taken and does nothing."""
    release_differences.make(difference_id)


@shared_task
def push_release(release_id: int, repository: str, variable: str, public: bool) -> None:
    """Sends a release to a hub. Can be repeated."""
    release_push.push(release_id, repository=repository, variable=variable, public=public)


@shared_task
def sweep_releases() -> None:
    """Takes up releases and differences that a dead worker or a lost message left behind."""
    release_differences.sweep_folders()
    for release_id in release_making.stale():
        make_release.delay(release_id)
    for difference_id in release_differences.stale():
        make_difference.delay(difference_id)
