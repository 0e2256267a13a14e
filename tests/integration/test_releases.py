"""A release asked for on the page is made by a worker; one that is killed midway leaves no half release."""

from datetime import timedelta

import psycopg
import pytest
from django.db import connection
from django.urls import reverse

from evaluation.exchange.release_verifying import problems
from evaluation.models import Release, ReleaseDifference
from evaluation.tasks import sweep_releases
from tests.factories.simulation import CommentFactory, ThreadFactory
from tests.integration.conftest import database_url, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "releases"


@pytest.fixture
def talk(corpus):
    thread = ThreadFactory(corpus=corpus)
    for number in range(3):
        CommentFactory(thread=thread, text=f"Comment {number}")
    return corpus


def ask(browser, corpus, name="1.0"):
    fields = {"name": name, "policy": "single", "min_words": 0}
    answer = browser.post(reverse("release_new", args=[corpus.public_id]), fields)
    assert answer.status_code == 302, answer.content
    return Release.objects.latest("id")


def state(one):
    one.refresh_from_db()
    return one.state


def is_whole(one, files):
    return list(problems(files / one.public_id, digest=one.digest)) == []


def test_releases_are_made_and_compared_by_the_worker(worker, client_of, researcher, talk, files, tmp_path):
    worker.start(MEDIA_ROOT=str(tmp_path))
    browser = client_of(researcher)
    made = []
    for name in ("1.0", "1.1"):
        one = ask(browser, talk, name)
        wait_until(lambda one=one: state(one) == "ready", what="the release")
        assert is_whole(one, files)
        made.append(one)
    page = reverse("release_compare", args=[made[1].public_id])
    browser.post(page, {"other": made[0].public_id})
    found = ReleaseDifference.objects.filter(counts__isnull=False)
    wait_until(found.exists, what="the comparison")
    assert found.get().counts["comments"] == {"same": 3}


def test_a_killed_worker_leaves_no_half_release_and_the_next_makes_it(
    worker, client_of, researcher, talk, files, tmp_path
):
    victim = worker.start(MEDIA_ROOT=str(tmp_path))
    with psycopg.connect(database_url()) as other:
        # The release reads this table in its middle.
        other.execute("LOCK TABLE annotation_firstanswer IN ACCESS EXCLUSIVE MODE")
        one = ask(client_of(researcher), talk)
        wait_until(waits_for_a_lock, what="the middle of the release")
        worker.kill(victim)
        assert state(one) == "running"
        assert not (files / one.public_id).exists()
        other.rollback()
    Release.objects.update(started_at=one.started_at - timedelta(minutes=5))
    worker.start(MEDIA_ROOT=str(tmp_path))
    sweep_releases.delay()
    wait_until(lambda: state(one) == "ready", what="the second try")
    assert one.attempts == 2
    assert is_whole(one, files)
    assert [path.name for path in files.iterdir()] == [one.public_id]


def waits_for_a_lock():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]
