"""Marks that say where a page ended: sealed, so that they show no number of the database and are not made up.

The mark is the position under a mask that is drawn from the site's secret and from a check sum of the
position itself; the check sum travels with it. Equal positions give equal marks, and so equal pages equal
ETags.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac

SALT = "simulation.rest.cursor"
CHECK = 12


class BadCursor(ValueError):
    """The mark was not given by this very listing."""


def seal(position: list[Any], *, listing: str) -> str:
    """The mark of a position (numbers and texts) in a listing, which is known by address and filters."""
    plain = json.dumps(position, ensure_ascii=False).encode()
    check = _check(plain, listing)
    return base64.urlsafe_b64encode(check + _masked(plain, check)).decode().rstrip("=")


def unseal(mark: str, *, listing: str) -> list[Any]:
    """The position behind a mark. Raises BadCursor."""
    try:
        raw = base64.b64decode(mark.encode() + b"=" * (-len(mark) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadCursor from None
    check, plain = raw[:CHECK], _masked(raw[CHECK:], raw[:CHECK])
    if not constant_time_compare(_check(plain, listing), check):
        raise BadCursor
    position: list[Any] = json.loads(plain)
    return position


def _check(plain: bytes, listing: str) -> bytes:
    digest = salted_hmac(f"{SALT}.check", listing.encode() + b"\0" + plain, algorithm="sha256")
    return digest.digest()[:CHECK]


def _masked(text: bytes, check: bytes) -> bytes:
    key = salted_hmac(f"{SALT}.mask", check, algorithm="sha256").digest()
    mask = hashlib.shake_256(key).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, mask, strict=True))
