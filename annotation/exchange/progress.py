"""How far an import is, told beside its transaction: what is written there nobody sees before the end.

It stands in the broker for a minute. Losing it loses nothing; the page then only says that the import runs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from time import monotonic

from redis.exceptions import RedisError

from annotation.exchange.watching import Stopped, Watch
from annotation.models import DataImport
from simulation.selectors.workers import broker

EVERY = 0.5
"""Seconds between two looks at whether it is to stop, and two words on how far it is."""
SILENT = 30.0
"""Seconds for which a broker that did not answer is left alone."""
KEPT_SECONDS = 60


@dataclass(frozen=True)
class Progress:
    stage: str
    """checking, storing"""
    read: int
    """Bytes of the file at this stage."""
    size: int
    rows: int
    """Written so far, of all kinds."""

    @property
    def percent(self) -> int:
        return min(100 * self.read // self.size, 100) if self.size else 0


def _key(one: DataImport) -> str:
    return f"synthpai:import:{one.public_id}"


def of(one: DataImport) -> Progress | None:
    """None where nothing is known: it waits, it is over, or the broker does not answer."""
    try:
        said = broker().get(_key(one))
        return Progress(**json.loads(str(said))) if said else None
    except (RedisError, OSError, ValueError, TypeError):
        return None


class Reporter(Watch):
    """Tells how far an import is, and stops it where somebody asked for that."""

    def __init__(self, one: DataImport) -> None:
        self._one = one
        self._stage, self._read, self._rows = "", 0, 0
        self._last = self._silent_until = 0.0

    def stage(self, name: str) -> None:
        self._stage, self._read = name, 0
        self._look(monotonic())

    def read(self, place: int) -> None:
        self._read = place
        self._now_and_then()

    def wrote(self, count: int) -> None:
        self._rows += count
        self._now_and_then()

    def last_look(self) -> None:
        """Right before the end: raises Stopped if somebody has asked for it. Who asks from now on until the
        transaction ends waits for it, and is told that it is over."""
        asked = DataImport.objects.select_for_update().filter(pk=self._one.pk).values_list("cancel_asked_at")
        if asked.get() != (None,):
            raise Stopped

    def _now_and_then(self) -> None:
        now = monotonic()
        if now - self._last >= EVERY:
            self._look(now)

    def _look(self, now: float) -> None:
        self._last = now
        self._tell(now)
        if DataImport.objects.filter(pk=self._one.pk, cancel_asked_at__isnull=False).exists():
            raise Stopped

    def _tell(self, now: float) -> None:
        if now < self._silent_until:
            return
        said = Progress(self._stage, self._read, self._one.size, self._rows)
        try:
            broker().set(_key(self._one), json.dumps(asdict(said)), ex=KEPT_SECONDS)
        except (RedisError, OSError):
            self._silent_until = now + SILENT
