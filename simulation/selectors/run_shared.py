"""What a run's page shows, drawn once and shared by all who watch: kept for seconds in the broker's Redis.

Nothing personal is in it. Who finds it outdated may draw it anew, but of all who ask in one second one alone;
the others get what is there, or nothing new, and ask again two seconds later.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redis.exceptions import RedisError

from simulation.selectors.workers import broker

KEEP_SECONDS = 20
EVERY_MS = 1000
"""A sheet is drawn at most this often, however fast the run changes."""
PREFIX = "synthpai:run-page"


@dataclass(frozen=True)
class Sheet:
    """The parts of a page in one state of the run. `parts`: name -> (mark of its content, HTML)."""

    token: str
    tick: int
    parts: Mapping[str, tuple[str, str]]


def variant(run: str, thread: str, rights: str) -> str:
    """The key under which all who see the same share a sheet; `run` is its public id."""
    return f"{PREFIX}:{run}:{thread}:{rights}"


def latest(key: str, *, token: str, seen_tick: int, draw: Callable[[], Sheet]) -> Sheet | None:
    """The sheet of state `token`: the shared one, or drawn now where it is this caller's turn.

    Where it is another's turn: the last sheet, if it is no older than `seen_tick`, else None. A broker that
    does not answer shares nothing: everybody draws.
    """
    try:
        kept = _read(broker().get(key))
        if kept and kept.token == token:
            return kept
        if not broker().set(f"{key}:turn", 1, nx=True, px=EVERY_MS):
            return kept if kept and kept.tick >= seen_tick else None
    except (RedisError, OSError):
        return draw()
    sheet = draw()
    keep(key, sheet)
    return sheet


def keep(key: str, sheet: Sheet) -> None:
    """Shares a sheet; where the broker does not answer nothing happens."""
    packed = base64.b85encode(zlib.compress(json.dumps([sheet.token, sheet.tick, sheet.parts]).encode(), 1))
    try:
        broker().set(key, packed.decode(), ex=KEEP_SECONDS)
    except (RedisError, OSError):
        return


def _read(packed: object) -> Sheet | None:
    if not isinstance(packed, str):
        return None
    token, tick, parts = json.loads(zlib.decompress(base64.b85decode(packed)))
    return Sheet(token, tick, {name: (mark, html) for name, (mark, html) in parts.items()})
