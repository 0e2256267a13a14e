"""Starting programs as children that do not outlive the guardian, and ending them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .accounts import Account
from .errors import EmbeddedServerError

PR_SET_PDEATHSIG = 1  # linux/prctl.h
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}  # nothing of the application's reaches the servers


@dataclass(frozen=True)
class Program:
    """What to run, and as whom."""

    command: Sequence[str | Path]
    account: Account


def spawn(program: Program, *, keep_fd: int, parting: signal.Signals) -> subprocess.Popen[bytes]:
    """Start a child under the account, with the lock `keep_fd`; its output goes where this process's errors
    go.

    `parting` is the signal which the child gets when this process is killed (Linux only). The child works in
    "/", a folder which every account can enter.
    """
    account = program.account
    try:
        return subprocess.Popen(
            [os.fspath(part) for part in program.command],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
            stderr=sys.stderr.fileno(),
            cwd="/",
            env=ENVIRONMENT,
            umask=0o077,
            pass_fds=[keep_fd],
            user=account.uid if account.is_other else None,
            group=account.gid if account.is_other else None,
            extra_groups=[] if account.is_other else None,
            preexec_fn=_tie_to_parent(parting),
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise EmbeddedServerError(
            f"Cannot run {program.command[0]} as user {account.name}: {problem}"
        ) from problem


def run_tool(program: Program, *, keep_fd: int, seconds: float) -> None:
    """Run a child to its end; its failure, told by the log, is an EmbeddedServerError."""
    child = spawn(program, keep_fd=keep_fd, parting=signal.SIGKILL)
    try:
        status = child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        raise EmbeddedServerError(f"{program.command[0]} did not end within {seconds:.0f} seconds.") from None
    if status != 0:
        raise EmbeddedServerError(f"{program.command[0]} failed with exit status {status}.")


def stop(child: subprocess.Popen[bytes], steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """End the child: send each signal in turn and give it the seconds to obey; at last, kill it."""
    for number, seconds in steps:
        child.send_signal(number)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    child.kill()
    child.wait()


def _tie_to_parent(parting: signal.Signals) -> Callable[[], None] | None:
    """What the child does before it becomes the program; after the change of credentials, which would undo
    it.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    parent = os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(parting), 0, 0, 0)
        if os.getppid() != parent:  # it died before the request was made
            os._exit(1)

    return tie
