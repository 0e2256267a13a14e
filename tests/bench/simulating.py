"""`--only simulate`: its own process on its own database; here, what it found becomes rows and aims."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.bench import plan
from tests.bench.processes import ROOT, Missed, connect, database, drop
from tests.bench.report import Aim

SUFFIX = "_bench_runs"


def measured(scale: str, say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """Runs the part; `say` prints. Raises Missed where it came to no end."""
    drop(SUFFIX)
    with connect("postgres") as server:
        server.execute(f'CREATE DATABASE "{database(SUFFIX)}" TEMPLATE template0')
    command = [sys.executable, "-m", "tests.bench.simulating_runs", scale]
    command += [parts] if (parts := os.environ.get("BENCH_SIMULATE", "")) else []
    aims: list[Aim] = []
    found: dict[str, Any] = {}
    try:
        with subprocess.Popen(
            command,
            env=os.environ | {"BENCH_DATABASE": SUFFIX},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            for line in process.stdout:
                if not line.startswith("{"):
                    continue
                said = json.loads(line)
                name, numbers = said["name"], said["numbers"]
                text, more = READERS[name](numbers)
                say(text)
                aims += more
                found[f"simulate: {name} {numbers.get('asks', '')}".rstrip()] = numbers
        if process.returncode:
            raise Missed("the part “simulate” came to no end")
    finally:
        drop(SUFFIX)
    return aims, found


def _chain(got: dict[str, Any]) -> tuple[str, list[Aim]]:
    text = (
        f"16 threads, 1 s a call: {got['calls']} calls in {got['wall']:.1f} s,"
        f" the longest chain {got['critical']:.0f} s; posts were there after"
        f" {got['over_after']['topic']:.1f} s, interest was known after {got['over_after']['interest']:.1f} s"
    )
    return text, [
        Aim("critical path / wall", got["share"], plan.CHAIN_SHARE, least=True),
        Aim("the same calls one after another / wall", got["speedup"], plan.SPEEDUP, least=True),
    ]


def _second(got: dict[str, Any]) -> tuple[str, list[Aim]]:
    one, two = got["rates"]
    text = (
        f"2 s a call, 32 in flight a process: {one:.1f} calls a second, {two:.1f} with a second worker;"
        f" CPU a call {got['cpu'][0]:.1f} and {got['cpu'][1]:.1f} ms, of the database"
        f" {got['database'][0]:.1f} and {got['database'][1]:.1f} ms"
    )
    return text, [
        Aim("calls a second, two workers / one", got["ratio"], plan.SECOND, least=True),
        Aim("CPU of a worker a call, 32 in flight", got["cpu"][0], plan.CALL_CPU, "ms"),
    ]


def _memory(got: dict[str, Any]) -> tuple[str, list[Aim]]:
    text = (
        f"{got['calls']} calls without waiting, one worker: {got['rate']:.0f} a second; CPU a call"
        f" {got['cpu']:.1f} ms, of the database {got['database']:.1f} ms; MiB {got['samples']}"
    )
    return text, [
        Aim("CPU of a worker a call, without waiting", got["cpu"], plan.CALL_CPU, "ms"),
        Aim("growth of a worker's memory in the second half", got["growth"], plan.GROWTH, "%"),
    ]


def _lanes(got: dict[str, Any]) -> tuple[str, list[Aim]]:
    text = (
        f"8 at a time allowed, {got['asks']}: {got['wall']:.1f} s, ideal {got['ideal']:.1f} s,"
        f" {got['refused']} answered 429"
    )
    return text, [Aim(f"time / ideal behind a limit, {got['asks']}", got["ratio"], plan.LANES)]


def _polls(got: dict[str, Any]) -> tuple[str, list[Aim]]:
    each = 100 * (0.9 * got["same"] + 0.1 * got["new"]) / 1000
    text = (
        f"a run's page asks: {got['same']:.1f} ms of CPU where nothing is new, {got['new']:.1f} ms where"
        f" something is; 200 viewers, one poll in ten with news: {each:.2f} processors"
    )
    return text, []


READERS = {"chain": _chain, "second": _second, "memory": _memory, "lanes": _lanes, "polls": _polls}
