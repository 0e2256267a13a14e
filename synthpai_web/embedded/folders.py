"""Making the folders of the embedded servers without ever touching one that existed before."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from pathlib import Path

from .accounts import Account
from .errors import EmbeddedServerError


def make_passable(folder: Path) -> None:
    """Make the folder and its missing parents. Those made by root let others through, whatever the umask.

    `places.place` counts on it: a missing folder is no obstacle for PostgreSQL's account.
    """
    for step in [*reversed(folder.parents), folder]:
        if _make(step, 0o755) and os.geteuid() == 0:
            step.chmod(0o755)


def make_private(folder: Path, account: Account) -> None:
    """Make the folder, for the account alone; its parent must exist.

    One that is there already is taken as it is if it is a real folder (no link) of that account, and refused
    if not: then somebody else would see, or hold, the server's socket.
    """
    if _make(folder, 0o700) and account.is_other:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    _refuse_foreign(folder, account.uid)


def make_own_in_shared(folder: Path) -> None:
    """Make a folder of this user in /tmp or /var/tmp, where others may have put something of that name
    before.

    Root's can be passed through by others, so that PostgreSQL's account reaches its private folder inside.
    """
    mode = 0o711 if os.geteuid() == 0 else 0o700
    if _make(folder, mode):
        folder.chmod(mode)
    _refuse_foreign(folder, os.geteuid())
    keep_from_ageing(folder)


def remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove what a killed start left half done. Only the one guardian calls it: nobody is at work there."""
    for leftover in parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def keep_from_ageing(folder: Path) -> None:
    """While this process lives, let systemd-tmpfiles remove no old files below a folder in /tmp or /var/tmp.

    It passes over folders that are locked. The descriptor is left open on purpose.
    """
    fcntl.flock(os.open(folder, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH)


def rename_durably(source: Path, goal: Path) -> None:
    """Rename so that a power cut afterwards does not undo it."""
    source.rename(goal)
    parent = os.open(goal.parent, os.O_RDONLY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def _make(folder: Path, mode: int) -> bool:
    """Whether the folder is new. Links and folders that are there stay as they are."""
    try:
        folder.mkdir(mode)
    except FileExistsError:
        return False
    except IsADirectoryError:  # macOS says so of "/"
        return False
    except OSError as problem:
        raise EmbeddedServerError(
            f"Cannot make the folder {folder}: {problem.strerror}. Was the directory used by another user "
            f"(root) before? Then run as that user, or let another directory hold the servers' files."
        ) from problem
    return True


def _refuse_foreign(folder: Path, uid: int) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise EmbeddedServerError(f"{folder} is not a folder but a link or file; remove it.")
    if status.st_uid != uid or status.st_mode & 0o022:
        raise EmbeddedServerError(
            f"{folder} belongs to user {status.st_uid}, mode {stat.S_IMODE(status.st_mode):o}; it must "
            f"belong to user {uid} and be writable by nobody else. If it is yours, run as its owner; "
            f"if not, have it removed."
        )
