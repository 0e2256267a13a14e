"""For tests of the wire: a model of three lines, a server of canned answers, and a call to either."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from simulation.domain.addresses import AddressGuard
from simulation.llm.errors import LLMError
from simulation.llm.gateway import Connection
from simulation.llm.messages import ChatReply, ChatRequest, Finish, Form, Message, ModerationReply, Usage
from simulation.llm.openai_compatible import OpenAICompatible
from tests.finishing import finish

KEY = "sk-test-51HxYzAbCdEf0123456789"
WORDS = "Reasoning: it is late\nMy comment: good night from the coast"
OBJECT = '{"comment": "good night", "language": "en"}'


class Stub:
    """Answers every request with the same words, or the same object where JSON is asked for."""

    def reply(self, request: ChatRequest) -> ChatReply:
        text = WORDS if request.form is Form.TEXT else OBJECT
        return ChatReply(text, Finish.STOP, Usage(input=12, output=8, cached=5, reasoning=3), "stub-1")

    def judged(self, request: Any) -> ModerationReply:
        flagged = tuple("kill" in text for text in request.texts)
        return ModerationReply(flagged, tuple({"violence": float(bad)} for bad in flagged), "stub-mod")


def asked(text: str = "Hello?", **fields: Any) -> ChatRequest:
    return ChatRequest("stub", (Message("user", text),), **fields)


def guard_for(*urls: str, **options: Any) -> AddressGuard:
    return AddressGuard([urlsplit(url).netloc for url in urls], **options)


def call(
    url: str, request: ChatRequest, *, attempt: int = 0, timeout: float = 10.0, key: str = KEY, **options: Any
) -> ChatReply | LLMError:
    """One attempt of a gateway of its own: the reply or the error."""

    async def once() -> ChatReply | LLMError:
        guard = options.get("guard") or guard_for(url)
        try:
            gateway = OpenAICompatible(Connection(url, "X_API_KEY", timeout), key, guard=guard)
        except LLMError as error:
            return error
        try:
            return await gateway.complete(request, attempt=attempt)
        except LLMError as error:
            return error
        finally:
            await gateway.close()

    return finish(once())


class Canned(ThreadingHTTPServer):
    """Answers every POST with one status, body and headers, and remembers what it was sent."""

    daemon_threads = False
    status: int
    body: bytes
    extra: Mapping[str, str]
    seen: list[tuple[dict[str, str], Any]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Canned

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        for name, value in {"Content-Type": "application/json", **self.server.extra}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Not to the terminal."""


@contextmanager
def canned(body: Any, status: int = 200, **headers: str) -> Iterator[Canned]:
    with Canned(("127.0.0.1", 0), _Handler) as server:
        server.status, server.seen = status, []
        server.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        server.extra = {name.replace("_", "-"): value for name, value in headers.items()}
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
