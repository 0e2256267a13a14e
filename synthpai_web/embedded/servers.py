"""What the guardian and the attaching process need to know about a server, whichever it is."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Protocol

from .errors import ServerName
from .launch import Program
from .places import Place
from .postgres import Postgres
from .valkey import Valkey


class Server(Protocol):
    """One embedded server at its place."""

    @property
    def name(self) -> ServerName:
        """As in `attach`."""

    @property
    def title(self) -> str:
        """As people write it."""

    @property
    def parting(self) -> signal.Signals:
        """The signal that ends the server cleanly, sent by the kernel when the guardian is killed."""

    @property
    def stop_steps(self) -> Sequence[tuple[signal.Signals, float]]:
        """The signals by which the guardian ends it, each with the seconds it may take."""

    def prepare(self, keep_fd: int) -> Program:
        """Make what is missing and say how to start it. Called while no server of ours runs there.

        Programs which this needs must keep the lock `keep_fd`.
        """

    def is_ready(self) -> bool:
        """Whether it can be used now. EmbeddedServerError if waiting will not help."""


def server_at(place: Place, name: ServerName) -> Server:
    """The server of that name."""
    return Postgres(place) if name == "postgres" else Valkey(place)
