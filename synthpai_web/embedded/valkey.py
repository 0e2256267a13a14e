"""The embedded Valkey: its command line, and whether it answers."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass
from typing import ClassVar

from . import accounts, binaries, folders, launch
from .errors import ServerName
from .places import Place

# Every write reaches a log that is flushed each second; nothing is ever evicted, since queues live here.
SETTINGS = (
    ("port", "0"),
    ("unixsocketperm", "700"),
    ("appendonly", "yes"),
    ("save", "3600", "1", "300", "100"),
    ("maxmemory-policy", "noeviction"),
    ("daemonize", "no"),
    ("shutdown-on-sigterm", "save", "force"),
)


@dataclass(frozen=True)
class Valkey:
    """Satisfies `servers.Server`."""

    place: Place
    name: ClassVar[ServerName] = "valkey"
    title: ClassVar[str] = "Valkey"
    parting: ClassVar[signal.Signals] = signal.SIGTERM
    stop_steps: ClassVar = ((signal.SIGTERM, 20.0),)

    def prepare(self, keep_fd: int) -> launch.Program:
        """Make the missing folders and say how to start the server; unlike PostgreSQL it runs as root too."""
        where, account = self.place.valkey, accounts.current()
        program = binaries.valkey_server()
        if where.socket_dir.parent == self.place.short:
            folders.make_own_in_shared(self.place.short)
        folders.make_private(where.data_dir, account)
        folders.make_private(where.socket_dir, account)
        flush = "no" if os.environ.get("SYNTHPAI_EMBEDDED_FSYNC") == "off" else "everysec"
        settings = [
            *SETTINGS,
            ("appendfsync", flush),
            ("dir", str(where.data_dir)),
            ("unixsocket", str(where.socket)),
        ]
        options = [word for name, *values in settings for word in (f"--{name}", *values)]
        return launch.Program([program, *options], account)

    def is_ready(self) -> bool:
        """Whether the server answers and has loaded its data. A full house is a server that is up."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(10.0)
                connection.connect(str(self.place.valkey.socket))
                connection.sendall(b"PING\r\n")
                answer = connection.recv(200)
        except OSError:
            return False
        return answer.startswith((b"+PONG", b"-ERR max number of clients"))
