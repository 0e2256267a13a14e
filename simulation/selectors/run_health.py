"""Whether anybody is there to carry a run on, asked cheaply: many pages ask every two seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from redis.exceptions import RedisError

from simulation.domain.run_states import RunState
from simulation.models import Run
from simulation.selectors import workers

QUIET_SECONDS = 30.0
"""A worker writes every five seconds; after this silence the page says so."""
REMEMBERED_SECONDS = 1.0
"""How long one process keeps an answer; a broker that hangs is not asked again by every page."""
REMEMBERED_BAD_SECONDS = 5.0
WELL, QUIET, NOBODY, NO_BROKER = "well", "quiet", "nobody", "broker"
WORKED = (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True)
class Health:
    """`kind`: well, quiet, nobody, broker; `since`: when a worker was heard, or the broker fell silent."""

    kind: str
    since: datetime | None = None


_known: dict[str, tuple[float, Health]] = {}


def of_run(run: Run) -> Health:
    """Well also where nobody is needed: a run that is paused, halted or over waits for no worker."""
    return health() if run.state in WORKED else Health(WELL)


def health() -> Health:
    """Raises nothing: a broker that does not answer is an answer."""
    now = time.monotonic()
    until, known = _known.get("health", (0.0, Health(WELL)))
    if now < until:
        return known
    found = _look(known)
    good = found.kind in (WELL, QUIET)
    _known["health"] = (now + (REMEMBERED_SECONDS if good else REMEMBERED_BAD_SECONDS), found)
    return found


def forget() -> None:
    """The next question is asked of the broker."""
    _known.clear()


def _look(before: Health) -> Health:
    try:
        ages = workers.ages()
    except (RedisError, OSError):
        return before if before.kind == NO_BROKER else Health(NO_BROKER, timezone.now())
    youngest = min(ages.values(), default=None)
    if youngest is None:
        return Health(NOBODY)
    heard = timezone.now() - timedelta(seconds=youngest)
    if youngest > workers.SILENCE_SECONDS:
        return Health(NOBODY, heard)
    return Health(QUIET if youngest >= QUIET_SECONDS else WELL, heard)
