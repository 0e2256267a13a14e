"""Answers that are kept, so that a request that is sent twice is done once.

All of it happens in the transaction of the work itself: the answer is kept where the work is, and neither is
there without the other, whenever a process may end. While a request is in work its transaction holds a lock
of the database on person and key; that lock ends with it, so nothing is ever left behind as “in work”.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from simulation.models import KeptAnswer, User

KEPT_FOR = timedelta(days=1)


class InWork(Exception):
    """The first request with this key is not answered yet."""


class OtherRequest(Exception):
    """The key has been used for another request."""


def claim(*, by: User, key: str, digest: str) -> KeptAnswer | None:
    """The kept answer to this very request, or None where this one is to do the work.

    Must be called in a transaction, and the key is this request's until it ends. Raises InWork, OtherRequest.
    """
    assert connection.in_atomic_block
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_lock(by, key)])
        if not cursor.fetchone()[0]:
            raise InWork
    kept = KeptAnswer.objects.filter(person=by, key=key).first()
    if kept is not None and kept.created_at <= timezone.now() - KEPT_FOR:
        kept.delete()
        return None
    if kept is not None and kept.digest != digest:
        raise OtherRequest
    return kept


def keep(
    *, by: User, key: str, digest: str, status: int, headers: Mapping[str, str], body: bytes
) -> KeptAnswer:
    """Keeps the answer, in the transaction in which `claim` gave None."""
    return KeptAnswer.objects.create(
        person=by, key=key, digest=digest, status=status, headers=dict(headers), body=body
    )


def sweep_answers(now: datetime) -> int:
    """Forgets the answers that are older than a day; how many."""
    return KeptAnswer.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]


def _lock(person: User, key: str) -> int:
    """The number of the lock: 64 bits of a digest."""
    digest = hashlib.sha256(f"kept answer {person.pk} {key}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
