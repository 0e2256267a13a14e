"""`python -m synthpai_web.embedded COMMAND VAR_DIR`: look after the embedded servers. Starts nothing."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .errors import EmbeddedServerError, ServerName
from .locks import Lock, is_held, lock_path
from .places import Place, place
from .servers import server_at

SERVERS: tuple[ServerName, ...] = ("postgres", "valkey")
ENDING_SECONDS = 5.0
NOT_RUNNING = 3  # as service scripts say it


def main(arguments: Sequence[str]) -> int:
    """Run a command. Exit status of `status`: 0 both are ready, 3 not so; of each: 1 it cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m synthpai_web.embedded", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, words in (
        (_status, "say what runs and where its files are"),
        (_forget, "remove what is kept outside of VAR_DIR, which one may then remove too"),
    ):
        known = commands.add_parser(command.__name__.lstrip("_"), help=words)
        known.add_argument("var_dir", type=Path)
        known.set_defaults(command=command)
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.command(place(chosen.var_dir))
    except (EmbeddedServerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return status


def _status(where: Place) -> int:
    ready = [_print_status(where, name) for name in SERVERS]
    return 0 if all(ready) else NOT_RUNNING


def _forget(where: Place) -> int:
    end = time.monotonic() + ENDING_SECONDS
    while any(is_held(lock_path(where.run_dir, name, "server")) for name in SERVERS):
        if time.monotonic() < end:  # whoever used it has just left, perhaps
            time.sleep(0.2)
            continue
        raise EmbeddedServerError("A server is running there: end what uses it first.")
    for folder in (where.outside, where.short):
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
            shutil.rmtree(folder)
            _say(f"Removed {folder}")
    return 0


def _print_status(where: Place, name: ServerName) -> bool:
    server, files = server_at(where, name), where.of(name)
    guarded = is_held(lock_path(where.run_dir, name, "guardian"))
    alive = is_held(lock_path(where.run_dir, name, "server"))
    ready = guarded and alive and server.is_ready()
    state = "ready" if ready else "starting or ending" if guarded or alive else "not running"
    _say(f"{server.title}: {state}")
    if guarded:
        _say(f"  guardian  process {_pid(where, name, 'guardian')}")
    if alive:
        _say(f"  server    process {_pid(where, name, 'server')}")
    _say(f"  data      {files.data_dir}{'' if files.data_dir.exists() else ' (not made yet)'}")
    _say(f"  socket    {files.socket}")
    _say(f"  log       {files.log_file}")
    return ready


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _pid(where: Place, name: ServerName, purpose: str) -> int | None:
    lock = Lock(lock_path(where.run_dir, name, purpose))
    try:
        return lock.read_pid()
    finally:
        lock.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
