"""The server in a thread of this process: for tests and measurements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simulation.llm.loop import LoopThread
from simulation.llm.serving.answers import Rules
from simulation.llm.serving.server import Behaviour, ModelServer


@contextmanager
def in_background(model: Rules, behaviour: Behaviour | None = None) -> Iterator[tuple[str, ModelServer]]:
    """A server for the time of a `with`: its base URL and itself."""
    loop, server = LoopThread("scripted-model"), ModelServer(model, behaviour or Behaviour())
    try:
        yield loop.run(server.start(), every=60, beat=_nothing), server
    finally:
        loop.run(server.close(), every=60, beat=_nothing)
        loop.close()


def _nothing() -> None:
    """There is no lease to renew."""
