"""How a process comes to use an embedded server: take the lock that says so, then see that a guardian is
there.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from . import folders
from .errors import EmbeddedServerError, ServerName, with_log_tail
from .locks import POLL_SECONDS, Lock, is_held, lock_path, wait_until
from .places import Place, place
from .servers import Server, server_at

ATTACH_SECONDS = 600.0  # more than a guardian may take to make a cluster and start it
MOST_STARTS = 3
LARGEST_LOG = 5_000_000
PROJECT = Path(__file__).resolve().parents[2]

_mutex = threading.Lock()
_held: dict[tuple[Path, ServerName], Lock] = {}


def attach(var_dir: Path, server: ServerName) -> None:
    """See to it that the server is up, and stays up as long as this process or a forked child lives.

    When it returns the server answers and, for PostgreSQL, the database exists. A second call returns at once
    unless the server was lost meanwhile: then it is started again. EmbeddedServerError says why it cannot be
    had.
    """
    where = place(var_dir)
    known = server_at(where, server)
    key = (where.var_dir, server)
    with _mutex:
        earlier = _held.get(key)
        if (
            earlier is not None
            and earlier.is_at_its_path()
            and _is_guarded(where, server)
            and known.is_ready()
        ):
            return
        _held[key] = _attach(where, known)
        if earlier is not None:  # only now, so that the process counts as a user throughout
            earlier.close()


def answers(var_dir: Path, server: ServerName) -> bool:
    """Whether the server is up and guarded now. Starts nothing. EmbeddedServerError if waiting is in vain."""
    where = place(var_dir)
    return _is_guarded(where, server) and server_at(where, server).is_ready()


def _attach(where: Place, server: Server) -> Lock:
    """The lock that marks this process as a user. Without success no lock is kept."""
    folders.make_passable(where.run_dir)
    folders.make_passable(where.of(server.name).log_file.parent)
    with ExitStack() as starting, ExitStack() as on_failure:
        starter = Lock(lock_path(where.run_dir, server.name, "starter"))
        starting.callback(starter.release)
        if not wait_until(starter.try_exclusive, ATTACH_SECONDS):
            raise EmbeddedServerError(
                f"Another process has been starting {server.title} for too long; end it."
            )
        users = Lock(lock_path(where.run_dir, server.name, "users"))
        on_failure.callback(users.release)
        if not wait_until(users.try_shared, ATTACH_SECONDS):  # held while a server shuts down
            raise EmbeddedServerError(
                f"{server.title} has been shutting down for too long; end its guardian."
            )
        _ensure_server(where, server)
        on_failure.pop_all()
    return users


def _ensure_server(where: Place, server: Server) -> None:
    """Return when the server is ready, starting a guardian if none lives.

    A living guardian may still be starting, its starter killed, or be ending after a signal: its server is
    asked until it answers or the guardian is gone. It cannot end for want of users, since this process is
    one.
    """
    deadline = time.monotonic() + ATTACH_SECONDS
    starts = 0
    while time.monotonic() < deadline and starts <= MOST_STARTS:
        if not _is_guarded(where, server.name):
            starts += 1
            _start_guardian(where, server)
        elif server.is_ready():
            return
        else:
            time.sleep(POLL_SECONDS)
    raise EmbeddedServerError(
        with_log_tail(f"{server.title} or its guardian does not stay up.", where.of(server.name).log_file)
    )


def _is_guarded(where: Place, name: ServerName) -> bool:
    return is_held(lock_path(where.run_dir, name, "guardian"))


def _start_guardian(where: Place, server: Server) -> None:
    """Start a guardian and wait for its report that the server is ready, or why not.

    One that was killed before it could report is for the caller to notice, and to replace.
    """
    log_file = where.of(server.name).log_file
    reading, writing = os.pipe()
    with open(reading, "rb") as report:
        with open(writing, "wb") as pipe, ExitStack() as opened:
            log = _open_log(log_file)
            opened.callback(os.close, log)
            command = [sys.executable, "-m", f"{__package__}.guardian", str(where.var_dir), server.name]
            subprocess.run(
                [*command, "--report", str(pipe.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=os.environ | {"PYTHONPATH": _python_path()},
                pass_fds=[pipe.fileno()],
                start_new_session=True,
                check=False,  # its report tells
            )
        if not select.select([report], [], [], ATTACH_SECONDS)[0]:
            raise EmbeddedServerError(f"The guardian of {server.title} does not report. See {log_file}.")
        text = report.read()
    if not text:
        return
    error = json.loads(text)["error"]
    if error is not None:
        raise EmbeddedServerError(error)


def _open_log(log_file: Path) -> int:
    """The log to append to; no server runs, so a long one can be put aside."""
    try:
        if log_file.exists() and log_file.stat().st_size > LARGEST_LOG:
            log_file.replace(log_file.with_suffix(".log.1"))
        return os.open(log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        raise EmbeddedServerError(
            f"Cannot write {log_file}: {problem.strerror}. Run as its owner."
        ) from problem


def _python_path() -> str:
    """So that the guardian, which works in "/", finds this package and the same wheels as this process."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([str(PROJECT), *(os.path.abspath(path) for path in given if path)])
