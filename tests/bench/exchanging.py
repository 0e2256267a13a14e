"""`--only exchange`: the published trees, many times over, on their way in, and a release on its way out.

In: rows a second against COPY of the very same rows into the very same tables, indexes and constraints
included. Out: the files of a release against COPY of JSON made by the database.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench import plan
from tests.bench.processes import ROOT, Missed, connect, create, database, drop
from tests.bench.report import Aim

INTO, COPIED = "_bench_import", "_bench_copied"
DATA = Path(os.environ.get("SYNTHPAI_DATA") or "/nonexistent")
TABLES = ("simulation_corpus", "simulation_profile", "simulation_thread", "simulation_comment")
TABLES += ("annotation_suggestion",)
"""What an import of trees writes, in an order in which rows may come."""


def measured(scale: str, say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """Runs the part; `say` prints. Raises Missed where it came to no end."""
    times = plan.TREES[scale]
    if not DATA.is_dir():
        say("NO PUBLISHED DATA: set SYNTHPAI_DATA to measure imports and releases.")
        return [Aim("import against COPY of the same rows", None, plan.OF_COPY, least=True)], {}
    try:
        for suffix in (INTO, COPIED):
            create(suffix)
            child(suffix, "migrate", "--verbosity", "0")
        with TemporaryDirectory() as folder:
            aims, found = _in(Path(folder), times, say)
            more, out = _out(Path(folder), say)
    finally:
        drop(INTO)
        drop(COPIED)
    return aims + more, {"exchange": found | out}


class Child:
    """A command of ours on one of the databases, with the seconds and the memory that it took."""

    def __init__(self, suffix: str, *arguments: str, module: str = "", **environment: str) -> None:
        what = ["-m", module] if module else ["manage.py"]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *what, *arguments],
            env=os.environ
            | {"BENCH_DATABASE": suffix, "DJANGO_SETTINGS_MODULE": "tests.bench.settings"}
            | environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        self.said = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.perf_counter() - begun
        self.memory = usage.ru_maxrss / 1024
        """MiB, at most."""
        if process.returncode:
            raise Missed(f"{' '.join(arguments) or module} ended with status {process.returncode}")


def child(suffix: str, *arguments: str) -> Child:
    return Child(suffix, *arguments)


def trees(times: int) -> Iterator[str]:
    """The published threads, each so often, one a line, under names of their own."""
    for path in sorted((DATA / "threads").glob("*.json.gz")):
        root = json.loads(gzip.decompress(path.read_bytes()))
        for number in range(times):
            yield json.dumps({"thread_id": f"{path.name.removesuffix('.json.gz')}_x{number}", **root}) + "\n"


def _in(folder: Path, times: int, say: Any) -> tuple[list[Aim], dict[str, Any]]:
    rows = folder / "threads.jsonl"
    with rows.open("w") as lines:
        lines.writelines(trees(times))
    profiles = str(DATA / "profiles.json.gz")
    child(INTO, "import_synthpai", profiles, "--corpus", "bench")
    ran = child(INTO, "import_synthpai", str(rows), "--corpus", "bench", "--json")
    said = json.loads(ran.said)
    counts = {kind: int(said["tallies"][kind]["new"]) for kind in ("threads", "comments", "suggestions")}
    total = sum(counts.values())
    copied, seconds = _copied(folder)
    ours, theirs = total / float(said["seconds"]), copied / seconds
    say(
        f"import of {times} times the published trees: {counts['comments']:,} comments,"
        f" {counts['suggestions']:,} suggestions in {said['seconds']:.1f} s: {ours:,.0f} rows a second"
        f" ({counts['comments'] / float(said['seconds']):,.0f} comments); COPY {theirs:,.0f};"
        f" {ran.memory:.0f} MiB"
    )
    aims = [
        Aim("import: rows a second against COPY of the same rows", ours / theirs, plan.OF_COPY, least=True),
        Aim("import: memory of its process", ran.memory, plan.EXCHANGE_MEMORY, "MiB"),
    ]
    numbers = {"counts": counts, "rows_a_second": ours, "copy_a_second": theirs, "memory": ran.memory}
    return aims, {"import": numbers | {"seconds": said["seconds"]}}


def _copied(folder: Path) -> tuple[int, float]:
    """The rows that the import wrote, from files into the same tables of another database."""
    for table in TABLES:
        told = f"COPY {table} TO STDOUT"
        with (
            connect(database(INTO)) as source,
            (folder / table).open("wb") as stored,
            source.cursor() as cursor,
            cursor.copy(told) as copy,
        ):
            for block in copy:
                stored.write(block)
    rows = 0
    with connect(database(COPIED)) as target:
        begun = time.perf_counter()
        with target.transaction(), target.cursor() as cursor:
            for table in TABLES:
                with (folder / table).open("rb") as stored, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    while block := stored.read(1 << 18):
                        copy.write(block)
                rows += cursor.rowcount
        return rows, time.perf_counter() - begun


def _out(folder: Path, say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """The release of what was imported, by the process that makes it."""
    files = {"MEDIA_ROOT": str(folder / "files")}
    ran = Child(INTO, str(folder / "release"), module="tests.bench.exchanging_release", **files)
    sent = Child(INTO, module="tests.bench.exchanging_download", **files)
    said: dict[str, Any] = json.loads(ran.said.splitlines()[-1])
    jsonl, parquet = said["jsonl"] / said["copy"], said["parquet"] / said["jsonl"]
    say(
        f"release: {said['rows']:,} rows; JSON by COPY {said['copy']:.1f} s, our JSONL {said['jsonl']:.1f} s,"
        f" Parquet {said['parquet']:.1f} s, synthpai.jsonl {said['synthpai']:.1f} s, all of it"
        f" {said['all']:.1f} s; {ran.memory:.0f} MiB. Sent as a zip: {int(sent.said) / 2**20:.0f} MiB by a"
        f" process of {sent.memory:.0f} MiB"
    )
    aims = [
        Aim("release: JSONL against JSON by COPY", jsonl, plan.RELEASE_JSONL),
        Aim("release: Parquet against our JSONL", parquet, plan.RELEASE_PARQUET),
        Aim("release: memory of its process", ran.memory, plan.EXCHANGE_MEMORY, "MiB"),
        Aim("release: memory of the process that sends it", sent.memory, plan.EXCHANGE_MEMORY, "MiB"),
    ]
    return aims, {"release": said | {"memory": ran.memory, "sending": sent.memory}}
