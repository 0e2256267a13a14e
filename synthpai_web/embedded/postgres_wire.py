"""As much of PostgreSQL's wire protocol as it takes to ask whether the server is ready and to make a
database.

The guardian has only the standard library, and so has whoever reads a settings file; a driver comes later.
The connection is local, by socket, without a password.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

PROTOCOL_3 = 196608
MISSING_DATABASE = "3D000"
DUPLICATE_DATABASE = "42P04"
UNIQUE_VIOLATION = "23505"  # two CREATE DATABASE of one name at the same moment
TOO_MANY_CONNECTIONS = "53300"


class Refusal(Exception):
    """The server answered with an error. `code` is its SQLSTATE."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code


def run(path: Path, *, user: str, database: str, sql: str, seconds: float = 10.0) -> None:
    """Connect and run one statement, whose rows nobody reads. Raises Refusal, or OSError without a
    connection.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(str(path))
        pairs = ("user", user, "database", database)
        start = struct.pack("!i", PROTOCOL_3) + b"".join(text.encode() + b"\0" for text in pairs) + b"\0"
        connection.sendall(struct.pack("!i", len(start) + 4) + start)
        _read_until_ready(connection)
        query = sql.encode() + b"\0"
        connection.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
        _read_until_ready(connection)
        connection.sendall(b"X" + struct.pack("!i", 4))


def _read_until_ready(connection: socket.socket) -> None:
    while True:
        kind, length = struct.unpack("!ci", _read(connection, 5))
        body = _read(connection, length - 4)
        if kind == b"E":
            fields = {part[:1]: part[1:].decode(errors="replace") for part in body.split(b"\0") if part}
            raise Refusal(fields.get(b"C", ""), fields.get(b"M", ""))
        if kind == b"R" and struct.unpack("!i", body[:4]) != (0,):
            raise Refusal("28000", "the server asks for a password")
        if kind == b"Z":
            return


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionResetError("the server closed the connection")
        data += part
    return data
