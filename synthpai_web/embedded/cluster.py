"""The PostgreSQL cluster on disk: made whole or not at all, and what stands in the way of using one."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from . import accounts, binaries, folders, launch
from .accounts import Account
from .errors import OWN_SERVER, EmbeddedServerError
from .places import SUPERUSER, Place, recorded_cluster

INITDB_SECONDS = 300.0


def exists(data: Path) -> bool:
    """Whether there is a cluster. False also if its folder is closed to this user."""
    return os.path.lexists(data / "PG_VERSION")


def make(place: Place, programs: Path, account: Account, *, keep_fd: int, options: Sequence[str]) -> None:
    """Make the cluster. It appears by rename: what a killed initdb leaves, the next start removes."""
    data = place.postgres.data_dir
    _refuse_occupied(data)
    folders.remove_leftovers(data.parent, "postgres.new-")
    new = data.with_name(f"postgres.new-{uuid.uuid4().hex}")
    folders.make_private(new, account)
    # The server's own C.UTF-8: same order and letters everywhere, whatever locales the machine has.
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    rights = [f"--username={SUPERUSER}", "--auth=trust", "--no-instructions"]
    initdb = launch.Program([programs / "initdb", "-D", new, *locale, *rights, *options], account)
    launch.run_tool(initdb, keep_fd=keep_fd, seconds=INITDB_SECONDS)
    if place.is_outside:
        place.record.write_text(f"{data}\n")
    folders.rename_durably(new, data)


def refuse_closed(needed: tuple[Path, ...], account: Account) -> None:
    """The folders of an earlier cluster may have been closed to its account since."""
    for folder in needed:
        if (closed := accounts.first_closed_folder(folder, account)) is not None:
            raise EmbeddedServerError(
                f"The account {account.name}, which runs PostgreSQL for root, may not enter {closed}, and "
                f"its files are in {folder}. Let it through (chmod o+x '{closed}'), "
                f"or {OWN_SERVER['postgres']}."
            )


def refuse_other_version(data: Path) -> None:
    """A cluster can be used by one major version only."""
    version = (data / "PG_VERSION").read_text().strip()
    if version != binaries.POSTGRES_MAJOR:
        raise EmbeddedServerError(
            f"{data} was made by PostgreSQL {version}, the installed one is {binaries.POSTGRES_MAJOR}. "
            f"Dump it with pg_dump of {version} and restore it here, or move the folder away to begin anew."
        )


def _refuse_occupied(data: Path) -> None:
    """A folder without a cluster at the cluster's place: only an empty one may be replaced."""
    try:
        occupied = os.path.lexists(data) and any(data.iterdir())
    except OSError as problem:
        raise EmbeddedServerError(
            f"Cannot look into {data}: {problem.strerror}. Run as its owner."
        ) from problem
    if occupied:
        raise EmbeddedServerError(f"{data} is not empty and holds no PostgreSQL cluster. Move it away.")


def refuse_moved_checkout(place: Place) -> None:
    """Do not silently begin with an empty database when the old one is under the hash of an earlier path."""
    recorded = recorded_cluster(place.run_dir)
    here = place.postgres.data_dir
    if recorded is not None and recorded != here and recorded.is_dir() and not here.is_dir():
        raise EmbeddedServerError(
            f"{place.var_dir} was moved or copied; the database it had is in {recorded}. If it was "
            f"moved, take it along: mv '{recorded}' '{here}'. If it was copied, "
            f"begin anew: rm '{place.record}'"
        )


def disown_pid_file(data: Path) -> None:
    """Make a left-over postmaster.pid harmless when its process id belongs to some other process by now.

    PostgreSQL would take that process for a live server. The file is not removed, since PostgreSQL reads in
    it which shared memory to look at for survivors; it gets this process's id, which PostgreSQL, being the
    child, knows not to be a server.
    """
    file = data / "postmaster.pid"
    if not sys.platform.startswith("linux") or not os.path.lexists(file):
        return
    with open(os.open(file, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8") as opened:
        pid, *others = opened.read().splitlines() or [""]
        if pid.isdecimal() and _works_in(int(pid), data):
            raise EmbeddedServerError(
                f"A PostgreSQL started by hand (process {pid}) uses {data}. Stop it: kill -INT {pid}"
            )
        opened.seek(0)
        opened.truncate()
        opened.writelines(f"{line}\n" for line in [str(os.getpid()), *others])


def _works_in(pid: int, data: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == data.resolve()
    except OSError:  # no such process, or another user's, which cannot have started a server here
        return False
