"""As much HTTP/1.1 as a server of small JSON bodies needs, on asyncio's streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

LARGEST_BODY = 20_000_000


class BadHttp(Exception):
    """A message that cannot be answered on this connection any further."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes
    keep_alive: bool


@dataclass(frozen=True)
class Answer:
    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked | None:
    """The next request of a connection, or None where the client has closed it. Raises BadHttp."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise BadHttp(431, "the headers are too long") from None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadHttp(400, "this is not a request of HTTP/1.1")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not length.isdecimal():
        raise BadHttp(411, "send the body with a Content-Length")
    if int(length) > LARGEST_BODY:
        raise BadHttp(413, "the body is too large")
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        body = await reader.readexactly(int(length))
    except asyncio.IncompleteReadError:
        return None
    stays = words[2] == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return Asked(words[0], words[1].partition("?")[0], headers, body, stays)


def as_bytes(answer: Answer, *, keep_alive: bool) -> bytes:
    """Head and body in one piece, so that they leave in one packet."""
    body = json.dumps(answer.body, ensure_ascii=False).encode("utf-8", "replace")
    head = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if keep_alive else 'close'}",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    ]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body
