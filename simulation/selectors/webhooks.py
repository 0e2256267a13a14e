"""The webhooks of a corpus and their messages, as an admin sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from simulation.domain.webhooks import MOST_TRIES, WORDS
from simulation.models import Corpus, Delivery, User, Webhook

PAGE = 50


@dataclass(frozen=True)
class Listed:
    webhook: Webhook
    events: Sequence[str]
    """In words."""
    waiting: int
    last: Delivery | None
    """The newest message that ended."""


@dataclass(frozen=True)
class DeliveryRow:
    delivery: Delivery
    sending: bool
    """A worker has it in hand."""
    left: int
    """Tries that it has left."""


@dataclass(frozen=True)
class DeliveryPage:
    rows: Sequence[DeliveryRow]
    before: str
    """Public id to continue behind; empty on the last page."""


def listed(corpus: Corpus) -> list[Listed]:
    """In the order in which they were added; two queries."""
    ended = Delivery.objects.filter(webhook=OuterRef("pk"), ended_at__isnull=False).order_by("-id")
    rows = list(
        corpus.webhooks.annotate(
            waiting=Count("deliveries", filter=Q(deliveries__state=Delivery.WAITING)),
            last=Subquery(ended.values("pk")[:1]),
        )
    )
    newest = Delivery.objects.in_bulk([row.last for row in rows if row.last])
    return [Listed(row, words(row), row.waiting, newest.get(row.last)) for row in rows]


def words(webhook: Webhook) -> list[str]:
    """What it is told, in words; the name of an event that this version does not know."""
    known = {event.value: said for event, said in WORDS.items()}
    return [known.get(event, event) for event in webhook.events]


def deliveries_visible_to(person: User) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook__in=Webhook.objects.visible_to(person))


def page(webhook: Webhook, *, before: str = "") -> DeliveryPage:
    """Newest first. A mark that nobody of ours wrote means the first page."""
    rows = webhook.deliveries.order_by("-id")
    if mark := webhook.deliveries.filter(public_id=before).values_list("pk", flat=True).first():
        rows = rows.filter(pk__lt=mark)
    found = list(rows[: PAGE + 1])
    kept = found[:PAGE]
    return DeliveryPage([_row(one) for one in kept], kept[-1].public_id if len(found) > PAGE else "")


def _row(delivery: Delivery) -> DeliveryRow:
    waiting = delivery.state == Delivery.WAITING
    return DeliveryRow(
        delivery,
        sending=waiting and delivery.detail == Delivery.SENDING,
        left=max(0, MOST_TRIES - delivery.attempts) if waiting else 0,
    )
