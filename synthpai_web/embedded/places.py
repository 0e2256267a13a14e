"""Where the embedded servers keep their data, sockets and logs: a pure computation, callable at any time.

Everything is inside the var directory, with two exceptions:

* A socket's path may have some 100 bytes and, in some clients' URLs, no special characters. A var directory
  which is too long or too odd for that gets its sockets in `/tmp/synthpai-<hash>-<uid>`.
* Root runs PostgreSQL under another account (see `accounts`). Where that account cannot pass through the
  folders above, cluster and socket are in `/var/tmp/synthpai-<hash>`. `<var>/run/postgres.place` records it:
  the record wins over permissions that change later, as does a cluster that is already inside the var
  directory.

The hash is that of the resolved var directory, so two checkouts never meet.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from . import accounts
from .errors import ServerName

DATABASE = "synthpai"
SUPERUSER = "postgres"
POSTGRES_SOCKET = ".s.PGSQL.5432"
VALKEY_SOCKET = "valkey.sock"
SHORT_LIVED = Path("/tmp")  # noqa: S108 - folders made there are checked
LONG_LIVED = Path("/var/tmp")  # noqa: S108
LONGEST_SOCKET = 103  # bytes without the final zero: 107 on Linux, 103 on macOS


@dataclass(frozen=True)
class ServerPlace:
    """The places of one server."""

    data_dir: Path
    socket_dir: Path
    socket: Path
    log_file: Path


@dataclass(frozen=True)
class Place:
    """The places of both servers of one var directory, and the URLs that clients use.

    `outside` is the folder in /var/tmp that root needs when the var directory, or the server's programs,
    cannot be reached by PostgreSQL's account. It need not exist. `short` is the same for sockets whose path
    would be too long.
    """

    var_dir: Path
    run_dir: Path
    outside: Path
    short: Path
    postgres: ServerPlace
    valkey: ServerPlace

    @property
    def database_url(self) -> str:
        """For psycopg and Django: the socket's folder is the host."""
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={quote(str(self.postgres.socket_dir), safe='')}"

    @property
    def redis_url(self) -> str:
        """For redis-py and Django's cache."""
        return f"unix://{self.valkey.socket}?db=0"

    @property
    def broker_url(self) -> str:
        """For Celery, that is kombu, which spells sockets in its own way."""
        return f"redis+socket://{self.valkey.socket}?virtual_host=0"

    @property
    def record(self) -> Path:
        """Names the cluster when it is outside the var directory."""
        return self.run_dir / "postgres.place"

    @property
    def is_outside(self) -> bool:
        """Whether the cluster is outside the var directory."""
        return self.postgres.data_dir.parent == self.outside

    def of(self, server: ServerName) -> ServerPlace:
        """The places of the named server."""
        return self.postgres if server == "postgres" else self.valkey


def place(var_dir: Path) -> Place:
    """Where everything of this var directory is. Starts, makes and changes nothing, and needs no folder to
    exist.

    The same for every process of a user: it depends on the resolved path, the effective user, the permissions
    of the folders above and, once there is a cluster, on where that is.
    """
    var = var_dir.resolve()
    run, log = var / "run", var / "log"
    mark = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    outside = LONG_LIVED / f"synthpai-{mark}"
    short = SHORT_LIVED / f"synthpai-{mark}-{os.geteuid()}"
    data = _cluster(var, run, outside)
    if data.parent == outside:
        postgres_sockets = outside / "run"
    else:
        postgres_sockets = _socket_dir(run, short, "postgres", POSTGRES_SOCKET)
    valkey_sockets = _socket_dir(run, short, "valkey", VALKEY_SOCKET)
    return Place(
        var_dir=var,
        run_dir=run,
        outside=outside,
        short=short,
        postgres=ServerPlace(
            data, postgres_sockets, postgres_sockets / POSTGRES_SOCKET, log / "postgres.log"
        ),
        valkey=ServerPlace(
            var / "valkey", valkey_sockets, valkey_sockets / VALKEY_SOCKET, log / "valkey.log"
        ),
    )


def recorded_cluster(run: Path) -> Path | None:
    """The cluster which the record names, whether or not it exists."""
    try:
        text = (run / "postgres.place").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return Path(text) if text else None


def _cluster(var: Path, run: Path, outside: Path) -> Path:
    """A recorded cluster first, then one inside, then by permissions. Clusters appear whole, by rename."""
    inside, elsewhere = var / "postgres", outside / "postgres"
    if recorded_cluster(run) == elsewhere and elsewhere.is_dir():
        return elsewhere
    if os.geteuid() != 0 or os.path.lexists(inside / "PG_VERSION"):
        return inside
    closed = accounts.first_closed_folder(run, accounts.known_system_account())
    return inside if closed is None else elsewhere


def _socket_dir(run: Path, short: Path, name: str, socket: str) -> Path:
    path = os.fsencode(run / name / socket)
    plain = re.fullmatch(rb"[A-Za-z0-9_./-]+", path) is not None
    return run / name if plain and len(path) <= LONGEST_SOCKET else short / name
