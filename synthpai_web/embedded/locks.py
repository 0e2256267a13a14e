"""File locks (flock) which the kernel drops when the last process that holds them is gone, however it ended.

Every server has four lock files in `<var>/run`:

* `<server>.users`: each process that uses the server holds it shared. Its descriptor survives fork, so
  workers of a pre-forking server count, but not exec, so programs it runs do not.
* `<server>.guardian`: held exclusively by the guardian as long as it lives.
* `<server>.server`: held by the guardian and inherited by the server and all its children, so it is free only
  when the last of them is gone. This, not a process id, says whether an earlier server is still ending.
* `<server>.starter`: held while attaching, so that concurrent processes start one guardian between them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from .errors import EmbeddedServerError, ServerName

POLL_SECONDS = 0.05


class Lock:
    """An open lock file. The lock belongs to the descriptor: closing it, in all processes, gives it back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Not readable by others, who could otherwise hold the lock, and never through a link.
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise EmbeddedServerError(
                f"Cannot open {path}: {problem.strerror}. If another user (root) ran the servers here "
                f"before, run as that user, or let another directory hold the servers' files."
            ) from problem

    def try_shared(self) -> bool:
        """Take the lock beside other sharers, without waiting."""
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Take the lock for this descriptor alone, without waiting."""
        return self._try(fcntl.LOCK_EX)

    def close(self) -> None:
        """Give the lock back, unless a forked child inherited the descriptor: then the child keeps it."""
        os.close(self.fd)

    def release(self) -> None:
        """Give the lock back at once, also on behalf of children forked meanwhile by another thread."""
        fcntl.flock(self.fd, fcntl.LOCK_UN)
        os.close(self.fd)

    def write(self, text: str) -> None:
        """Note something for others to read, such as the holder's process id."""
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, text.encode(), 0)

    def read_pid(self) -> int | None:
        """The process id which a holder noted; tells who it was, not that it still lives."""
        text = os.pread(self.fd, 32, 0).decode(errors="replace").strip()
        return int(text) if text.isdecimal() else None

    def is_at_its_path(self) -> bool:
        """False once somebody removed or replaced the file: others then lock something else."""
        try:
            return os.path.samestat(os.fstat(self.fd), self.path.lstat())
        except FileNotFoundError:
            return False

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.fd, kind | fcntl.LOCK_NB)
        except OSError as problem:
            if problem.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise EmbeddedServerError(
                f"Cannot lock {self.path}: {problem.strerror}. Is it on a network disk?"
            ) from problem
        return True


def lock_path(run_dir: Path, server: ServerName, purpose: str) -> Path:
    """The lock file of that purpose; see the module's docstring for the four of them."""
    return run_dir / f"{server}.{purpose}"


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Ask again and again until the condition holds; False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock exclusively. Asks with a shared lock, so that askers do not meet."""
    if not path.exists():
        return False
    lock = Lock(path)
    try:
        return not lock.try_shared()
    finally:
        lock.close()
