"""The site's own gunicorn on the bench's databases, the client beside it, and what they cost in CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from synthpai_web import processes
from synthpai_web.supervisor import Process, Supervisor
from tests.bench.plan import PASSWORD

TICK = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).resolve().parents[2]


class Missed(Exception):
    """Something did not work, so that nothing can be said about its speed."""


# --- Databases -----------------------------------------------------------------------------------------


def connect(name: str) -> psycopg.Connection[Any]:
    """A connection to a database of the server that the settings name."""
    at = settings.DATABASES["default"]
    return psycopg.connect(
        host=at["HOST"] or None,
        port=at["PORT"] or None,
        user=at["USER"] or None,
        password=at["PASSWORD"] or None,
        dbname=name,
        autocommit=True,
    )


def database(suffix: str) -> str:
    base = str(settings.DATABASES["default"]["NAME"]).removesuffix("_bench")
    return base + suffix


def drop(suffix: str) -> None:
    with connect("postgres") as server:
        server.execute(f'DROP DATABASE IF EXISTS "{database(suffix)}" WITH (FORCE)')


def seed(suffix: str, comments: int, *, keep: bool) -> dict[str, Any]:
    """A database with so many comments in it; one of an earlier run if it may be kept."""
    notes = settings.VAR_DIR / f"seeded{suffix}.json"
    if keep and notes.exists() and (known := json.loads(notes.read_text()))["comments"] == comments:
        with connect("postgres") as server:
            if server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database(suffix)]).fetchone():
                return dict(known)
    create(suffix)
    said = filled(suffix, "tests.bench.seeding", str(comments)) | {"comments": comments, "suffix": suffix}
    notes.write_text(json.dumps(said))
    return said


def create(suffix: str) -> None:
    """An empty database in place of whatever there was."""
    drop(suffix)
    with connect("postgres") as server:
        server.execute(f'CREATE DATABASE "{database(suffix)}" TEMPLATE template0')


def filled(suffix: str, module: str, *arguments: str) -> dict[str, Any]:
    """What a module says that fills a database: its last line, JSON."""
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | {"BENCH_DATABASE": suffix},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Missed(f"the database{suffix} could not be filled")
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return said


# --- CPU -----------------------------------------------------------------------------------------------


def family(parent: int) -> list[int]:
    """A process and those that it started."""
    found = [parent]
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and _stat(int(folder.name))[1:2] == [str(parent)]:
            found.append(int(folder.name))
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name: state, parent, ... Empty for one that is gone."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def cpu(parent: int) -> float:
    """Seconds of CPU of a process, its children, and those of its children that have ended."""
    total = 0
    for pid in family(parent):
        stat = _stat(pid)
        if stat:
            total += int(stat[11]) + int(stat[12])
            if pid == parent:
                total += int(stat[13]) + int(stat[14])
    return total / TICK


def postmaster() -> int | None:
    """The database server's first process, if it runs on this machine."""
    with connect("postgres") as server:
        (backend,) = server.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        stat = _stat(backend)
        try:
            name = (Path("/proc") / str(backend) / "comm").read_text().strip()
        except OSError:
            name = ""
        return int(stat[1]) if stat and name == "postgres" else None


# --- The site and the client --------------------------------------------------------------------------


@dataclass
class Site:
    """One gunicorn, exactly as the site is served, over one seeded database."""

    seeded: dict[str, Any]
    port: int
    pid: int
    worked: Counter[str] = field(default_factory=Counter)
    """Pairs that the client was told were done, by queue or kind."""

    @property
    def queue(self) -> str:
        return f"/review/{self.seeded['queue']}/"

    @property
    def overlap(self) -> str:
        return f"/review/{self.seeded['overlap']}/"

    def stored(self) -> int:
        """Answers in the queue with one person a comment."""
        with connect(database(self.seeded["suffix"])) as server:
            found = server.execute(
                "SELECT count(*) FROM annotation_annotation a JOIN annotation_item i ON i.id = a.item_id"
                " JOIN annotation_queue q ON q.id = i.queue_id WHERE q.public_id = %s",
                [self.seeded["queue"]],
            ).fetchone()
        return int(found[0]) if found else 0

    @property
    def corpus(self) -> str:
        return f"/corpora/{self.seeded['corpus']}/"


@contextmanager
def served(seeded: dict[str, Any]) -> Iterator[Site]:
    with Supervisor(settings.VAR_DIR / "log", env={"BENCH_DATABASE": seeded["suffix"]}) as supervisor:
        port = processes.free_port(8100)
        web = processes.site(port)[0]
        supervisor.start(Process(f"web{seeded['suffix']}", web.command))
        supervisor.wait_until(lambda: processes.answers(port), seconds=60, what="The site")
        yield Site(seeded, port, supervisor.running[f"web{seeded['suffix']}"].pid)


class Client:
    """The process with the labelers in it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.client"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def ask(self, do: str, **command: Any) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps({"do": do, **command}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise Missed("the client is gone")
        said: dict[str, Any] = json.loads(line)
        if "problem" in said:
            raise Missed(said["problem"])
        return said

    def sign_in(self, site: Site, names: Sequence[str]) -> None:
        self.ask("sign in", host=processes.HOST, port=site.port, names=list(names), password=PASSWORD)
