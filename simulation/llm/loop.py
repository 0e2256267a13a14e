"""One event loop a process for all model calls, in a thread of its own; other threads wait for results."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

import uvloop

Result = TypeVar("Result")


class LoopThread:
    """Starts with the first `run`. A forked child starts one of its own: threads do not survive a fork."""

    def __init__(self, name: str = "model-calls") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        os.register_at_fork(after_in_child=self._forget)

    def run(
        self, coroutine: Coroutine[Any, Any, Result], *, every: float, beat: Callable[[], None]
    ) -> Result:
        """The coroutine's result, or what it raises.

        Every `every` seconds `beat` is called, in the caller's thread. What it raises ends the wait: the
        coroutine is cancelled.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._running())
        try:
            while not wait([future], timeout=every).done:
                beat()
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Ends the loop and its thread; calls under way are cancelled."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _forget(self) -> None:
        """In a forked child: the parent's thread is not here, and its lock may be held for ever."""
        self._lock = threading.Lock()
        self._loop = self._thread = None
        self._pid = os.getpid()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._pid != os.getpid():
            self._forget()  # forked without Python's hooks
        with self._lock:
            if self._loop is None:
                self._loop = uvloop.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_default_executor())
