"""Messages to webhooks: written once with what they tell of, signed, sent, tried again, given up."""

import base64
import hashlib
import hmac
from datetime import timedelta
from random import Random

import pytest
from django.conf import settings as site
from django.db import transaction
from django.utils import timezone

from simulation.domain import webhooks as rules
from simulation.domain.webhooks import Event
from simulation.models import Delivery, Webhook
from simulation.services import webhook_keeping, webhook_sending, webhooks
from tests.factories.simulation import CorpusFactory, UserFactory
from tests.factories.webhooks import WebhookFactory
from tests.receiving import Say, receiving

pytestmark = pytest.mark.django_db
DATA = {"run": "r1", "state": "done"}
LONG = timedelta(days=30)


@pytest.fixture
def listed(settings):
    """`listed(receiver)` lets messages go to it."""

    def let(*receivers):
        settings.WEBHOOK_PRIVATE_ADDRESSES = [receiver.endpoint for receiver in receivers]
        webhooks.guard.cache_clear()

    yield let
    webhooks.guard.cache_clear()


@pytest.fixture
def told(corpus, listed):
    """`told(receiver, number)`: a webhook of it, and so many messages that are due."""

    def telling(receiver, number=1):
        listed(receiver)
        webhook = WebhookFactory(corpus=corpus, url=receiver.url)
        for each in range(number):
            tell(corpus, about=f"r{each}")
        return webhook

    return telling


def tell(corpus, *, about="r1", event=Event.RUN_ENDED):
    return webhooks.tell(corpus=corpus, event=event, about=about, payload=DATA)


def send(*, after=timedelta()):
    return webhook_sending.send_due(now=timezone.now() + after)


def only():
    return Delivery.objects.get()


def by_age():
    return list(Delivery.objects.order_by("id"))


# --- Written ---------------------------------------------------------------------------------------------


def test_every_active_webhook_of_the_corpus_that_wants_the_event_gets_one_message(corpus):
    wanting = WebhookFactory(corpus=corpus)
    WebhookFactory(corpus=corpus, events=[Event.RELEASE_READY.value])
    WebhookFactory(corpus=corpus, paused_at=timezone.now())
    WebhookFactory()
    assert tell(corpus) == 1
    delivery = only()
    assert (delivery.webhook, delivery.event, delivery.state) == (wanting, "run.ended", "waiting")
    assert delivery.payload == {
        "id": delivery.public_id,
        "type": "run.ended",
        "at": delivery.payload["at"],
        "corpus": corpus.public_id,
        "data": DATA,
    }


def test_the_same_is_told_once_and_another_version_of_it_again(corpus):
    WebhookFactory(corpus=corpus)
    for about in ("r1", "r1", "r1.2"):
        tell(corpus, about=about)
    tell(corpus, about="r1", event=Event.RELEASE_READY)
    assert sorted(Delivery.objects.values_list("event", "about")) == [
        ("release.ready", "r1"),
        ("run.ended", "r1"),
        ("run.ended", "r1.2"),
    ]


def test_a_message_is_written_with_what_it_tells_of_or_not_at_all(corpus):
    WebhookFactory(corpus=corpus)
    with transaction.atomic():
        tell(corpus)
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_telling_takes_two_queries_however_many_webhooks_there_are(corpus, django_assert_num_queries):
    for _ in range(5):
        WebhookFactory(corpus=corpus)
    with django_assert_num_queries(2):
        assert tell(corpus) == 5
    other = CorpusFactory()
    with django_assert_num_queries(1):
        assert tell(other) == 0


# --- Signed ----------------------------------------------------------------------------------------------


def test_a_message_arrives_signed_and_a_receiver_can_check_it(told):
    with receiving() as there:
        webhook = told(there)
        assert send() == 1
        (seen,) = there.seen
    secret = webhooks.secret_of(webhook)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    name, at = seen.headers["webhook-id"], seen.headers["webhook-timestamp"]
    right = hmac.new(key, f"{name}.{at}.".encode() + seen.body, hashlib.sha256).digest()
    assert seen.headers["webhook-signature"] == "v1," + base64.b64encode(right).decode()
    assert seen.headers["content-type"] == "application/json"
    assert abs(int(at) - timezone.now().timestamp()) < 3600
    delivery = only()
    assert (seen.payload, name) == (delivery.payload, delivery.public_id)
    assert (delivery.state, delivery.status, delivery.attempts, delivery.detail) == ("sent", 204, 1, "")
    assert delivery.ended_at is not None
    assert send(after=LONG) == 0


def test_a_signature_is_that_of_the_published_example():
    """From the specification of Standard Webhooks."""
    headers = rules.signed(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        at=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["Webhook-Signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_secret_is_of_one_webhook_one_version_and_one_installation():
    mine = rules.secret("key", "abc", 1)
    assert mine.startswith("whsec_")
    assert len(base64.b64decode(mine.removeprefix("whsec_"))) == 32
    assert mine == rules.secret("key", "abc", 1)
    others = {rules.secret("key", "abc", 2), rules.secret("key", "abd", 1), rules.secret("other", "abc", 1)}
    assert len(others | {mine}) == 4
    webhook = Webhook(public_id="abc", secret_version=3)
    assert webhooks.secret_of(webhook) == rules.secret(site.SECRET_KEY, "abc", 3)


def test_each_try_has_its_own_time_and_the_same_id_and_body(told):
    with receiving(Say(500), Say(204)) as there:
        told(there)
        send()
        send(after=timedelta(seconds=100))
        first, second = there.seen
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) >= 90


# --- Tried again -----------------------------------------------------------------------------------------


def test_the_waits_grow_and_differ_a_little():
    rng = Random(1)
    for tries, seconds in enumerate(rules.WAITS, start=1):
        drawn = [rules.wait(tries, rng) for _ in range(50)]
        assert seconds * 0.8 <= min(drawn) < max(drawn) <= seconds * 1.2
    assert sorted(rules.WAITS) == list(rules.WAITS)
    assert [rules.held_up(number)[0] for number in (0, 1, 2, 3, 9)] == [10, 10, 60, 300, 300]


def test_a_message_that_is_refused_is_tried_again_and_then_given_up(told):
    with receiving(Say(500, b"out of order")) as there:
        told(there)
        after = timedelta()
        for tries in range(1, rules.MOST_TRIES + 1):
            assert send(after=after) == 1
            delivery = only()
            assert (delivery.attempts, delivery.status, delivery.detail) == (tries, 500, "out of order")
            assert send(after=after) == 0
            after += timedelta(days=1)
    assert delivery.state == "failed"
    assert delivery.ended_at is not None
    assert send(after=LONG) == 0


@pytest.mark.parametrize(
    ("status", "state"), [(200, "sent"), (202, "sent"), (301, "waiting"), (404, "waiting")]
)
def test_only_a_success_is_a_success(told, status, state):
    with receiving(Say(status, headers={"Location": "https://elsewhere.example/"})) as there:
        told(there)
        send()
    assert (only().state, only().status) == (state, status)


def test_nobody_there_is_a_failure_with_a_reason(told):
    with receiving() as there:
        told(there)
    send()
    assert (only().state, only().status) == ("waiting", None)
    assert only().detail.startswith("no answer: ")


def test_an_address_that_has_become_private_is_refused_when_it_is_sent(corpus, monkeypatch):
    WebhookFactory(corpus=corpus)
    monkeypatch.setattr(webhooks.guard(), "_resolve", lambda host, port: ["10.0.0.7"])
    tell(corpus)
    send()
    webhooks.guard.cache_clear()
    assert "not on the open internet" in only().detail


def test_who_is_gone_is_told_nothing_more(told):
    with receiving(Say(410)) as there:
        webhook = told(there, 3)
        assert send() == 1
    webhook.refresh_from_db()
    assert webhook.paused_at is not None
    assert "410" in webhook.paused_why
    assert [delivery.state for delivery in by_age()] == ["failed", "waiting", "waiting"]
    assert send(after=LONG) == 0
    assert tell(webhook.corpus, about="later") == 0


def test_after_twenty_failures_in_a_row_it_pauses_itself_with_the_reason(told):
    with receiving(Say(503, b"down")) as there:
        webhook = told(there, 5)
        tries = 0
        for day in range(100):
            tries += send(after=timedelta(days=day))
        assert tries == len(there.seen) == rules.MOST_IN_A_ROW
    webhook.refresh_from_db()
    assert webhook.paused_why == "20 tries in a row failed; the last: 503 down"


def test_a_success_between_begins_the_count_anew(told):
    with receiving(*[Say(500)] * 3, Say(204), Say(500)) as there:
        webhook = told(there, 2)
        for day in range(4):
            send(after=timedelta(days=day))
        assert webhook_sending.failures_in_a_row(webhook) == 1
    webhook.refresh_from_db()
    assert webhook.paused_at is None


def test_a_failure_holds_up_the_others_of_its_webhook_and_of_no_other(told, corpus, listed):
    with receiving(Say(500)) as broken, receiving() as good:
        told(broken, 3)
        listed(broken, good)
        WebhookFactory(corpus=corpus, url=good.url)
        tell(corpus, about="new")
        send()
        assert len(broken.seen) == 1
        assert len(good.seen) == 1
        assert send() == 0
        tell(corpus, about="newer")
        assert send() == 1
        assert (len(broken.seen), len(good.seen)) == (1, 2)
        send(after=timedelta(seconds=30))
        assert [seen.payload["id"] for seen in broken.seen] == [by_age()[0].public_id] * 2


def test_what_failed_goes_first_when_the_receiver_is_back(told, corpus):
    with receiving(Say(500), Say(204)) as there:
        told(there, 2)
        send()
        tell(corpus, about="new")
        assert send(after=timedelta(seconds=400)) == 3
        first, again, *others = [seen.payload["id"] for seen in there.seen]
    assert again == first == by_age()[0].public_id
    assert set(others) == {one.public_id for one in by_age()[1:]}


def test_nothing_of_a_corpus_in_the_trash_is_sent(told, corpus):
    with receiving() as there:
        told(there)
        corpus.trashed_at = timezone.now()
        corpus.save()
        assert send() == 0
        corpus.trashed_at = None
        corpus.save()
        assert send() == 1


# --- Kept ------------------------------------------------------------------------------------------------


def test_messages_that_ended_a_month_ago_are_forgotten(corpus):
    webhook = WebhookFactory(corpus=corpus)
    now = timezone.now()
    for about, days in (("old", 31), ("new", 29), ("open", None)):
        tell(corpus, about=about)
        ended = None if days is None else now - timedelta(days=days)
        state = "waiting" if ended is None else "sent"
        webhook.deliveries.filter(about=about).update(ended_at=ended, state=state, created_at=now - LONG * 2)
    assert webhooks.forget_deliveries(now=now) == 1
    assert sorted(Delivery.objects.values_list("about", flat=True)) == ["new", "open"]


def test_a_message_whose_webhook_is_removed_meanwhile_leaves_no_trace(told):
    with receiving() as there:
        webhook = told(there)
        there.answers[0].first = there.wait_for_ever
        delivery = webhook_sending._claim(timezone.now())
        webhook_keeping.remove(by=UserFactory(), webhook=webhook)
        webhook_sending._record(delivery, webhook_sending.Answer(204, 3), timezone.now())
    assert not Delivery.objects.exists()
