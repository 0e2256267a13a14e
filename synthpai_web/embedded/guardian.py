"""One process per server, the guardian, starts it, watches who uses it, and ends it after the last user.

Started by `attaching`, in a session of its own, so that neither Ctrl-C nor the end of the process that
happened to come first takes the server from the others. While somebody holds the users lock it goes on. The
moment it gets that lock itself nobody uses the server, and nobody can begin to: newcomers wait for the lock
until the server is down and the guardian gone, and then start a new one. So there are never two servers, and
none is left behind.

When the guardian is killed, the kernel ends the server (see `launch`); the next one waits for that.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from . import launch
from .errors import OWN_SERVER, EmbeddedServerError, ServerName, with_log_tail
from .locks import Lock, lock_path, wait_until
from .places import place
from .servers import Server, server_at

WATCH_SECONDS = 0.25
READY_SECONDS = 150.0  # a crashed cluster with much to recover takes its time
PREDECESSOR_SECONDS = 60.0


class Guardian:
    """Guards one server; `guard` is its life."""

    def __init__(self, server: Server, run_dir: Path) -> None:
        self._server = server
        self._own = Lock(lock_path(run_dir, server.name, "guardian"))
        self._users = Lock(lock_path(run_dir, server.name, "users"))
        self._survivors = Lock(lock_path(run_dir, server.name, "server"))
        self._told_to_stop = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note_signal)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, alone, and wait until it is ready."""
        if not wait_until(self._own.try_exclusive, 5.0):  # askers hold it for moments
            raise EmbeddedServerError(f"Another guardian of {self._server.title} is at work here.")
        self._own.write(str(os.getpid()))
        self._outwait_predecessor()
        program = self._server.prepare(self._survivors.fd)
        child = launch.spawn(program, keep_fd=self._survivors.fd, parting=self._server.parting)
        self._survivors.write(str(child.pid))
        try:
            self._wait_until_ready(child)
        except EmbeddedServerError:
            launch.stop(child, self._server.stop_steps)
            raise
        _log(f"{self._server.title} is ready, process {child.pid}")
        return child

    def guard(self, child: subprocess.Popen[bytes]) -> None:
        """Watch until there is a reason to end; return when the server is down.

        The users lock, if that is the reason, is held until this process ends.
        """
        while (reason := self._reason_to_end()) is None:
            time.sleep(WATCH_SECONDS)
            if child.poll() is not None:
                _log(f"{self._server.title} ended by itself, status {child.returncode}")
                return
        _log(f"ending {self._server.title}: {reason}")
        launch.stop(child, self._server.stop_steps)
        _log(f"{self._server.title} is down")

    def _reason_to_end(self) -> str | None:
        if self._told_to_stop:
            return "told to by a signal"
        if not self._own.is_at_its_path():
            return "its directory was removed"
        if self._users.try_exclusive():
            return "nobody uses it"
        return None

    def _outwait_predecessor(self) -> None:
        """Wait until the last process of an earlier server, whose guardian was killed, is gone."""
        if self._survivors.try_exclusive():
            return
        pid = self._survivors.read_pid()
        _log(f"waiting for an earlier {self._server.title}, process {pid}, to end")
        if pid is not None:
            with suppress(
                ProcessLookupError, PermissionError
            ):  # only its children are left, and end by themselves
                os.kill(pid, self._server.parting)
        if not wait_until(self._survivors.try_exclusive, PREDECESSOR_SECONDS):
            raise EmbeddedServerError(
                f"An earlier {self._server.title} (process {pid}) does not end. Kill it: kill -9 {pid}"
            )

    def _wait_until_ready(self, child: subprocess.Popen[bytes]) -> None:
        def settled() -> bool:
            return self._told_to_stop or child.poll() is not None or self._server.is_ready()

        if not wait_until(settled, READY_SECONDS):
            raise EmbeddedServerError(
                f"{self._server.title} did not get ready within {READY_SECONDS:.0f} seconds."
            )
        if child.poll() is not None:
            raise EmbeddedServerError(
                f"{self._server.title} does not start: exit status {child.returncode}. "
                f"Mend what the log names, or {OWN_SERVER[self._server.name]}."
            )
        if self._told_to_stop:
            raise EmbeddedServerError(f"{self._server.title} was stopped while it started.")

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._told_to_stop = True


def main(arguments: Sequence[str]) -> int:
    """Guard the server of the var directory. `--report FD` says whom to tell that it is ready, or why not."""
    parser = argparse.ArgumentParser(prog="python -m synthpai_web.embedded.guardian", description=__doc__)
    parser.add_argument("var_dir", type=Path)
    parser.add_argument("server", choices=["postgres", "valkey"])
    parser.add_argument("--report", type=int, metavar="FD")
    options = parser.parse_args(arguments)
    if options.report is not None:
        _leave_parent()
    os.chdir("/")
    return _live(options.var_dir, options.server, options.report)


def _live(var_dir: Path, name: ServerName, report: int | None) -> int:
    where = place(var_dir)
    log = where.of(name).log_file
    start_of_log = log.stat().st_size if log.exists() else 0
    try:
        guardian = Guardian(server_at(where, name), where.run_dir)
        child = guardian.start()
    except EmbeddedServerError as error:
        _report(report, with_log_tail(str(error), log, start=start_of_log))
        _log(str(error))
        return 1
    _report(report, None)
    guardian.guard(child)
    return 0


def _leave_parent() -> None:
    """Become a child of init: the application gets no surprising children to wait for, and no zombies."""
    if os.fork() != 0:
        os._exit(0)


def _report(descriptor: int | None, error: str | None) -> None:
    if descriptor is None:
        return
    with suppress(BrokenPipeError), open(descriptor, "w", encoding="utf-8") as pipe:
        json.dump({"error": error}, pipe)


def _log(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} guardian [{os.getpid()}] {message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
