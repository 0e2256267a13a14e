"""Sends the messages that are due: claimed and written down in short transactions, sent outside of any.

One message of a webhook is under way at a time, over all workers, so that a receiver that does not answer
holds one of them and not all. A worker that is killed leaves its claim behind; when that runs out the message
is sent again. So a message arrives once or more often, never less; receivers know it by its id.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from random import SystemRandom
from time import monotonic

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from simulation.domain import webhooks as rules
from simulation.models import Delivery, Webhook
from simulation.outbound.posting import Answer, post
from simulation.services.order import give_connection_back
from simulation.services.webhooks import guard, secret_of

TIMEOUT = 10.0
"""Seconds for one try, from the name server to the end of the answer."""
LEASE = timedelta(seconds=60)
STINT = 20.0
"""Seconds after which a worker's thread does something else."""
SHOWN = 300
log = logging.getLogger("synthpai.webhooks")
dice = SystemRandom()


def send_due(*, now: datetime) -> int:
    """Sends what is due until nothing is, or the stint is over; the number of tries.

    `now` is when it is called: time goes on from there.
    """
    began, tries = monotonic(), 0
    while (passed := monotonic() - began) < STINT:
        delivery = _claim(now + timedelta(seconds=passed))
        if delivery is None:
            break
        at = now + timedelta(seconds=passed)
        give_connection_back()
        answer = _sent(delivery, at)
        _record(delivery, answer, now + timedelta(seconds=monotonic() - began))
        tries += 1
    return tries


@transaction.atomic
def _claim(now: datetime) -> Delivery | None:
    """The message that is due longest of a webhook that has none under way; ours until the lease ends."""
    waiting = Delivery.objects.filter(webhook=OuterRef("pk"), state=Delivery.WAITING)
    due = waiting.filter(due_at__lte=now).order_by("due_at", "id")
    ready = Webhook.objects.filter(Exists(due), paused_at=None, corpus__trashed_at=None)
    ready = ready.exclude(Exists(waiting.filter(_under_way(now))))
    ready = ready.annotate(first=Subquery(due.values("due_at")[:1])).order_by("first", "pk")
    webhook = ready.select_for_update(skip_locked=True, no_key=True, of=("self",)).first()
    # Between the look and the lock another worker may have begun and let go: look again.
    if webhook is None or webhook.deliveries.filter(_under_way(now), state=Delivery.WAITING).exists():
        return None
    mine = webhook.deliveries.filter(state=Delivery.WAITING, due_at__lte=now).order_by("due_at", "id")
    delivery = mine.select_for_update(no_key=True).first()
    if delivery is None:
        return None
    delivery.webhook = webhook
    delivery.attempts += 1
    delivery.status, delivery.detail, delivery.due_at = None, Delivery.SENDING, now + LEASE
    delivery.save(update_fields=["attempts", "status", "detail", "due_at"])
    return delivery


def _under_way(now: datetime) -> Q:
    return Q(detail=Delivery.SENDING, due_at__gt=now)


def _sent(delivery: Delivery, at: datetime) -> Answer:
    body = rules.body_of(delivery.payload)
    secret = secret_of(delivery.webhook)
    headers = rules.signed(secret, id=delivery.public_id, at=int(at.timestamp()), body=body)
    headers["Content-Type"] = "application/json"
    return post(delivery.webhook.url, body, headers, guard=guard(), timeout=TIMEOUT)


@transaction.atomic
def _record(delivery: Delivery, answer: Answer, now: datetime) -> None:
    """Writes down what became of a try; nothing where the message is gone or another's meanwhile."""
    webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=delivery.webhook_id).first()
    mine = Delivery.objects.filter(
        pk=delivery.pk, state=Delivery.WAITING, detail=Delivery.SENDING, attempts=delivery.attempts
    ).first()
    if webhook is None or mine is None:
        return
    mine.status, mine.detail = answer.status, answer.detail[:SHOWN]
    if answer.status is not None and 200 <= answer.status < 300:
        mine.state, mine.ended_at = Delivery.SENT, now
    elif answer.status == rules.GONE or mine.attempts >= rules.MOST_TRIES:
        mine.state, mine.ended_at = Delivery.FAILED, now
    else:
        mine.due_at = now + timedelta(seconds=rules.wait(mine.attempts, dice))
    mine.save(update_fields=["state", "status", "detail", "due_at", "ended_at"])
    if mine.state != Delivery.SENT:
        _slow_down(webhook, mine, now)


def _slow_down(webhook: Webhook, failed: Delivery, now: datetime) -> None:
    """After a failure the webhook pauses, or its other messages wait a little."""
    in_a_row = failures_in_a_row(webhook)
    if failed.status == rules.GONE:
        _pause(webhook, f"The receiver answered {rules.GONE}: it wants no more messages.", now)
    elif in_a_row >= rules.MOST_IN_A_ROW:
        _pause(webhook, f"{in_a_row} tries in a row failed; the last: {_why(failed)}", now)
    else:
        least, most = (now + timedelta(seconds=seconds) for seconds in rules.held_up(in_a_row))
        until = max(least, min(failed.due_at, most))
        others = webhook.deliveries.filter(state=Delivery.WAITING, due_at__lt=until).exclude(pk=failed.pk)
        others.update(due_at=until)


def failures_in_a_row(webhook: Webhook) -> int:
    """Tries that failed since a message arrived or the webhook was resumed, of the messages newer than the
    newest that arrived."""
    arrived = webhook.deliveries.filter(state=Delivery.SENT).order_by("-id").values("id")[:1]
    newer = webhook.deliveries.exclude(state=Delivery.SENT).filter(id__gt=Coalesce(Subquery(arrived), 0))
    return newer.aggregate(tries=Sum("attempts"))["tries"] or 0


def _why(failed: Delivery) -> str:
    return " ".join(filter(None, [str(failed.status or ""), failed.detail]))


def _pause(webhook: Webhook, why: str, now: datetime) -> None:
    if webhook.paused_at is not None:
        return
    webhook.paused_at, webhook.paused_why = now, why[:SHOWN]
    webhook.save(update_fields=["paused_at", "paused_why"])
    log.warning("a webhook paused itself", extra={"webhook": webhook.public_id})
