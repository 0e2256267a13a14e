"""What happened is told: one message a webhook, written with what it tells of, in one transaction.

`webhook_sending` sends them afterwards. A message holds public ids, states and numbers: no text, no name and
nothing that is true of an author.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from simulation.domain.addresses import AddressGuard
from simulation.domain.money import dollars
from simulation.domain.webhooks import JITTER, MOST_HELD, Event, secret
from simulation.models import Corpus, Delivery, Run, Webhook, new_public_id

KEPT = timedelta(days=30)
"""How long a message that has ended is kept."""
BATCH = 500
WANTING = """
SELECT w.*, (
  SELECT min(d.due_at) FROM simulation_delivery d
  WHERE d.webhook_id = w.id AND d.state = 'waiting' AND d.attempts > 0
    AND d.detail <> %s AND d.id > coalesce(
    (SELECT max(s.id) FROM simulation_delivery s WHERE s.webhook_id = w.id AND s.state = 'sent'), 0)
) AS tried_next
FROM simulation_webhook w
WHERE w.corpus_id = %s AND w.paused_at IS NULL AND w.events @> %s::jsonb
ORDER BY w.id FOR KEY SHARE OF w
"""
"""Nobody removes one of them before its message is there. `tried_next`: when a message that did not arrive is
tried again, where none has arrived since."""


@lru_cache(maxsize=1)
def guard() -> AddressGuard:
    """Which addresses this installation may tell."""
    return AddressGuard(settings.WEBHOOK_PRIVATE_ADDRESSES)


def secret_of(webhook: Webhook) -> str:
    """What signs its messages now."""
    return secret(settings.SECRET_KEY, webhook.public_id, webhook.secret_version)


def wanted(*, corpus_id: int, event: Event) -> bool:
    """Whether anybody is to be told: spares the caller the making of a message."""
    return Webhook.objects.filter(corpus=corpus_id, paused_at=None, events__contains=[event.value]).exists()


def tell(*, corpus: Corpus, event: Event, about: str, payload: Mapping[str, Any]) -> int:
    """One message to each webhook of the corpus that wants to know, in the caller's transaction; how many.

    `about` is the public id of what it tells of, with a version where that can happen twice: the same is told
    once, however often this is called.
    """
    return tell_all(corpus=corpus, event=event, payloads={about: payload})


def tell_all(*, corpus: Corpus, event: Event, payloads: Mapping[str, Mapping[str, Any]]) -> int:
    """As `tell`, for many of one event: about -> payload."""
    webhooks = list(Webhook.objects.raw(WANTING, [Delivery.SENDING, corpus.pk, json.dumps([event.value])]))
    now = timezone.now()
    messages = [
        message(
            webhook, corpus=corpus, event=event.value, about=about, data=data, now=now, due=_due(webhook, now)
        )
        for about, data in payloads.items()
        for webhook in webhooks
    ]
    Delivery.objects.bulk_create(messages, ignore_conflicts=True, batch_size=BATCH)
    return len(messages)


def message(
    webhook: Webhook,
    *,
    corpus: Corpus,
    event: str,
    about: str,
    data: Mapping[str, Any],
    now: datetime,
    due: datetime,
) -> Delivery:
    """A message that is not stored yet."""
    key = new_public_id()
    payload = {
        "id": key,
        "type": event,
        "at": now.isoformat(timespec="milliseconds"),
        "corpus": corpus.public_id,
        "data": dict(data),
    }
    return Delivery(public_id=key, webhook=webhook, event=event, about=about, payload=payload, due_at=due)


def _due(webhook: Webhook, now: datetime) -> datetime:
    """At once; where a message does not arrive, not before that one is tried again, within some minutes."""
    tried_next: datetime | None = webhook.tried_next  # type: ignore[attr-defined]
    return min(max(now, tried_next or now), now + timedelta(seconds=MOST_HELD * (1 + JITTER)))


def run_ended(run: Run) -> None:
    """Tells that a run is done, failed or cancelled; to be called in the transaction that ended it, last."""
    if not wanted(corpus_id=run.corpus_id, event=Event.RUN_ENDED):
        return
    now = Run.objects.select_related("corpus").get(pk=run.pk)
    if now.ended_at is None:
        return
    steps = run.steps.order_by().values_list("state").annotate(number=Count("pk"))
    tell(
        corpus=now.corpus,
        event=Event.RUN_ENDED,
        about=f"{now.public_id}.{now.ended_at.timestamp():.6f}",
        payload={
            "run": now.public_id,
            "kind": now.kind,
            "state": now.state,
            "steps": dict(steps),
            "calls": now.calls,
            "tokens": now.tokens,
            "cost_usd": float(dollars(now.cost)),
        },
    )


def forget_deliveries(*, now: datetime) -> int:
    """Takes away the messages that ended, sent or not, more than 30 days ago; how many."""
    return Delivery.objects.filter(ended_at__lt=now - KEPT).delete()[0]
