"""The sign of life that a worker leaves."""

import time

from simulation.selectors.workers import KEY, ages, broker

WRITE_EVERY_SECONDS = 5.0
_last_written: dict[str, float] = {}


def beat(*, worker: str) -> None:
    """Called by the worker's own timer; writes at most once in five seconds."""
    now = time.time()
    if now - _last_written.get(worker, 0.0) >= WRITE_EVERY_SECONDS:
        broker().hset(KEY, worker, f"{now:.1f}")
        _last_written[worker] = now


def leave(*, worker: str) -> None:
    """The worker ends; those that ended without a word long ago go with it."""
    fresh = ages()
    gone = [name for name in broker().hkeys(KEY) if name not in fresh]
    broker().hdel(KEY, worker, *gone)
    _last_written.pop(worker, None)
