"""Up is not ready: each part that is missing is named."""

import socket
import time
from io import StringIO

import pytest
from celery import current_app
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from annotation.tasks import sweep_imports
from simulation.selectors import workers

pytestmark = pytest.mark.database


@pytest.fixture
def no_workers(db):
    workers.broker().delete(workers.KEY)
    yield
    workers.broker().delete(workers.KEY)


def test_the_process_is_up_without_asking_anything(client, django_assert_num_queries, db):
    with django_assert_num_queries(0):
        assert client.get("/healthz").json() == {"ok": True}


def test_without_a_worker_the_site_is_not_ready_and_says_why(client, no_workers):
    answer = client.get("/readyz")
    checks = answer.json()["checks"]
    assert answer.status_code == 503
    assert {name for name, check in checks.items() if check["ok"]} == {"database", "migrations", "broker"}
    assert "none was ever seen" in checks["worker"]["said"]


def test_a_worker_silent_for_more_than_a_minute_does_not_count(client, no_workers):
    workers.broker().hset(workers.KEY, "w@x", f"{time.time() - 61:.1f}")
    assert client.get("/readyz").json()["checks"]["worker"]["said"] == "last seen 61 s ago"
    assert workers.alive() == {}
    workers.broker().hset(workers.KEY, "w@x", f"{time.time() - 59:.1f}")
    assert client.get("/readyz").status_code == 200


def test_a_database_that_is_gone_is_named_and_asked_but_once(client, monkeypatch, tmp_path):
    """Without the `db` fixture Django's own connection would refuse: only the short probe may be used."""
    monkeypatch.setitem(connection.settings_dict, "HOST", str(tmp_path))
    answer = client.get("/readyz")
    checks = answer.json()["checks"]
    assert answer.status_code == 503
    assert checks["database"] == {"ok": False, "said": "does not answer (OperationalError)"}
    assert checks["migrations"] == {"ok": False, "said": "unknown, the database does not answer"}
    assert checks["broker"]["ok"]


def test_a_silent_broker_is_named(client, db, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    workers.broker.cache_clear()
    try:
        checks = client.get("/readyz").json()["checks"]
    finally:
        workers.broker.cache_clear()
    assert not checks["broker"]["ok"]
    assert "the broker does not answer" in checks["worker"]["said"]
    assert checks["database"]["ok"]


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_makes_the_site_ready(client, worker):
    worker.start()
    answer = client.get("/readyz").json()
    assert answer["ok"], answer


def test_the_worker_s_own_health_check_looks_at_its_host_only(no_workers):
    now = time.time()
    workers.broker().hset(workers.KEY, "celery@elsewhere", f"{now:.1f}")
    with pytest.raises(CommandError, match="no worker of"):
        call_command("worker_alive")
    workers.broker().hset(workers.KEY, f"celery@{socket.gethostname()}", f"{now:.1f}")
    said = StringIO()
    call_command("worker_alive", stdout=said)
    assert "s ago" in said.getvalue()


def test_the_database_is_of_a_supported_version(db):
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        assert int(cursor.fetchone()[0]) >= 150_000


def test_the_admin_s_home_page_says_that_no_worker_is_there(client_of, admin, no_workers):
    assert "no worker" in client_of(admin).get(reverse("home")).content.decode()


def test_a_task_lands_in_its_own_queue_once(no_workers):
    broker = workers.broker()
    broker.flushdb()
    with current_app.connection() as connected:
        for queue in current_app.conf.task_queues:
            queue(connected).declare()  # as a worker that listens to all three does
    sweep_imports.delay()
    lengths = {name: broker.llen(name) for name in settings.CELERY_TASK_QUEUES_NAMES}
    broker.flushdb()
    assert lengths == {"llm": 0, "io": 1, "stats": 0}


def test_queues_named_for_work_are_the_three_of_the_house():
    assert settings.CELERY_TASK_QUEUES_NAMES == ("llm", "io", "stats")
