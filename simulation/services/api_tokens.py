"""Personal tokens: made, shown once, found again by their digest, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from simulation.domain.scopes import Scope
from simulation.models import ApiToken, Corpus, KeptAnswer, User
from simulation.services import audit

MARK = "spai_"
"""By which people, and programs that look for lost secrets, know one of ours."""
SHOWN = len(MARK) + 6
MOST_DAYS = 365
MOST_ALIVE = 50
"""A person has at most so many that work."""
NAME_LENGTH = 80
A_MINUTE = timedelta(minutes=1)


class BadToken(ValueError):
    """A token that cannot be made; `field` says by which of its fields."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


class TokenRefused(Exception):
    """What was sent lets nobody in; the words say why."""


def digest_of(text: str) -> str:
    """What is stored of a token. It is random enough that nothing slower is needed."""
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def make_token(
    *,
    by: User | None,
    person: User,
    name: str,
    scopes: Collection[Scope],
    days: int,
    corpus: Corpus | None = None,
) -> tuple[ApiToken, str]:
    """A token of `person`, and its text, which is stored nowhere.

    `by` is the person, or None for a command of the machine's operator. Raises BadToken.
    """
    name = name.strip()
    if not 1 <= len(name) <= NAME_LENGTH:
        raise BadToken("name", f"A name of 1 to {NAME_LENGTH} characters.")
    if not scopes:
        raise BadToken("scopes", "At least one scope: without one it opens nothing.")
    if not 1 <= days <= MOST_DAYS:
        raise BadToken("days", f"It may work for 1 to {MOST_DAYS} days.")
    if not person.is_active:
        raise BadToken("person", "This account is closed.")
    now = timezone.now()
    if person.api_tokens.filter(revoked_at=None, expires_at__gt=now).count() >= MOST_ALIVE:
        raise BadToken("name", f"You have {MOST_ALIVE} that work already. Revoke one that you do not need.")
    text = MARK + secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            token = ApiToken.objects.create(
                person=person,
                name=name,
                prefix=text[:SHOWN],
                digest=digest_of(text),
                scopes=[scope.value for scope in Scope if scope in scopes],
                corpus=corpus,
                expires_at=now + timedelta(days=days),
            )
    except IntegrityError:
        raise BadToken("name", "You have a token of this name, or had one. Choose another.") from None
    details = {"person": person.public_id, "scopes": token.scopes, "days": days}
    audit.record(by=by, action="token.made", target=token, corpus=corpus, details=details)
    return token, text


@transaction.atomic
def revoke_token(*, by: User | None, token: ApiToken) -> None:
    """Makes a token worthless at once. Twice does no harm."""
    locked = ApiToken.objects.select_for_update(no_key=True).get(pk=token.pk)
    if locked.revoked_at is not None:
        return
    locked.revoked_at = timezone.now()
    locked.save(update_fields=["revoked_at"])
    details = {"person": locked.person.public_id}
    audit.record(by=by, action="token.revoked", target=locked, corpus=locked.corpus, details=details)


@transaction.atomic
def revoke_all(*, by: User, person: User) -> None:
    """Whoever comes back makes new ones."""
    for token in person.api_tokens.filter(revoked_at=None).order_by("pk"):
        revoke_token(by=by, token=token)


@transaction.atomic
def forget_all(*, person: User) -> None:
    """The tokens of a person with their names, and the answers kept for them, for good."""
    person.api_tokens.all().delete()
    KeptAnswer.objects.filter(person=person).delete()


def find(*, text: str, now: datetime) -> ApiToken:
    """The token behind a text, with its person; one query. Raises TokenRefused.

    That it was used is written down to the minute.
    """
    token = (
        ApiToken.objects.select_related("person", "corpus")
        .filter(digest=digest_of(text.encode(errors="replace").decode()))
        .first()
    )
    if token is None:
        raise TokenRefused("This token is not one of ours. Perhaps a part of it was lost when it was copied.")
    if token.revoked_at is not None:
        raise TokenRefused("This token was revoked.")
    if token.expires_at <= now:
        raise TokenRefused("This token has expired. Make a new one on the page of your account.")
    if not token.person.is_active:
        raise TokenRefused("The account of this token is closed.")
    if token.last_used_at is None or now - token.last_used_at >= A_MINUTE:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
