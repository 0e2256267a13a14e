"""The processes of the part `simulate`: the endpoint and the workers, and what they cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from simulation.llm.lanes import lane_of
from simulation.models import Provider, Run
from simulation.selectors import workers
from simulation.services import sweeping
from tests.bench.processes import ROOT, Missed, cpu

SWEEP_SECONDS = 5.0
"""As beat has it."""


@dataclass
class Endpoint:
    """The scripted model over HTTP, in a process of its own."""

    process: subprocess.Popen[str]
    address: str

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address.removesuffix('/v1')}/stats", timeout=30) as answer:
            said: dict[str, Any] = json.load(answer)
            return said

    def answered(self) -> int:
        return int(self.stats()["replies"].get("ok", 0))


@contextmanager
def endpoint(latency: float, *options: str) -> Iterator[Endpoint]:
    """Answers after `latency` seconds, all after the same."""
    command = [sys.executable, "manage.py", "serve_scripted_model", "--port", "0", "--spread", "0"]
    process = subprocess.Popen(
        [*command, "--latency", str(latency), *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        for line in process.stdout:
            if line.startswith("Listening on "):
                yield Endpoint(process, line.split()[-1])
                return
        raise Missed("the endpoint did not start")
    finally:
        process.terminate()
        process.wait()


@dataclass
class Crew:
    """Worker processes for one endpoint."""

    at: Endpoint
    lane: int
    """Places of the lane, from the start: what the provider allows is known."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add(self, threads: int) -> int:
        """One process more; its pid, once it takes work."""
        name = f"bench-{os.getpid()}-{time.monotonic_ns()}"
        command = [sys.executable, "-m", "celery", "-A", "synthpai_web", "worker", "--pool", "threads"]
        command += ["--concurrency", str(threads), "-Q", "llm", "--loglevel", "WARNING"]
        places = str(self.lane)
        environment = os.environ | {
            "LLM_PRIVATE_ADDRESSES": urlsplit(self.at.address).netloc,
            "LANE_START": places,
            "LANE_MOST": places,
        }
        self.processes.append(
            subprocess.Popen(
                [*command, "--hostname", f"{name}@%h"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        until(lambda: any(name in one for one in workers.alive()), seconds=90, what="a worker")
        return self.processes[-1].pid

    def cpu(self) -> float:
        return sum(cpu(process.pid) for process in self.processes)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def crew(at: Endpoint, *, lane: int) -> Iterator[Crew]:
    made = Crew(at, lane)
    with ExitStack() as stack:
        stack.callback(made.end)
        yield made
    workers.broker().delete("llm", *lane_keys(at.address))


def lane_keys(address: str) -> list[str]:
    lane = lane_of(address, "scripted")
    return [f"synthpai:lane:{{{lane}}}", f"synthpai:lane:{{{lane}}}:holders"]


def memory(pid: int) -> float:
    """Resident MiB of a process."""
    for line in (Path("/proc") / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise Missed("a worker is gone")


def until(ready: Callable[[], object], *, seconds: float, what: str, every: float = 0.1) -> None:
    """Waits, and sweeps meanwhile as the clock of an installation does."""
    end, swept = time.monotonic() + seconds, time.monotonic()
    while not ready():
        if time.monotonic() > end:
            raise Missed(f"{what} did not come within {seconds:.0f} s")
        if time.monotonic() - swept > SWEEP_SECONDS:
            sweeping.sweep()
            swept = time.monotonic()
        time.sleep(every)


def over(run: Run) -> bool:
    run.refresh_from_db(fields=["state", "reason"])
    if run.state not in ("queued", "running", "done"):
        raise Missed(f"the run is {run.state}: {run.reason}")
    return run.state == "done"


def provider(at: Endpoint) -> Provider:
    return Provider.objects.create(name=at.address[:60], base_url=at.address, default_model="scripted")
