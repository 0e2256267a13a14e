"""Sees a run to its end from a command: in this process, or watching the workers do it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from simulation.domain.run_states import ENDED_RUNS, RunState
from simulation.models import Run
from simulation.selectors.progress import Progress, progress
from simulation.services import engine, sweeping
from simulation.services.work import Work

PAUSE_SECONDS = 0.2
SWEEP_SECONDS = 5.0


def carry(*, run: Run, work: Work | None, threads: int, watch: Callable[[Run, Progress], None]) -> Run:
    """Waits until the run has ended or stopped, calling `watch` a few times a second.

    With `work` this process does the steps itself, `threads` at a time; without, workers do. The run as it
    is then: done, failed, cancelled, paused or halted.
    """
    stop = threading.Event()
    with _hands(run, work, threads, stop):
        swept = time.monotonic()
        while True:
            now = Run.objects.get(pk=run.pk)
            watch(now, progress(now))
            if now.state in ENDED_RUNS or now.state in (RunState.PAUSED, RunState.HALTED):
                return now
            if work is not None and time.monotonic() - swept > SWEEP_SECONDS:
                sweeping.sweep()
                swept = time.monotonic()
            time.sleep(PAUSE_SECONDS)


@contextmanager
def _hands(run: Run, work: Work | None, threads: int, stop: threading.Event) -> Iterator[None]:
    if work is None:
        yield
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(threads):
            pool.submit(_work, run.pk, work, stop)
        try:
            yield
        finally:
            stop.set()


def _work(run_id: int, work: Work, stop: threading.Event) -> None:
    try:
        while not stop.is_set():
            if not engine.advance(run_id=run_id, work=work):
                stop.wait(PAUSE_SECONDS)
    finally:
        connection.close()
