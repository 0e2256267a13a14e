"""The personal tokens of a person, and the corpora for which they may make one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from simulation.domain.scopes import WORDS, Scope
from simulation.models import ApiToken, Corpus, User

SHOWN = 100


@dataclass(frozen=True)
class TokenRow:
    token: ApiToken
    state: str
    """works, expired or revoked."""
    scopes: Sequence[str]
    """In words."""


def of_person(person: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(person=person)


def rows(person: User, now: datetime) -> list[TokenRow]:
    """Those that work first, then the latest; one query."""
    found = of_person(person).select_related("corpus").order_by("-id")[:SHOWN]
    listed = [TokenRow(token, state_of(token, now), _words(token)) for token in found]
    return sorted(listed, key=lambda row: row.state != "works")


def state_of(token: ApiToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at <= now else "works"


def working(person: User, now: datetime) -> int:
    """How many work."""
    return of_person(person).filter(revoked_at=None, expires_at__gt=now).count()


def corpora_for(person: User) -> QuerySet[Corpus]:
    """Those to which a token of `person` may be bound."""
    return Corpus.objects.visible_to(person)


def _words(token: ApiToken) -> list[str]:
    known = {scope.value: WORDS[scope] for scope in Scope}
    return [known.get(scope, scope) for scope in token.scopes]
