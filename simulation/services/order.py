"""The threads of one worker wait for each other here before they ask the database for a run's row.

All that changes a run takes its row's lock (`claiming.lock`, `spending.locked`). A hundred threads that queue
for it in the database would hold all connections of the process, and whoever has the lock must share the
interpreter with everyone who wakes up for it in vain. Threads that wait here cost nothing, and they pass in
an order that helps all: who begins a call, who ends a step, who wants one.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.db import connection


class Turn(IntEnum):
    """Who passes first: a call that is to be sent is short work, and its model can be at work meanwhile."""

    BEGIN = 0
    END = 1
    CLAIM = 2


class Door:
    """Lets one thread through at a time, by turn and then by time; who is inside may pass again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int, threading.Lock, int]] = []
        self._numbers = itertools.count()
        self._inside: int | None = None
        self._times = 0

    def enter(self, turn: Turn, *, wait: bool = True) -> bool:
        """Whether the caller is inside; without `wait`, False where somebody else is."""
        me = threading.get_ident()
        with self._lock:
            if self._inside in (None, me):
                self._inside = me
                self._times += 1
                return True
            if not wait:
                return False
            mine = threading.Lock()
            mine.acquire()
            heapq.heappush(self._waiting, (turn, next(self._numbers), mine, me))
        mine.acquire()  # who leaves has let us in
        return True

    def leave(self) -> None:
        with self._lock:
            self._times -= 1
            if self._times:
                return
            self._inside = None
            if self._waiting:
                _, _, theirs, self._inside = heapq.heappop(self._waiting)
                self._times = 1
                theirs.release()


_DOORS: list[Door] = []


def _close_doors() -> None:
    """A forked child has none of the threads that may be inside."""
    _DOORS[:] = [Door() for _ in range(64)]  # more than a process has runs in work


_close_doors()
os.register_at_fork(after_in_child=_close_doors)


def give_connection_back() -> None:
    """To the pool, where no transaction is open: the wait is long, and others may have it meanwhile."""
    if not connection.in_atomic_block:
        connection.close()


@contextmanager
def one_at_a_time(run_id: int, turn: Turn) -> Iterator[None]:
    """To be held around a transaction that takes the lock of a run's row, never inside one.

    Nobody waits here with a connection: whoever is inside may need it.
    """
    door = _DOORS[run_id % len(_DOORS)]
    if not door.enter(turn, wait=False):
        give_connection_back()
        door.enter(turn)
    try:
        yield
    finally:
        door.leave()
