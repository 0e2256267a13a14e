"""Runs the site's processes as children: all start together, all end together."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

GRACE_SECONDS = 12.0
WATCH_SECONDS = 3.0
PR_SET_PDEATHSIG = 1


class ChildEnded(Exception):
    """A process that should stay up ended by itself; its log says why."""


class Stopped(BaseException):  # no error: who catches every Exception must let it through
    """SIGINT, SIGTERM or SIGHUP: the person wants an end."""


@dataclass(frozen=True)
class Process:
    name: str
    command: Sequence[str]


@dataclass
class Supervisor:
    """Use as a context manager: leaving it ends every child, whatever the reason."""

    logs: Path
    env: Mapping[str, str] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __enter__(self) -> "Supervisor":
        self.logs.mkdir(parents=True, exist_ok=True)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _raise_stopped)
        return self

    def start(self, process: Process) -> None:
        """Starts a child in a session of its own; its output goes to `logs/<name>.log`."""
        with (self.logs / f"{process.name}.log").open("ab") as log:
            self.running[process.name] = subprocess.Popen(
                list(process.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.env},
                start_new_session=True,
                preexec_fn=_end_with_parent(),
            )

    def check(self) -> None:
        """Raises ChildEnded when one of the children is gone."""
        for name, child in self.running.items():
            status = child.poll()
            if status is not None:
                raise ChildEnded(f"{name} ended with status {status}; see {self.logs / name}.log")

    def wait_until(self, ready: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Waits for `ready`, watching the children meanwhile."""
        end = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > end:
                raise ChildEnded(f"{what} was not ready within {seconds:.0f} s; see {self.logs}")
            time.sleep(0.1)

    def stay(self, watch: Callable[[], None]) -> None:
        """Until a signal or the end of a child; meanwhile calls `watch` every few seconds."""
        due = time.monotonic() + WATCH_SECONDS
        while True:
            self.check()
            if time.monotonic() >= due:
                watch()
                due = time.monotonic() + WATCH_SECONDS
            time.sleep(0.5)

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for child in self.running.values():
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        end = time.monotonic() + GRACE_SECONDS
        for child in self.running.values():
            try:
                child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _raise_stopped(number: int, frame: FrameType | None) -> None:
    raise Stopped


def _end_with_parent() -> Callable[[], None] | None:
    """A killed supervisor takes its children along (Linux)."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)

    return tie
