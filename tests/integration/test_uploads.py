"""A file uploaded on the page is imported by a worker; a worker killed midway loses and doubles nothing."""

import json
import time
from contextlib import contextmanager
from datetime import timedelta
from itertools import chain

import psycopg
import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from kombu import Connection, pools

from annotation.exchange import export, progress, uploads
from annotation.exchange.upsert import BATCH, LOCK_OF_IMPORTS
from annotation.models import DataImport
from annotation.tasks import sweep_imports
from simulation.models import AuditEntry, Comment
from tests.annotation.exchange.digests import digests
from tests.annotation.exchange.samples import guess, lines, row
from tests.factories.simulation import CorpusFactory
from tests.integration.conftest import database_url, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def tree(n=20):
    replies = [
        {"author": "p1", "username": f"U{number}", "text": f"reply {number}", "guesses": [], "children": []}
        for number in range(n - 1)
    ]
    root = {"author": "p0", "username": "Root", "text": "Question", "guesses": [], "guess_feature": "age"}
    return SimpleUploadedFile("thread_age_1.json", json.dumps({**root, "children": replies}).encode())


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def upload(browser, corpus, file, **fields):
    answer = browser.post(reverse("imports", args=[corpus.public_id]), {"file": file, **fields})
    assert answer.status_code == 302, answer.content
    return DataImport.objects.latest("id"), answer["Location"]


def state(one):
    one.refresh_from_db()
    return one.state


def test_an_upload_is_imported_by_the_worker_and_the_page_says_so(worker, client_of, researcher, corpus):
    worker.start()
    browser = client_of(researcher)
    one, address = upload(browser, corpus, tree())
    wait_until(lambda: state(one) == "done", what="the import")
    assert corpus.comments.count() == 20
    body = browser.get(address).content.decode()
    assert "Imported" in body
    assert "20 comments whose author has no profile in the corpus" in body
    assert "every 1500ms" not in body


def test_without_a_worker_the_page_says_so_and_the_file_waits(worker, client_of, researcher, corpus):
    browser = client_of(researcher)
    one, address = upload(browser, corpus, tree())
    body = browser.get(address).content.decode()
    assert "No worker is running." in body
    assert "every 1500ms" in body
    worker.start()
    wait_until(lambda: state(one) == "done", what="the import")


def test_a_bad_file_is_refused_with_its_problems_and_changes_nothing(worker, client_of, researcher, corpus):
    worker.start()
    browser = client_of(researcher)
    file = SimpleUploadedFile("thread_age_1.json", b'{"author": "p1", "username": "A", "guesses": 3}')
    one, address = upload(browser, corpus, file)
    wait_until(lambda: state(one) == "invalid", what="the refusal")
    assert Comment.objects.count() == 0
    body = browser.get(address).content.decode()
    assert "Not imported" in body
    assert "text" in body


def test_only_looking_changes_nothing(worker, client_of, researcher, corpus):
    worker.start()
    one, _ = upload(client_of(researcher), corpus, tree(), dry_run="on")
    wait_until(lambda: state(one) == "done", what="the look")
    assert Comment.objects.count() == 0
    assert {row["kind"]: row["new"] for row in one.counts["rows"]}["comments"] == 20


def test_a_killed_worker_loses_nothing_and_doubles_nothing(worker, client_of, researcher, corpus):
    victim = worker.start()
    with connection.cursor() as cursor:
        # Holds the lock for which an import into this corpus waits, so that the kill hits it in the middle.
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_OF_IMPORTS, corpus.pk])
        one, _ = upload(client_of(researcher), corpus, tree())
        wait_until(lambda: state(one) == "running", what="the start")
        time.sleep(0.3)
        worker.kill(victim)
        assert state(one) == "running"
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_OF_IMPORTS, corpus.pk])
    DataImport.objects.update(started_at=one.started_at - timedelta(minutes=5))
    worker.start()
    sweep_imports.delay()
    wait_until(lambda: state(one) == "done", what="the second try")
    assert corpus.comments.count() == 20
    assert one.attempts == 2


def test_a_silent_broker_does_not_lose_the_file(client_of, researcher, corpus, caplog, monkeypatch):
    nowhere = pools.producers[Connection("redis://127.0.0.1:1/0")]
    monkeypatch.setattr(current_app.amqp, "_producer_pool", nowhere)
    one, address = upload(client_of(researcher), corpus, tree())
    monkeypatch.undo()
    assert "not handed over" in caplog.text
    assert state(one) == "queued"
    assert "Waiting for a worker" in client_of(researcher).get(address).content.decode()


def test_a_name_too_long_for_the_disk_is_refused_in_words(client_of, researcher, corpus):
    file = SimpleUploadedFile("雪" * 90 + ".json", tree().read())
    answer = client_of(researcher).post(reverse("imports", args=[corpus.public_id]), {"file": file})
    assert answer.status_code == 422
    assert "name" in answer.context["form"].errors["file"][0]
    assert not DataImport.objects.exists()


def test_a_file_over_the_limit_is_refused_before_it_is_stored(client_of, researcher, corpus, settings):
    settings.UPLOAD_LIMIT_MB = 0
    answer = client_of(researcher).post(reverse("imports", args=[corpus.public_id]), {"file": tree()})
    assert answer.status_code == 422
    assert "are taken" in answer.content.decode()
    assert not DataImport.objects.exists()


def many_rows(last_text="The last one."):
    """A batch and one more, which is there before, with another text."""
    rows = [row(number, guesses=[guess()], reviews={}) for number in range(BATCH + 1)]
    rows[-1]["text"] = last_text
    return SimpleUploadedFile("rows.jsonl", lines(*rows).encode())


@pytest.fixture
def wall(researcher, corpus):
    """`with wall():` nobody gets past the last comment of `many_rows`, which is there already.

    An import of them stands still there when a batch is written.
    """
    first = uploads.receive(
        by=researcher,
        corpus=corpus,
        file=SimpleUploadedFile("first.jsonl", lines(row(BATCH)).encode()),
    )
    uploads.run(import_id=first.pk)

    @contextmanager
    def holding():
        with psycopg.connect(database_url()) as other:
            other.execute("SELECT 1 FROM simulation_comment WHERE external_id = %s FOR UPDATE", [f"c{BATCH}"])
            yield
            other.rollback()

    return holding


def waits_for_a_row():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]


def exported(corpus):
    return "".join(chain(export.stream(corpus=corpus, layout="synthpai", reviewed_only=False)))


def sweep_later():
    DataImport.objects.filter(started_at__isnull=False).update(
        started_at=timezone.now() - timedelta(minutes=5)
    )
    sweep_imports.delay()


def test_the_page_says_how_far_it_is_and_cancelling_in_the_middle_leaves_nothing(
    worker, client_of, researcher, corpus, wall
):
    worker.start()
    browser, before = client_of(researcher), digests()
    with wall():
        one, address = upload(browser, corpus, many_rows())
        wait_until(waits_for_a_row, what="the middle of the import")
        wait_until(lambda: (said := progress.of(one)) and said.stage == "storing", what="a word on it")
        body = browser.get(address).content.decode()
        assert "of the file stored" in body
        # It is told twice a second; what was counted since the last word is not in it.
        assert ("rows written" in body) or not progress.of(one).rows
        answer = browser.post(reverse("import_cancel", args=[one.public_id]), follow=True)
        assert "Being cancelled" in answer.content.decode()
        assert state(one) == "running"
        time.sleep(progress.EVERY)
    wait_until(lambda: state(one) == "cancelled", what="the end")
    assert digests() == before
    assert "Cancelled: nothing was changed" in browser.get(address).content.decode()
    assert AuditEntry.objects.filter(action="import.cancelled").count() == 1


def test_killed_in_the_middle_and_tried_again_it_is_as_if_undisturbed(
    worker, client_of, researcher, corpus, wall
):
    victim = worker.start()
    before = digests()
    with wall():
        one, _ = upload(client_of(researcher), corpus, many_rows())
        wait_until(waits_for_a_row, what="the middle of the import")
        worker.kill(victim)
    wait_until(lambda: not waits_for_a_row(), what="the end of what it began")
    assert digests() == before
    worker.start()
    wait_until(lambda: uploads.free([one.pk]), what="the lock")
    sweep_later()
    wait_until(lambda: state(one) == "done", what="the second try")
    assert one.attempts == 2
    undisturbed = CorpusFactory(name="undisturbed")
    for file in (SimpleUploadedFile("first.jsonl", lines(row(BATCH)).encode()), many_rows()):
        uploads.run(import_id=uploads.receive(by=researcher, corpus=undisturbed, file=file).pk)
    assert exported(corpus) == exported(undisturbed)


def test_an_undo_killed_in_the_middle_is_undone_as_a_whole_later(worker, client_of, researcher, corpus, wall):
    before = digests()
    browser = client_of(researcher)
    one, address = upload(browser, corpus, many_rows())
    uploads.run(import_id=one.pk)
    imported = digests()
    assert imported != before
    victim = worker.start()
    with wall():
        page = reverse("import_undo", args=[one.public_id])
        assert "suggestions" in browser.get(page).content.decode()
        assert browser.post(page, {"typed": "rows.jsonl"})["Location"] == address
        wait_until(waits_for_a_row, what="the middle of the undo")
        assert "Being undone" in browser.get(address).content.decode()
        worker.kill(victim)
    wait_until(lambda: uploads.free([one.pk]), what="the lock")
    assert digests() == imported
    assert state(one) == "done"
    worker.start()
    sweep_later()
    wait_until(lambda: state(one) == "undone", what="the second try")
    assert digests() == before
    assert "Undone: nothing of it is left" in browser.get(address).content.decode()
