"""A file uploaded on the page is imported by a worker; a worker killed midway loses and doubles nothing."""

import json
import time
from datetime import timedelta

import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from kombu import Connection, pools

from annotation.exchange.upsert import LOCK_OF_IMPORTS
from annotation.models import DataImport
from annotation.tasks import sweep_imports
from simulation.models import Comment
from tests.integration.conftest import wait_until

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
