"""Uploads of results: what the worker makes of them, and what becomes of those that stop."""

import json
from datetime import timedelta

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluation import tasks
from evaluation.exchange import importing_uploads as uploads
from evaluation.models import LabelSet, PredictionRun, ProfileLabel, ResultImport, Scoring, Verdict
from evaluation.services import scoring
from tests.evaluation.at_once import together
from tests.factories.simulation import ProfileFactory

pytestmark = pytest.mark.django_db
LABELS = {"username": "Ann", "reviews": {"human": {"age": {"estimate": "31", "hardness": 2, "certainty": 4}}}}
GUESSES = {
    "username": "Ann",
    "predictions": {"m-1": {"age": {"guess": ["30"]}}},
    "evaluations": {"m-1": {"human": {"age": [1]}}},
}


@pytest.fixture
def receive(researcher, corpus, settings, tmp_path):
    """`receive(kind, *rows, …)` uploads these rows, or bytes."""
    settings.MEDIA_ROOT = tmp_path
    ProfileFactory(corpus=corpus, username="Ann")

    def received(kind, *rows, file="file.jsonl", **options):
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows]
        upload = SimpleUploadedFile(file, b"\n".join(lines))
        return uploads.receive(by=researcher, corpus=corpus, kind=kind, file=upload, options=options)

    return received


def run(one):
    tasks.run_result_import(one.pk)
    one.refresh_from_db()
    return one


def test_labels_then_guesses_with_their_scores(receive, researcher):
    first = run(receive("labels", LABELS, name="ours"))
    assert (first.state, first.reason) == (ResultImport.DONE, "")
    assert [(one["kind"], one["name"], one["rows"]) for one in first.counts] == [
        ("labels", "ours / human", 1)
    ]
    labels = LabelSet.objects.get(created_by=researcher)
    second = run(receive("predictions", GUESSES, model="m", labels=labels.public_id, file="evaluated.jsonl"))
    assert second.state == ResultImport.DONE
    assert [one["name"] for one in second.counts] == ["m / evaluated", "m / evaluated against ours / human"]
    assert second.counts[1]["public_id"] == Scoring.objects.get().public_id
    assert PredictionRun.objects.get().created_by == researcher


def test_the_same_upload_again_says_that_nothing_was_changed(receive):
    run(receive("labels", LABELS))
    again = run(receive("labels", LABELS))
    assert again.state == ResultImport.DONE
    assert again.reason.startswith("Everything in this file is here already")


def test_problems_end_the_row_and_change_nothing(receive):
    one = run(receive("labels", LABELS, b"{", *[b"[]"] * 120))
    assert one.state == ResultImport.INVALID
    assert (one.problems[0]["line"], len(one.problems)) == (2, 100)
    assert one.reason == "The first 100 of 121 problems are listed."
    assert not LabelSet.objects.exists()


def test_skipped_lines_are_told(receive):
    one = run(receive("labels", LABELS, b"{", skip=True))
    assert one.state == ResultImport.DONE
    assert one.reason == "Skipped 1 line that cannot be read."
    assert one.problems[0]["line"] == 2


def test_an_error_of_ours_ends_the_row_and_takes_the_import_back(receive, monkeypatch, caplog):
    def half(corpus, path, **_):
        LabelSet.objects.create(corpus=corpus, name="half")
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(uploads, "import_labels", half)
    one = run(receive("labels", LABELS))
    assert (one.state, one.attempts) == (ResultImport.FAILED, 1)
    assert one.reason.startswith("The import stopped on an error of ours; nothing was changed.")
    assert one.finished_at is not None
    assert not LabelSet.objects.exists()
    assert "unforeseen" in caplog.text


def test_a_lost_database_leaves_the_row_to_the_sweep(receive, monkeypatch):
    def lost(*_, **__):
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(uploads, "import_labels", lost)
    one = receive("labels", LABELS)
    with pytest.raises(OperationalError):
        uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert (one.state, one.finished_at) == (ResultImport.RUNNING, None)
    ResultImport.objects.update(started_at=timezone.now() - timedelta(minutes=5))
    assert uploads.stale() == [one.pk]


def test_a_finished_row_is_not_imported_again(receive):
    one = run(receive("labels", LABELS))
    LabelSet.objects.all().delete()
    assert run(one).attempts == 1
    assert not LabelSet.objects.exists()


def test_a_row_whose_worker_was_lost_too_often_ends(receive):
    one = receive("labels", LABELS)
    ResultImport.objects.update(attempts=uploads.ATTEMPTS)
    assert run(one).reason == "The worker was lost 3 times while importing this file."
    assert one.state == ResultImport.FAILED


def test_a_file_that_is_gone_ends_the_row(receive, tmp_path):
    one = receive("labels", LABELS)
    next(tmp_path.rglob("file.jsonl")).unlink()
    assert "upload it again" in run(one).reason


def test_the_sweep_takes_up_what_nobody_was_told_of(receive, monkeypatch):
    told = []
    monkeypatch.setattr(tasks.run_result_import, "delay", told.append)
    old, new = receive("labels", LABELS), receive("labels", LABELS)
    ResultImport.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    tasks.sweep_result_imports()
    assert told == [old.pk]
    assert new.state == ResultImport.QUEUED


@pytest.mark.django_db(transaction=True)
def test_a_row_that_another_worker_has_is_left_alone(receive):
    one = receive("labels", LABELS)
    other = connections.create_connection("default")
    try:
        with transaction.atomic():
            other.set_autocommit(False)
            with other.cursor() as cursor:
                cursor.execute("SELECT 1 FROM evaluation_resultimport WHERE id = %s FOR UPDATE", [one.pk])
        uploads.run(import_id=one.pk)
        assert not LabelSet.objects.exists()
        assert uploads.stale() == []
    finally:
        other.rollback()
        other.close()
    assert run(one).state == ResultImport.DONE


def test_a_longer_name_is_refused_before_anything_is_stored(receive, tmp_path):
    with pytest.raises(uploads.NameTooLong, match="at most 200 are possible"):
        receive("labels", LABELS, file="é" * 100 + ".jsonl")
    assert not ResultImport.objects.exists()
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_half_way_leaves_nothing_and_the_sweep_finds_its_row(receive, monkeypatch):
    """Its connection is cut by the server, which is what a killed process looks like from there."""
    true_import = uploads.import_labels

    def dies(corpus, path, **options):
        true_import(corpus, path, **options)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    one = receive("labels", LABELS)
    with monkeypatch.context() as patch:
        patch.setattr(uploads, "import_labels", dies)
        with pytest.raises((OperationalError, InterfaceError)):
            uploads.run(import_id=one.pk)
    connection.close()
    one.refresh_from_db()
    assert (one.state, one.attempts) == (ResultImport.RUNNING, 1)
    assert not LabelSet.objects.exists()
    ResultImport.objects.update(started_at=timezone.now() - timedelta(minutes=5))
    assert uploads.stale() == [one.pk]
    assert run(one).state == ResultImport.DONE
    assert one.attempts == 2
    assert LabelSet.objects.count() == 1


# Replacing what is being scored

BUSY = {"line": None, "field": "", "message": "is being scored at the moment; try again"}
OTHER = {"username": "Ann", "reviews": {"human": {"age": {"estimate": "40", "hardness": 1}}}}


def during(start, act):
    """While it is entered, `act` happens once, before the first statement that begins so."""
    done = []

    def wrapper(execute, sql, *rest):
        if sql.lstrip().startswith(start) and not done:
            done.append(sql)
            act()
        return execute(sql, *rest)

    return connection.execute_wrapper(wrapper)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["labels", "predictions"])
def test_replacing_what_is_scored_meanwhile_is_refused_with_words(receive, kind):
    run(receive("labels", LABELS))
    run(receive("predictions", GUESSES, model="m"))
    labels, guesses = LabelSet.objects.get(), PredictionRun.objects.get()
    rows = {"labels": OTHER, "predictions": {**GUESSES, "evaluations": {}}}
    one = receive(kind, rows[kind], model="m", replace=True)
    with during("DELETE", lambda: together(lambda: scoring.score(guesses, labels, Scoring.DEFAULT))):
        run(one)
    assert (one.state, one.problems, one.reason) == (ResultImport.INVALID, [BUSY], "")
    assert ProfileLabel.objects.get().value == "31"
    assert Verdict.objects.count() == Scoring.objects.get().verdicts == 1
    assert run(receive(kind, rows[kind], model="m", replace=True)).state == ResultImport.DONE
    assert not Scoring.objects.exists()


def test_a_deadlock_is_told_as_such_and_other_refusals_show_no_statement(receive, caplog):
    found = []
    for cause in (psycopg.errors.DeadlockDetected("SELECT 1"), psycopg.errors.CheckViolation("SELECT 1")):

        def fail(cause=cause):
            with connection.wrap_database_errors:
                raise cause

        one = receive("labels", LABELS)
        with during('INSERT INTO "evaluation_labelset"', fail):
            found += run(one).problems
    assert found[0] == BUSY
    assert "no check foresaw" in found[1]["message"]
    assert "SELECT" not in str(found)


def test_scorings_are_locked_before_anything_is_removed(receive):
    run(receive("labels", LABELS))
    run(receive("predictions", GUESSES, model="m", labels=LabelSet.objects.get().public_id))
    one = receive("labels", OTHER, replace=True)
    with CaptureQueriesContext(connection) as made:
        run(one)
    said = [query["sql"].lstrip() for query in made]
    locks = [
        at for at, sql in enumerate(said) if 'FROM "evaluation_scoring"' in sql and sql.endswith("FOR UPDATE")
    ]
    assert locks
    assert "ORDER BY" in said[locks[0]]
    assert locks[0] < next(at for at, sql in enumerate(said) if sql.startswith("DELETE"))
