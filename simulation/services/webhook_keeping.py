"""What an admin does with webhooks: adds, changes, pauses, resumes, tests and removes them."""

from __future__ import annotations

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from simulation.domain.addresses import BadAddress
from simulation.domain.webhooks import PING, Event
from simulation.models import Corpus, Delivery, User, Webhook, new_public_id
from simulation.services import audit
from simulation.services.webhooks import guard, message

MOST = 10
"""Webhooks of one corpus: whatever happens is written once for each."""


class NotSent(Exception):
    """A message that cannot be sent now; the message of this says what to do."""


def add(*, by: User, corpus: Corpus, url: str, events: Collection[str], note: str = "") -> Webhook:
    """A new webhook. Raises ValidationError, field by field, for an address that may not be told or is told
    already, and for events that do not exist."""
    url = url.strip()
    problems = _problems(events)
    try:
        if not url.isascii():
            raise BadAddress("write the address in plain letters: percent-encoded, and the host as xn--...")
        guard().check_url(url, whole=True)
    except BadAddress as error:
        problems["url"] = str(error)
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
        if corpus.webhooks.count() >= MOST:
            raise ValidationError({"url": f"A corpus has at most {MOST} webhooks; remove one first."})
        if corpus.webhooks.filter(url=url).exists():
            raise ValidationError({"url": "This corpus has a webhook with this address already."})
        webhook = Webhook(corpus=corpus, url=url, events=_known(events), note=note.strip(), created_by=by)
        webhook.full_clean(exclude=["corpus", "created_by"])
        webhook.save()
        audit.record(
            by=by, action="webhook.added", target=webhook, corpus=corpus, details={"events": webhook.events}
        )
    return webhook


@transaction.atomic
def change(*, by: User, webhook: Webhook, events: Collection[str], note: str = "") -> Webhook:
    """Other events, another note. Raises ValidationError for events that do not exist."""
    if problems := _problems(events):
        raise ValidationError(problems)
    locked = _locked(webhook)
    locked.events, locked.note = _known(events), note.strip()
    locked.full_clean(exclude=["corpus", "created_by"])
    locked.save(update_fields=["events", "note"])
    _record(by, "webhook.changed", locked, events=locked.events)
    return locked


@transaction.atomic
def pause(*, by: User, webhook: Webhook) -> Webhook:
    """No new messages, and none that wait are sent, until it is resumed."""
    locked = _locked(webhook)
    if locked.paused_at is None:
        locked.paused_at, locked.paused_why = timezone.now(), ""
        locked.save(update_fields=["paused_at", "paused_why"])
        _record(by, "webhook.paused", locked)
    return locked


@transaction.atomic
def resume(*, by: User, webhook: Webhook) -> Webhook:
    """What waits is due, and tries are counted anew. What happened meanwhile is not told."""
    locked = _locked(webhook)
    if locked.paused_at is not None:
        locked.paused_at, locked.paused_why = None, ""
        locked.save(update_fields=["paused_at", "paused_why"])
        resting = locked.deliveries.filter(_at_rest()).exclude(state=Delivery.SENT)
        resting.update(attempts=0)
        resting.filter(state=Delivery.WAITING).update(due_at=timezone.now())
        _record(by, "webhook.resumed", locked)
    return locked


@transaction.atomic
def rotate(*, by: User, webhook: Webhook) -> Webhook:
    """Another secret, from the next try on; the one before signs nothing any more."""
    locked = _locked(webhook)
    locked.secret_version += 1
    locked.save(update_fields=["secret_version"])
    _record(by, "webhook.secret_rotated", locked, version=locked.secret_version)
    return locked


@transaction.atomic
def remove(*, by: User, webhook: Webhook) -> None:
    """With every message to it, sent or not."""
    locked = _locked(webhook)
    _record(by, "webhook.removed", locked)
    locked.delete()


@transaction.atomic
def ping(*, by: User, webhook: Webhook) -> Delivery:
    """A test message, sent within seconds. Raises NotSent while it is paused."""
    locked = _locked(webhook)
    _require_active(locked)
    now = timezone.now()
    told = message(
        locked, corpus=webhook.corpus, event=PING, about=new_public_id(), data={}, now=now, due=now
    )
    told.save()
    _record(by, "webhook.tested", locked)
    return told


@transaction.atomic
def again(*, by: User, delivery: Delivery) -> Delivery:
    """The same message under the same id: one that ended from the beginning, one that waits at once.
    Raises NotSent while the webhook is paused."""
    webhook = _locked(delivery.webhook)
    _require_active(webhook)
    now = timezone.now()
    found = Delivery.objects.filter(pk=delivery.pk)
    ended = found.exclude(state=Delivery.WAITING)
    fresh = {"state": Delivery.WAITING, "attempts": 0, "status": None, "detail": "", "ended_at": None}
    if not ended.update(due_at=now, **fresh):
        found.filter(_at_rest()).update(due_at=now)
    _record(by, "webhook.sent_again", webhook, message=delivery.public_id)
    delivery.refresh_from_db()
    return delivery


def _at_rest() -> Q:
    """What no worker has in hand; the lease of one that is gone runs out by itself."""
    return ~Q(detail=Delivery.SENDING)


def _locked(webhook: Webhook) -> Webhook:
    locked = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("corpus")
    return locked.get(pk=webhook.pk)


def _require_active(webhook: Webhook) -> None:
    if webhook.paused_at is not None:
        raise NotSent("The webhook is paused. Resume it first.")


def _record(by: User, action: str, webhook: Webhook, **details: object) -> None:
    audit.record(by=by, action=action, target=webhook, corpus=webhook.corpus, details=details)


def _problems(events: Collection[str]) -> dict[str, str]:
    if not events:
        return {"events": "Choose at least one event."}
    unknown = sorted(set(events) - {event.value for event in Event})
    return {"events": f"There is no event {unknown[0]!r}."} if unknown else {}


def _known(events: Collection[str]) -> list[str]:
    """In one order, each once."""
    return [event.value for event in Event if event.value in events]
