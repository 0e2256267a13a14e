"""A receiver of webhooks on the loopback: what it is to answer, and what it was sent."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def payload(self) -> Any:
        return json.loads(self.body)


@dataclass
class Say:
    """One answer. `first` runs before it, `chunks` come after the headers one by one."""

    status: int = 204
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    first: Callable[[], object] | None = None
    chunks: Callable[[], Iterator[bytes]] | None = None


class Receiver(ThreadingHTTPServer):
    """Gives the answers of `answers` in turn, the last of them for ever."""

    daemon_threads = True

    def __init__(self, *answers: Say, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers) or [Say()]
        self.seen: list[Received] = []
        self.released = Event()
        self._lock = Lock()
        self.scheme = "https" if context else "http"
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def endpoint(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.endpoint}/hook?key=abc"

    def wait_for_ever(self) -> None:
        """Until the test is over, or says so."""
        self.released.wait()

    def take(self, received: Received) -> Say:
        with self._lock:
            self.seen.append(received)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers that hang up are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        say = self.server.take(Received(self.path, headers, body))
        if say.first:
            say.first()
        self.send_response(say.status)
        for name, value in say.headers.items():
            self.send_header(name, value)
        if say.chunks is None and say.status != 204:
            self.send_header("Content-Length", str(len(say.body)))
        self.end_headers()
        for part in say.chunks() if say.chunks else [say.body]:
            self.wfile.write(part)
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Not to the terminal."""


@contextmanager
def receiving(*answers: Say, context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    with Receiver(*answers, context=context) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join()
