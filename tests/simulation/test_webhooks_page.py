"""The pages of webhooks: who opens them, what is refused, and every act."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from simulation.domain.roles import Role
from simulation.domain.webhooks import Event
from simulation.models import AuditEntry, Delivery, Webhook
from simulation.selectors.webhooks import PAGE
from simulation.services import webhook_keeping, webhook_sending, webhooks
from tests.factories.simulation import CorpusFactory, MembershipFactory
from tests.factories.webhooks import WebhookFactory
from tests.receiving import Say, receiving

pytestmark = pytest.mark.django_db
GOOD = {"url": "https://hooks.example.org/x?key=1", "events": ["run.ended"], "note": "the notebook"}


@pytest.fixture(autouse=True)
def no_name_server(monkeypatch):
    """Every host is at a public address, except those in .lan."""
    monkeypatch.setattr(
        webhooks.guard(),
        "_resolve",
        lambda host, _: ["10.0.0.7" if host.endswith(".lan") else "93.184.215.14"],
    )
    yield
    webhooks.guard.cache_clear()


@pytest.fixture
def browser(client_of, admin):
    return client_of(admin)


@pytest.fixture
def webhook(corpus):
    return WebhookFactory(corpus=corpus)


def add(browser, corpus, **changes):
    return browser.post(reverse("webhook_new", args=[corpus.public_id]), GOOD | changes)


def act(browser, webhook, act, **options):
    return browser.post(reverse("webhook_act", args=[webhook.public_id]), {"act": act}, **options)


def again(browser, delivery, **options):
    return browser.post(reverse("delivery_again", args=[delivery.public_id]), **options)


def page(browser, webhook, **query):
    return browser.get(reverse("webhook", args=[webhook.public_id]), query).content.decode()


def tell(webhook, number=1):
    for each in range(number):
        webhooks.tell(corpus=webhook.corpus, event=Event.RUN_ENDED, about=f"r{each}", payload={})
    return list(webhook.deliveries.order_by("id"))


def actions():
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def test_an_admin_adds_a_webhook_and_it_stands_in_the_list(browser, corpus, admin):
    answer = add(browser, corpus)
    webhook = Webhook.objects.get()
    assert answer.headers["Location"] == reverse("webhook", args=[webhook.public_id])
    assert (webhook.corpus, webhook.url, webhook.events) == (corpus, GOOD["url"], ["run.ended"])
    assert (webhook.note, webhook.created_by) == ("the notebook", admin)
    assert actions() == ["webhook.added"]
    assert "example" not in str(AuditEntry.objects.get().details)
    body = browser.get(reverse("webhooks", args=[corpus.public_id])).content.decode()
    assert "hooks.example.org" in body
    assert "a run has ended" in body
    linked = browser.get(reverse("corpus", args=[corpus.public_id])).content.decode()
    assert reverse("webhooks", args=[corpus.public_id]) in linked


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"url": ""}, "url", "required"),
        ({"url": "hooks.example.org"}, "url", "must begin with https://"),
        ({"url": "http://hooks.example.org"}, "url", "http is for listed private endpoints"),
        ({"url": "https://me:pw@hooks.example.org"}, "url", "the signature says who sends"),
        ({"url": "https://hooks.example.org/#x"}, "url", "from # on"),
        ({"url": "https://hooks.lan/x"}, "url", "not on the open internet"),
        ({"url": "https://127.0.0.1:6379/"}, "url", ""),
        ({"url": "https://hooks.example.org/ü"}, "url", "plain letters"),
        ({"url": "https://hooks.example.org/" + "x" * 500}, "url", "at most 500"),
        ({"events": []}, "events", "at least one"),
        ({"events": ["run.begun"]}, "events", "Select a valid choice"),
        ({"note": "x" * 201}, "note", "at most 200"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(browser, corpus, monkeypatch, changes, field, said):
    if "127.0.0.1" in str(changes):
        monkeypatch.setattr(webhooks.guard(), "_resolve", lambda host, _: [host])
    answer = add(browser, corpus, **changes)
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert not Webhook.objects.exists()


def test_an_address_stands_once_in_a_corpus_and_ten_are_enough(browser, corpus, admin):
    add(browser, corpus)
    assert "already" in str(add(browser, corpus).context["form"].errors["url"])
    add(browser, CorpusFactory())
    for number in range(webhook_keeping.MOST - 1):
        add(browser, corpus, url=f"https://hooks.example.org/{number}")
    assert corpus.webhooks.count() == webhook_keeping.MOST
    refused = add(browser, corpus, url="https://hooks.example.org/more")
    assert "at most 10" in str(refused.context["form"].errors["url"])
    body = browser.get(reverse("webhooks", args=[corpus.public_id])).content.decode()
    assert reverse("webhook_new", args=[corpus.public_id]) not in body


def test_events_and_note_can_be_changed_and_the_address_cannot(browser, webhook):
    url = webhook.url
    sent = {
        "events": ["item.adjudicated", "release.ready"],
        "note": "new",
        "url": "https://other.example.org/",
    }
    answer = browser.post(reverse("webhook", args=[webhook.public_id]), sent)
    assert answer.status_code == 302
    webhook.refresh_from_db()
    assert (webhook.events, webhook.note, webhook.url) == (sent["events"], "new", url)
    assert browser.post(reverse("webhook", args=[webhook.public_id]), {"events": []}).status_code == 422
    assert actions() == ["webhook.changed"]


def test_a_paused_webhook_is_told_nothing_until_it_is_resumed(browser, webhook):
    tell(webhook)
    act(browser, webhook, "pause")
    webhook.refresh_from_db()
    assert webhook.paused_at is not None
    assert webhooks.tell(corpus=webhook.corpus, event=Event.RUN_ENDED, about="x", payload={}) == 0
    assert webhook_sending.send_due(now=timezone.now()) == 0
    assert "By a person." in page(browser, webhook)
    assert "is paused" in act(browser, webhook, "ping", follow=True).content.decode()
    assert "is paused" in again(browser, webhook.deliveries.get(), follow=True).content.decode()
    act(browser, webhook, "resume")
    webhook.refresh_from_db()
    assert webhook.paused_at is None
    assert actions() == ["webhook.paused", "webhook.resumed"]


def test_resuming_counts_failures_anew_and_sends_what_waits(browser, webhook):
    first, second = tell(webhook, 2)
    Delivery.objects.filter(pk=first.pk).update(state="failed", attempts=8, ended_at=timezone.now())
    later = timezone.now() + timedelta(hours=3)
    Delivery.objects.filter(pk=second.pk).update(attempts=7, due_at=later)
    Webhook.objects.update(paused_at=timezone.now(), paused_why="20 tries in a row failed")
    assert "20 tries in a row failed" in page(browser, webhook)
    assert webhook_sending.failures_in_a_row(webhook) == 15
    act(browser, webhook, "resume")
    assert webhook_sending.failures_in_a_row(webhook) == 0
    second.refresh_from_db()
    assert second.due_at <= timezone.now()


def test_the_secret_is_shown_and_can_be_made_anew(browser, webhook):
    old = webhooks.secret_of(webhook)
    answer = browser.get(reverse("webhook", args=[webhook.public_id]))
    assert old in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    act(browser, webhook, "rotate")
    webhook.refresh_from_db()
    new = webhooks.secret_of(webhook)
    assert new != old
    assert old not in page(browser, webhook)
    assert new in page(browser, webhook)
    assert actions() == ["webhook.secret_rotated"]
    assert new not in str(AuditEntry.objects.get().details)


def test_a_test_message_arrives_and_its_answer_is_shown(browser, corpus, settings):
    with receiving(Say(418, b"I am a teapot")) as there:
        settings.WEBHOOK_PRIVATE_ADDRESSES = [there.endpoint]
        webhooks.guard.cache_clear()
        webhook = WebhookFactory(corpus=corpus, url=there.url, events=["release.ready"])
        act(browser, webhook, "ping")
        act(browser, webhook, "ping")
        assert webhook_sending.send_due(now=timezone.now()) == 1
        assert there.seen[0].payload["type"] == "ping"
    body = page(browser, webhook)
    assert "418" in body
    assert "I am a teapot" in body
    assert "next try" in body
    assert actions() == ["webhook.tested"] * 2


def test_a_message_that_ended_is_sent_again_under_its_id_and_one_that_waits_now(browser, webhook):
    now = timezone.now()
    later = now + timedelta(hours=3)
    failed, waiting, sending = tell(webhook, 3)
    fields = {"state": "failed", "attempts": 8, "status": 500, "detail": "no", "ended_at": now}
    Delivery.objects.filter(pk=failed.pk).update(**fields)
    Delivery.objects.filter(pk=waiting.pk).update(attempts=3, due_at=later, detail="no")
    Delivery.objects.filter(pk=sending.pk).update(attempts=1, due_at=later, detail=Delivery.SENDING)
    for delivery in (failed, waiting, sending):
        assert again(browser, delivery).status_code == 302
        delivery.refresh_from_db()
    assert (failed.state, failed.attempts, failed.status, failed.ended_at) == ("waiting", 0, None, None)
    assert failed.due_at <= timezone.now()
    assert (waiting.attempts, waiting.due_at <= timezone.now()) == (3, True)
    assert sending.due_at == later, "what a worker has in hand is left to it"


def test_a_webhook_is_removed_with_its_messages(browser, webhook):
    tell(webhook, 2)
    answer = browser.post(reverse("webhook_remove", args=[webhook.public_id]))
    assert answer.headers["Location"] == reverse("webhooks", args=[webhook.corpus.public_id])
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()
    assert actions() == ["webhook.removed"]


def test_an_act_that_does_not_exist_is_refused(browser, webhook):
    assert act(browser, webhook, "explode").status_code == 400


def test_messages_are_shown_a_page_at_a_time(browser, webhook):
    told = tell(webhook, PAGE + 5)
    first = page(browser, webhook)
    assert told[-1].public_id in first
    assert told[4].public_id not in first
    second = page(browser, webhook, before=told[5].public_id)
    assert told[4].public_id in second
    assert told[5].public_id not in second
    assert page(browser, webhook, before="nonsense").count("Send now") == PAGE


def test_the_pages_ask_as_much_for_many_as_for_few(browser, corpus, webhook, django_assert_max_num_queries):
    addresses = [reverse("webhooks", args=[corpus.public_id]), reverse("webhook", args=[webhook.public_id])]
    with django_assert_max_num_queries(16) as few:
        for address in addresses:
            browser.get(address)
    for _ in range(8):
        tell(WebhookFactory(corpus=corpus), 3)
    Delivery.objects.filter(about="r0").update(state="sent", ended_at=timezone.now())
    with django_assert_max_num_queries(16) as many:
        for address in addresses:
            browser.get(address)
    assert len(many) <= len(few) + 1  # the newest messages, where there are any


def test_who_may_not_connect_sees_no_webhook(
    client_of, corpus, webhook, researcher, adjudicator, labeler, stranger
):
    (delivery,) = tell(webhook)
    foreign = MembershipFactory(role=Role.ADMIN, corpus=CorpusFactory()).person
    refused = [(one, 403) for one in (researcher, adjudicator, labeler, stranger)]
    for person, status in [*refused, (foreign, 404)]:
        browser = client_of(person)
        for name, public_id in [
            ("webhooks", corpus.public_id),
            ("webhook_new", corpus.public_id),
            ("webhook", webhook.public_id),
        ]:
            assert browser.get(reverse(name, args=[public_id])).status_code == status
        assert add(browser, corpus).status_code == status
        assert act(browser, webhook, "rotate").status_code == status
        assert again(browser, delivery).status_code == status
        assert browser.post(reverse("webhook_remove", args=[webhook.public_id])).status_code == status
    webhook.refresh_from_db()
    assert webhook.secret_version == 1
    linked = client_of(researcher).get(reverse("corpus", args=[corpus.public_id])).content.decode()
    assert "Webhooks" not in linked


def test_an_admin_of_the_corpus_alone_may(client_of, corpus, webhook):
    local = MembershipFactory(role=Role.ADMIN, corpus=corpus).person
    assert client_of(local).get(reverse("webhook", args=[webhook.public_id])).status_code == 200
