"""The embedded PostgreSQL: its cluster, its command line, and whether it answers."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import ClassVar

from . import accounts, binaries, cluster, folders, launch, postgres_wire
from .errors import EmbeddedServerError, ServerName
from .places import DATABASE, SUPERUSER, Place

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",  # part of the socket's name; PGPORT or postgresql.conf must not change it
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "max_locks_per_transaction": "256",  # a restore makes and drops every table in one transaction
    "max_wal_size": "512MB",
    "jit": "off",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
}
# For tests: nothing is kept safe from a crash of the machine.
UNSAFE_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# Starting, ending, and meetings of two that make the database at once: ask again.
PASSING = {"57P03", "57P01", "55006", postgres_wire.DUPLICATE_DATABASE, postgres_wire.UNIQUE_VIOLATION}


@dataclass(frozen=True)
class Postgres:
    """Satisfies `servers.Server`."""

    place: Place
    name: ClassVar[ServerName] = "postgres"
    title: ClassVar[str] = "PostgreSQL"
    parting: ClassVar[signal.Signals] = signal.SIGINT  # fast shutdown: clients are disconnected
    stop_steps: ClassVar = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))

    def prepare(self, keep_fd: int) -> launch.Program:
        """Make what is missing (account, folders, cluster) and say how to start the server."""
        data, sockets = self.place.postgres.data_dir, self.place.postgres.socket_dir
        exists = cluster.exists(data)
        account = accounts.owner_of_cluster(data) if exists else accounts.account_for_new_cluster()
        self._make_shared_folders()
        if account.is_other:
            cluster.refuse_closed((data.parent, sockets.parent), account)
        programs = binaries.postgres_bin(account, self.place.outside)
        if exists:
            cluster.refuse_other_version(data)
        else:
            options = ["--no-sync"] if _unsafe() else []
            cluster.make(self.place, programs, account, keep_fd=keep_fd, options=options)
        folders.make_private(sockets, account)
        for leftover in sockets.glob(".s.PGSQL.*"):  # no server of ours lives: the caller holds its lock
            leftover.unlink(missing_ok=True)
        cluster.disown_pid_file(data)
        return launch.Program([programs / "postgres", *self._options()], account)

    def is_ready(self) -> bool:
        """Whether the server answers and the database exists, which is made if it is missing."""
        try:
            self._query(DATABASE, "")
        except OSError:
            return False
        except postgres_wire.Refusal as refusal:
            if refusal.code == postgres_wire.MISSING_DATABASE:
                return self._create_database()
            return _is_up_despite(refusal)
        return True

    def _create_database(self) -> bool:
        try:
            self._query(SUPERUSER, f"CREATE DATABASE {DATABASE}")
        except OSError:
            return False
        except postgres_wire.Refusal as refusal:
            return _is_up_despite(refusal)
        return True

    def _query(self, database: str, sql: str) -> None:
        postgres_wire.run(self.place.postgres.socket, user=SUPERUSER, database=database, sql=sql)

    def _make_shared_folders(self) -> None:
        if self.place.is_outside:
            folders.make_own_in_shared(self.place.outside)
            cluster.refuse_moved_checkout(self.place)
        if self.place.postgres.socket_dir.parent == self.place.short:
            folders.make_own_in_shared(self.place.short)

    def _options(self) -> list[str]:
        sockets = str(self.place.postgres.socket_dir).replace('"', '""')
        settings = (
            SETTINGS | {"unix_socket_directories": f'"{sockets}"'} | (UNSAFE_SETTINGS if _unsafe() else {})
        )
        options = ["-D", str(self.place.postgres.data_dir)]
        for name, value in settings.items():
            options += ["-c", f"{name}={value}"]
        return options


def _unsafe() -> bool:
    return os.environ.get("SYNTHPAI_EMBEDDED_FSYNC") == "off"


def _is_up_despite(refusal: postgres_wire.Refusal) -> bool:
    """A full house is a server that is up; starting and ending pass; anything else needs a person."""
    if refusal.code == postgres_wire.TOO_MANY_CONNECTIONS:
        return True
    if refusal.code in PASSING:
        return False
    raise EmbeddedServerError(f"The embedded PostgreSQL refuses a connection: {refusal}.") from refusal
