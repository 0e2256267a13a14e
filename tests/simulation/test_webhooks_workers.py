"""Many workers send at once, and any of them may be killed: each message arrives."""

import os
import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.conf import settings as site
from django.db import connection
from django.utils import timezone

from simulation.domain.webhooks import Event
from simulation.models import Delivery
from simulation.services import webhook_sending, webhooks
from simulation.tasks import send_webhooks
from tests.factories.simulation import CorpusFactory
from tests.factories.webhooks import WebhookFactory
from tests.integration.conftest import database_url, wait_until
from tests.receiving import Say, receiving

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
SENDER = """
import django
django.setup()
from django.utils import timezone
from simulation.services import webhook_sending
webhook_sending.send_due(now=timezone.now())
"""


@pytest.fixture
def let(settings):
    def listed(*receivers):
        settings.WEBHOOK_PRIVATE_ADDRESSES = [receiver.endpoint for receiver in receivers]
        webhooks.guard.cache_clear()

    yield listed
    webhooks.guard.cache_clear()


def tell(corpus, number):
    for each in range(number):
        webhooks.tell(corpus=corpus, event=Event.RUN_ENDED, about=f"r{each}", payload={})


def test_a_message_whose_sender_was_killed_is_sent_again_when_its_lease_is_over(let):
    corpus = CorpusFactory()
    with receiving(Say(), Say(204)) as there:
        there.answers[0].first = there.wait_for_ever
        let(there)
        WebhookFactory(corpus=corpus, url=there.url)
        tell(corpus, 2)
        environment = {**os.environ, "DATABASE_URL": database_url(), "REDIS_URL": site.REDIS_URL}
        environment["WEBHOOK_PRIVATE_ADDRESSES"] = there.endpoint
        environment["DJANGO_SETTINGS_MODULE"] = "synthpai_web.settings"
        sender = subprocess.Popen([sys.executable, "-c", SENDER], env=environment, cwd=site.BASE_DIR)
        wait_until(lambda: there.seen, what="the message")
        sender.kill()
        sender.wait()
        now = timezone.now()
        assert webhook_sending.send_due(now=now) == 0, "one of a webhook is under way, for all we know"
        assert webhook_sending.send_due(now=now + webhook_sending.LEASE) == 2
        ids = [seen.headers["webhook-id"] for seen in there.seen]
    assert Counter(ids) == {ids[0]: 2, next(one for one in ids if one != ids[0]): 1}
    assert sorted(Delivery.objects.values_list("state", "attempts")) == [("sent", 1), ("sent", 2)]


def test_many_workers_send_each_message_once_and_one_of_a_webhook_at_a_time(let):
    under_way, most, door = Counter(), Counter(), threading.Lock()
    with receiving() as one, receiving() as other:
        let(one, other)

        def counted(receiver):
            def first():
                with door:
                    under_way[receiver.endpoint] += 1
                    most[receiver.endpoint] = max(most[receiver.endpoint], under_way[receiver.endpoint])
                threading.Event().wait(0.01)
                with door:
                    under_way[receiver.endpoint] -= 1

            return first

        for receiver in (one, other):
            receiver.answers[0].first = counted(receiver)
            corpus = CorpusFactory()
            WebhookFactory(corpus=corpus, url=receiver.url)
            tell(corpus, 15)

        def work():
            try:
                while Delivery.objects.filter(state=Delivery.WAITING).exists():
                    send_webhooks()
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen = [received.headers["webhook-id"] for received in one.seen + other.seen]
    assert len(seen) == len(set(seen)) == 30
    assert set(most.values()) == {1}
    assert set(Delivery.objects.values_list("state", "attempts")) == {("sent", 1)}


def test_a_result_that_comes_after_the_lease_changes_nothing(let):
    corpus = CorpusFactory()
    with receiving() as there:
        let(there)
        WebhookFactory(corpus=corpus, url=there.url)
        tell(corpus, 1)
        now = timezone.now()
        late = webhook_sending._claim(now)
        again = now + webhook_sending.LEASE + timedelta(seconds=1)
        mine = webhook_sending._claim(again)
        assert (late.pk, late.attempts, mine.attempts) == (mine.pk, 1, 2)
        webhook_sending._record(late, webhook_sending.Answer(500, 3), again)
        assert Delivery.objects.get().detail == Delivery.SENDING
        webhook_sending._record(mine, webhook_sending.Answer(204, 3), again)
    assert Delivery.objects.get().state == "sent"


def test_no_connection_is_kept_while_the_receiver_thinks(monkeypatch):
    corpus = CorpusFactory()
    WebhookFactory(corpus=corpus)
    tell(corpus, 1)
    held = []

    def post(*_, **__):
        held.append(connection.connection)
        return webhook_sending.Answer(204, 3)

    monkeypatch.setattr(webhook_sending, "post", post)
    assert webhook_sending.send_due(now=timezone.now()) == 1
    assert held == [None]
