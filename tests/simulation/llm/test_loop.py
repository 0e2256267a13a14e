"""One loop a process: results and errors come back, the beat goes on, a fork starts anew."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from simulation.llm.loop import LoopThread


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("test-loop")
    yield thread
    thread.close()


def nothing() -> None:
    """No lease to renew."""


async def thread_after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return threading.current_thread().name


def test_many_threads_wait_on_one_loop(loop):
    """Each waits until all twenty are there: one after another would never end."""
    everyone = asyncio.Barrier(20)

    async def thread_when_all_are_there() -> str:
        async with asyncio.timeout(30):
            await everyone.wait()
        return threading.current_thread().name

    with ThreadPoolExecutor(20) as pool:
        names = list(
            pool.map(lambda _: loop.run(thread_when_all_are_there(), every=9, beat=nothing), range(20))
        )
    assert set(names) == {"test-loop"}


def test_what_the_coroutine_raises_comes_back(loop):
    async def fails() -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        loop.run(fails(), every=0.05, beat=nothing)


def test_the_beat_goes_on_while_it_waits(loop):
    beats: list[str] = []
    loop.run(thread_after(0.35), every=0.1, beat=lambda: beats.append(threading.current_thread().name))
    assert len(beats) >= 2
    assert set(beats) == {threading.current_thread().name}


def test_a_beat_that_gives_up_cancels_the_call(loop):
    cancelled = threading.Event()

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def lost() -> None:
        raise LookupError("the lease is lost")

    with pytest.raises(LookupError, match="lease"):
        loop.run(long(), every=0.05, beat=lost)
    assert cancelled.wait(2)


def test_it_can_be_closed_with_calls_under_way_and_used_again(loop):
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(loop.run, thread_after(60), every=9, beat=nothing)
        time.sleep(0.1)
        loop.close()
        assert waiting.exception(timeout=2) is not None
    assert loop.run(thread_after(0), every=9, beat=nothing) == "test-loop"
    loop.close()
    loop.close()


def test_a_forked_child_has_a_loop_of_its_own(loop):
    loop.run(thread_after(0), every=9, beat=nothing)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        loop.run(thread_after(0), every=9, beat=nothing)
        os.write(writing, b"ran")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"ran"
    assert os.waitpid(child, 0)[1] == 0
    assert loop.run(thread_after(0), every=9, beat=nothing) == "test-loop"
