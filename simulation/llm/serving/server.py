"""The server: `POST /v1/chat/completions`, `POST /v1/moderations`, `GET /v1/models`, `/stats`, `/healthz`.

Everything happens on one event loop, so the counters need no lock.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field

from simulation.llm.serving import wire
from simulation.llm.serving.answers import POSTS, Handle, Rules, bad_request, look, server_error, too_fast
from simulation.llm.serving.faults import Fault, Faults, Latency, digest_of
from simulation.llm.serving.http import Answer, Asked, BadHttp, as_bytes, read_request
from simulation.llm.serving.wire import BadRequest

LOOK_UP_EVERY = 0.25
"""Seconds between two looks whether a waiting client is still there."""


@dataclass(frozen=True)
class Behaviour:
    """`limit` requests at a time, more are answered 429; 0 for no limit. Seconds everywhere.

    `retry_after` is what a 429 asks to wait; None where it does not say.
    """

    faults: Faults = field(default_factory=Faults)
    latency: Latency = field(default_factory=Latency)
    limit: int = 0
    timeout: float = 5.0
    """How late a `timeout` answer comes."""
    retry_after: float | None = 0.2


@dataclass(frozen=True)
class Plan:
    kind: str
    """As it is counted."""
    answer: Answer
    seconds: float = 0.0
    digest: str = ""


class ModelServer:
    """Serves one model of rules on one event loop."""

    def __init__(self, model: Rules, behaviour: Behaviour) -> None:
        self._model, self._behaviour = model, behaviour
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.requests = self.in_flight = self.max_in_flight = 0
        self.replies: Counter[str] = Counter()
        self.completed: Counter[str] = Counter()
        self.arrived: Counter[str] = Counter()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """The base URL it answers at. Raises OSError where the port is taken."""
        self._server = await asyncio.start_server(self._converse, host, port, backlog=1024)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def stats(self) -> wire.Json:
        """`completed` counts, by the digest of the body, the answers that were sent whole; `arrived`, by the
        digest and the attempt (DIGEST/ATTEMPT), what was taken up. `replies` has what was refused because of
        the limit as `limited`."""
        return {
            "requests": self.requests,
            "replies": dict(self.replies),
            "completed": dict(self.completed),
            "arrived": dict(self.arrived),
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
        }

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while asked := await read_request(reader, writer):
                await self._answer(asked, reader, writer)
                if not asked.keep_alive:
                    break
        except BadHttp as problem:
            refusal = Answer(problem.status, wire.error(str(problem), "invalid_request_error"))
            writer.write(as_bytes(refusal, keep_alive=False))
        except ConnectionError:
            pass  # the client went away
        except asyncio.CancelledError:
            writer.transport.abort()  # the server closes
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = asked.path.removeprefix("/v1")
        handle = POSTS.get(path) if asked.method == "POST" else None
        if handle is None:
            answer = look(asked.method, path, self.stats())
            await _send(writer, answer, keep_alive=asked.keep_alive)
            return
        self.requests += 1
        if self._behaviour.limit and self.in_flight >= self._behaviour.limit:
            self.replies["limited"] += 1
            answer = too_fast("too many at a time", self._behaviour.retry_after)
            await _send(writer, answer, keep_alive=asked.keep_alive)
            return
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            await self._work(self._plan(asked, handle), asked.keep_alive, reader, writer)
        finally:
            self.in_flight -= 1

    def _plan(self, asked: Asked, handle: Handle) -> Plan:
        """All that is known at once: the answer, its fault and how long it takes."""
        try:
            body = json.loads(asked.body)
            digest, attempt = digest_of(body), _attempt(asked)
            self.arrived[f"{digest}/{attempt}"] += 1
            fault = self._behaviour.faults.of(digest, attempt)
            answer = handle(self._model, body, digest, fault)
        except (json.JSONDecodeError, UnicodeDecodeError, BadRequest) as problem:
            return Plan("bad_request", bad_request(problem))
        seconds = self._behaviour.latency.of(digest, attempt)
        if fault is Fault.RATE_LIMIT:
            answer, seconds = too_fast("rate limit reached", self._behaviour.retry_after), 0.0
        elif fault is Fault.SERVER_ERROR:
            answer = server_error()
        elif fault is Fault.TIMEOUT:
            seconds = self._behaviour.timeout
        return Plan(fault.value if fault else "ok", answer, seconds, digest)

    async def _work(
        self, plan: Plan, keep_alive: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if not await _wait(plan.seconds, reader):
            self.replies["gone"] += 1
            return
        self.replies[plan.kind] += 1
        if plan.kind == Fault.CUT:
            await _send_half(writer, plan.answer)
            raise ConnectionAbortedError
        await _send(writer, plan.answer, keep_alive=keep_alive)
        if plan.answer.status == 200:
            self.completed[plan.digest] += 1


def _attempt(asked: Asked) -> int:
    text = asked.headers.get("x-stainless-retry-count", "0")
    return int(text) if text.isdecimal() else 0


async def _wait(seconds: float, reader: asyncio.StreamReader) -> bool:
    """Waits, and says whether the client is still there."""
    end = asyncio.get_running_loop().time() + seconds
    while (left := end - asyncio.get_running_loop().time()) > 0 and not reader.at_eof():
        await asyncio.sleep(min(left, LOOK_UP_EVERY))
    return not reader.at_eof()


async def _send(writer: asyncio.StreamWriter, answer: Answer, *, keep_alive: bool) -> None:
    writer.write(as_bytes(answer, keep_alive=keep_alive))
    await writer.drain()


async def _send_half(writer: asyncio.StreamWriter, answer: Answer) -> None:
    whole = as_bytes(answer, keep_alive=True)
    head = whole.index(b"\r\n\r\n") + 4
    writer.write(whole[: head + (len(whole) - head) // 2])
    await writer.drain()
