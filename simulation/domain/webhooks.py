"""What webhooks tell of, how a message is signed, and when it is tried again."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping
from enum import StrEnum
from random import Random
from typing import Any


class Event(StrEnum):
    RUN_ENDED = "run.ended"
    """A run is done, failed or cancelled."""
    ITEM_ADJUDICATED = "item.adjudicated"
    """An adjudicator has decided on an item of a queue."""
    RELEASE_READY = "release.ready"
    """The files of a release are written, or could not be."""


WORDS: dict[Event, str] = {
    Event.RUN_ENDED: "a run has ended",
    Event.ITEM_ADJUDICATED: "an item was adjudicated",
    Event.RELEASE_READY: "a release is ready",
}

PING = "ping"
"""What a test message tells of: nothing."""
WAITS = (10, 60, 300, 1_800, 7_200, 21_600, 43_200)
"""Seconds between the tries of one message; after the last of them it has failed."""
MOST_TRIES = len(WAITS) + 1
JITTER = 0.2
"""Waits differ by so much, up and down: receivers that were away together are not all tried together."""
MOST_HELD = 300
"""Seconds that one message which does not arrive holds up the others of its webhook, at most."""
MOST_IN_A_ROW = 20
"""Tries that fail one after the other; then the webhook pauses itself."""
GONE = 410
"""The status by which a receiver says that it wants no more."""
MARK = "whsec_"


def secret(key: str, public_id: str, version: int) -> str:
    """What signs the messages of a webhook: made from the installation's key, so it is stored nowhere."""
    made = hmac.digest(key.encode(), f"webhook.{public_id}.{version}".encode(), "sha256")
    return MARK + base64.b64encode(made).decode()


def body_of(payload: Mapping[str, Any]) -> bytes:
    """The bytes that are sent and signed: the same for every try."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def signed(secret: str, *, id: str, at: int, body: bytes) -> dict[str, str]:
    """The headers by which a receiver knows a message for ours, in the form of Standard Webhooks.

    `at` is the second in which it is sent; who keeps an old message and sends it again is found out by it.
    """
    key = base64.b64decode(secret.removeprefix(MARK))
    made = hmac.digest(key, f"{id}.{at}.".encode() + body, "sha256")
    return {
        "Webhook-Id": id,
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": f"v1,{base64.b64encode(made).decode()}",
    }


def wait(tries: int, rng: Random) -> float:
    """Seconds until a message is tried again that failed `tries` times."""
    return WAITS[min(max(tries, 1), len(WAITS)) - 1] * rng.uniform(1 - JITTER, 1 + JITTER)


def held_up(in_a_row: int) -> tuple[float, float]:
    """Seconds for which the other messages of a webhook wait after so many failures one after the other: at
    least, and at most, so that the one that failed is tried before them."""
    seconds = float(min(WAITS[min(max(in_a_row, 1), len(WAITS)) - 1], MOST_HELD))
    return seconds, seconds * (1 + JITTER)
