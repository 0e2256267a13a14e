"""docs/webhooks.md: its Python checks our messages, and what it promises is what the code does."""

import re
from pathlib import Path

import pytest
from django.utils import timezone

from simulation.domain import webhooks as rules
from simulation.domain.webhooks import Event
from simulation.services import webhook_keeping, webhook_sending, webhooks
from tests.factories.webhooks import WebhookFactory
from tests.receiving import receiving

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text()


@pytest.fixture
def verify():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    names = {}
    exec(compile(code, "docs/webhooks.md", "exec"), names)
    return names["verify"]


@pytest.fixture
def message(corpus, settings):
    """(secret, headers, body) as a receiver got them."""
    with receiving() as there:
        settings.WEBHOOK_PRIVATE_ADDRESSES = [there.endpoint]
        webhooks.guard.cache_clear()
        webhook = WebhookFactory(corpus=corpus, url=there.url)
        webhooks.tell(corpus=corpus, event=Event.RUN_ENDED, about="r1", payload={"run": "r1"})
        assert webhook_sending.send_due(now=timezone.now()) == 1
        (seen,) = there.seen
    webhooks.guard.cache_clear()
    headers = {name.title(): value for name, value in seen.headers.items()}
    return webhooks.secret_of(webhook), headers, seen.body


@pytest.mark.django_db
def test_its_python_takes_a_message_of_ours_and_no_other(verify, message):
    secret, headers, body = message
    verify(secret, headers, body)
    verify(secret, {**headers, "Webhook-Signature": f"v1,AAAA {headers['Webhook-Signature']}"}, body)
    for wrong in (
        (rules.secret("another key", "abc", 1), headers, body),
        (secret, headers, body.replace(b"r1", b"r2")),
        (secret, {**headers, "Webhook-Id": "abcdefghjkmn"}, body),
        (secret, {**headers, "Webhook-Signature": "v1,AAAA"}, body),
    ):
        with pytest.raises(ValueError, match="not signed"):
            verify(*wrong)
    old = {**headers, "Webhook-Timestamp": str(int(headers["Webhook-Timestamp"]) - 600)}
    with pytest.raises(ValueError, match="too old"):
        verify(secret, old, body)


def test_every_event_and_every_limit_is_in_it():
    assert set(re.findall(r"^\| `([a-z.]+)` \|", TEXT, re.M)) - {"type"} == {*Event, rules.PING}
    hours = {10: "10 s", 60: "1 min", 300: "5 min", 1800: "30 min", 7200: "2 h", 21600: "6 h", 43200: "12 h"}
    assert ", ".join(hours[wait] for wait in rules.WAITS[:-1]) + f" and {hours[rules.WAITS[-1]]}" in TEXT
    assert f"{rules.MOST_IN_A_ROW} failures in a row" in TEXT
    assert f"after {webhook_sending.TIMEOUT:g} seconds" in TEXT
    assert f"{webhooks.KEPT.days} days" in TEXT
    assert webhook_keeping.MOST == 10
    assert "At most ten" in TEXT
