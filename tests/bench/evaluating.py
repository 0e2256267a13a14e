"""`--only evaluate`: files of twelve models come in and are scored; a leaderboard over ever more guesses."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management import call_command

from tests.bench import plan
from tests.bench.measuring import quantile
from tests.bench.processes import ROOT, Client, Missed, create, drop, filled, served
from tests.bench.report import Aim

SUFFIX = "_bench_results"
DATA = Path(os.environ.get("SYNTHPAI_DATA") or "/nonexistent")
READS = 40


def measured(scale: str, say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """Runs the part; `say` prints. Raises Missed where it came to no end."""
    call_command("collectstatic", verbosity=0, interactive=False)
    try:
        create(SUFFIX)
        seeded = filled(SUFFIX, "tests.bench.evaluating_seed", str(plan.BOARD_PROFILES[scale]))
        aims, found = _board(seeded | {"suffix": SUFFIX}, say)
        more, of_import = _imported(say)
    finally:
        drop(SUFFIX)
    return aims + more, found | of_import


def _board(seeded: dict[str, Any], say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """The page over few and over many guesses, read in turns."""
    with ExitStack() as stack:
        site = stack.enter_context(served(seeded))
        client = stack.enter_context(Client())
        client.sign_in(site, [plan.READER])
        pages = [(site.port, f"/corpora/{one}/leaderboard/") for one in seeded["corpora"]]
        said = client.ask("read", name=plan.READER, pages=pages, times=READS)
    small, large = ({"p50": statistics.median(ms), "p95": quantile(ms, 0.95)} for ms in said["ms"])
    ratio = large["p50"] / small["p50"]
    few, many = seeded["verdicts"]
    say(
        f"leaderboard, 20 models: {few:,} verdicts {small['p50']:.0f} ms, {many:,} verdicts"
        f" {large['p50']:.0f} ms (p50), {max(seeded['queries'])} queries; counted by a worker in"
        f" {seeded['counting'][0]:.1f} and {seeded['counting'][1]:.1f} s"
    )
    aims = [
        Aim("leaderboard: p50, ten times the predictions against one time", ratio, plan.BOARD),
        Aim("leaderboard of 20 models", max(seeded["queries"]), plan.BOARD_QUERIES, "queries"),
    ]
    return aims, {"evaluate: board": seeded | {"small": small, "large": large, "ratio": ratio}}


def _imported(say: Any) -> tuple[list[Aim], dict[str, Any]]:
    """The published files of all models, in one pass of one process."""
    if not DATA.is_dir():
        say("NO PUBLISHED DATA: set SYNTHPAI_DATA to measure the import of results.")
        return [Aim("import and scoring of all models: memory", None, plan.IMPORT_MEMORY, "MiB")], {}
    command = [
        sys.executable,
        "manage.py",
        "import_results",
        str(DATA),
        "--corpus",
        "bench import",
        "--create",
    ]
    command += ["--skip-unreadable", "--score", "default", "--json"]
    started = time.perf_counter()
    ran = subprocess.run(
        command,
        env=os.environ | {"BENCH_DATABASE": SUFFIX},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    took = time.perf_counter() - started
    if ran.returncode:
        raise Missed("import_results came to no end")
    said: dict[str, Any] = json.loads(ran.stdout)
    # Of all children that have ended, the largest: none before was larger than a few hundred MiB.
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rows = int(said["rows"])
    rate = f"{rows / took:,.0f} a second"
    say(f"import and scoring of all models: {rows:,} rows in {took:.1f} s, {rate}; {most:.0f} MiB")
    aim = Aim("import and scoring of all models: memory", most, plan.IMPORT_MEMORY, "MiB")
    return [aim], {"evaluate: import": {"rows": rows, "seconds": took, "memory": most}}
