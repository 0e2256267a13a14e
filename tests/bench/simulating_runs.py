"""The part `simulate`: runs on real workers over real HTTP. Started by simulating.py in a process of its own,
on a database of its own; prints lines of JSON.

python -m tests.bench.simulating_runs small|full [some of: chain,second,memory,lanes,polls]
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from dataclasses import dataclass
from html import unescape
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - after the setup
from django.db.models import Count, Max, Min, Q  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from annotation.services.tagging import start_tagging  # noqa: E402
from simulation.domain.parameters import Parameters  # noqa: E402
from simulation.domain.plans import published_models  # noqa: E402
from simulation.domain.roles import Role  # noqa: E402
from simulation.models import CallAttempt, Comment, Corpus, Profile, Provider, Run, Thread  # noqa: E402
from simulation.services import engine, people, runs, sweeping  # noqa: E402
from tests.bench.plan import PASSWORD, SIMULATIONS, Simulations  # noqa: E402
from tests.bench.processes import Missed, cpu, postmaster  # noqa: E402
from tests.bench.simulating_site import crew, endpoint, memory, over, provider, until  # noqa: E402

ALLOWED = 8
"""Calls at a time that the endpoint of the part `lanes` allows."""
FRESH_SECONDS = 1.1
"""What viewers share of a page is made anew no more often than every second."""
JOBS = ("nurse", "teacher", "plumber", "lawyer", "chef", "librarian", "farmer", "pilot", "dentist")


def found(name: str, **numbers: Any) -> None:
    print(json.dumps({"name": name, "numbers": numbers}), flush=True)


def database_cpu() -> float:
    pid = postmaster()
    return cpu(pid) if pid else 0.0


# --- Runs


def tagging(at: Provider, comments: int, *, parallel: int) -> Run:
    """A run over a new corpus: one call a comment, none waits for another."""
    corpus = Corpus.objects.create(name=f"tags {time.time_ns()}")
    thread = Thread.objects.create(corpus=corpus, external_id="t1", target_phrase="age", source="imported")
    Comment.objects.bulk_create(
        (
            Comment(
                corpus=corpus,
                thread=thread,
                external_id=f"c{number}",
                username=f"Author{number % 30}",
                text=f"I turned {20 + number % 60}; as a {JOBS[number % len(JOBS)]} I take bus {number}.",
                sequence=number,
            )
            for number in range(comments)
        ),
        batch_size=1000,
    )
    return start_tagging(
        by=None,
        corpus=corpus,
        name="tags",
        provider=at,
        model="scripted",
        max_calls=1_000_000,
        max_tokens=2_000_000_000,
        parallel=parallel,
    )


def simulation(at: Provider, *, threads: int, asked: int) -> Run:
    corpus = Corpus.objects.create(name=f"threads {time.time_ns()}")
    profiles = [
        Profile(
            corpus=corpus,
            external_id=f"pers{number}",
            username=f"Author{number}",
            facts={"age": 20 + number, "occupation": JOBS[number % len(JOBS)]},
            style="Writing style: short.",
        )
        for number in range(60)
    ]
    Profile.objects.bulk_create(profiles)
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="threads",
        provider=at,
        targets={"age": threads},
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=Parameters(actions=2, profiles_asked=asked),
        models=published_models("scripted"),
        seed=4,
        max_calls=1_000_000,
        max_tokens=2_000_000_000,
        parallel=500,
    )


@dataclass(frozen=True)
class Times:
    """Seconds from the first call of a run to its last answer, and how many answers there were."""

    wall: float
    calls: int


def times(run: Run, kind: str = "") -> Times:
    """`kind`: until the last answer of steps of this kind."""
    attempts = CallAttempt.objects.filter(call__run=run)
    first = attempts.aggregate(at=Min("sent_at"))["at"]
    last = (attempts.filter(call__step__kind=kind) if kind else attempts).aggregate(at=Max("ended_at"))["at"]
    return Times((last - first).total_seconds(), attempts.filter(state="answered").count())


# --- What is measured


def chain(size: Simulations) -> None:
    """Sixteen threads at a second a call: the longest chain of calls against the time it took."""
    latency = size.chain_latency
    with endpoint(latency) as at, crew(at, lane=320) as workers:
        for _ in range(2):
            workers.add(160)
        model = provider(at)
        warm = tagging(model, 64, parallel=64)  # imports, connections and prompts are not what is measured
        until(lambda: over(warm), seconds=600, what="the end of the first run")
        run = simulation(model, threads=16, asked=size.asked)
        until(lambda: over(run), seconds=600, what="the end of the run")
        took = times(run)
    of_chains = run.run_threads.annotate(
        chain=Count("steps__model_calls", filter=~Q(steps__kind="interest"), distinct=True),
        checks=Count("steps", filter=Q(steps__kind="interest"), distinct=True),
    )
    phases = {kind: times(run, kind).wall for kind in ("topic", "interest", "turn")}
    longest = max(thread.chain + (thread.checks > 0) for thread in of_chains)
    found(
        "chain",
        wall=took.wall,
        calls=took.calls,
        critical=longest * latency,
        share=longest * latency / took.wall,
        speedup=took.calls * latency / took.wall,
        over_after=phases,
    )


def second(size: Simulations) -> None:
    """Two seconds a call, 32 in flight a process: calls a second with one worker, then with two."""
    with endpoint(2.0) as at, crew(at, lane=64) as workers:
        workers.add(32)
        tagging(provider(at), 4000, parallel=64)
        rates, costs, bases, busy = [], [], [], []
        for number in range(2):
            if number:
                workers.add(32)
                sweeping.sweep()
            start = time.monotonic()
            until(lambda start=start: time.monotonic() - start > 8, seconds=60, what="time")  # type: ignore[misc]
            began, answered = time.monotonic(), at.answered()
            spent, base = workers.cpu(), database_cpu()
            until(
                lambda began=began: time.monotonic() - began > size.window,  # type: ignore[misc]
                seconds=600,
                what="time",
            )
            calls, seconds = at.answered() - answered, time.monotonic() - began
            busy.append(at.stats()["in_flight"])
            rates.append(calls / seconds)
            costs.append(1000 * (workers.cpu() - spent) / calls)
            bases.append(1000 * (database_cpu() - base) / calls)
    found("second", rates=rates, ratio=rates[1] / rates[0], cpu=costs, database=bases, in_flight=busy)


def memories(size: Simulations) -> None:
    """Thousands of calls without waiting: what a call costs, and whether the worker grows."""
    with endpoint(0.0) as at, crew(at, lane=64) as workers:
        pid = workers.add(12)
        run = tagging(provider(at), size.calls, parallel=12)
        began, spent, base = time.monotonic(), workers.cpu(), database_cpu()
        every, samples, reached = size.calls // 20, [memory(pid)], 0

        def tick() -> bool:
            nonlocal reached
            done = over(run)
            if (calls := at.answered()) >= reached + every:
                samples.append(memory(pid))
                reached = calls
            return done

        until(tick, seconds=3600, what="the end of the run", every=0.5)
        seconds = time.monotonic() - began
        costs = (workers.cpu() - spent) / size.calls, (database_cpu() - base) / size.calls
    half = samples[len(samples) // 2 :]
    growth = statistics.mean(half[-3:]) / statistics.mean(half[:3]) - 1
    found(
        "memory",
        calls=size.calls,
        rate=size.calls / seconds,
        cpu=1000 * costs[0],
        database=1000 * costs[1],
        samples=[round(one, 1) for one in samples],
        growth=100 * growth,
    )


def lanes(size: Simulations) -> None:
    """An endpoint that allows eight at a time and answers 429 above: the time against the ideal."""
    for asks, options in (
        ("no Retry-After", ["--no-retry-after"]),
        ("Retry-After: 1", ["--retry-after", "1"]),
    ):
        with endpoint(1.0, "--limit", str(ALLOWED), *options) as at, crew(at, lane=20) as workers:
            workers.add(24)
            run = tagging(provider(at), size.lane_calls, parallel=24)
            until(lambda run=run: over(run), seconds=600, what="the end of the run")  # type: ignore[misc]
            took = times(run)
            refused = at.stats()["replies"].get("limited", 0)
        ideal = took.calls * 1.0 / ALLOWED
        found("lanes", asks=asks, wall=took.wall, ideal=ideal, ratio=took.wall / ideal, refused=refused)


def polls(size: Simulations) -> None:
    """A run's open page, asked every two seconds: what a poll costs this process, database aside."""
    run = simulation(provider_in_process(), threads=20, asked=6)
    from simulation.services.simulating import Simulation  # noqa: PLC0415 - only here

    person = people.create_user(
        username=f"viewer{time.time_ns()}", email="v@bench.invalid", password=PASSWORD, role=Role.ADMIN
    )
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    for _ in range(30):
        engine.advance(run_id=run.pk, work=Simulation())
    page = reverse("run", args=[run.public_id])
    costs: dict[str, list[float]] = {"same": [], "new": []}
    for _ in range(size.polls):
        engine.advance(run_id=run.pk, work=Simulation())
        marks = _poll_of(client.get(page).content.decode())
        began = time.process_time()
        same = client.get(marks, headers={"HX-Request": "true"})
        quiet = time.process_time() - began
        engine.advance(run_id=run.pk, work=Simulation())
        time.sleep(FRESH_SECONDS)
        began = time.process_time()
        new = client.get(marks, headers={"HX-Request": "true"})
        loud = time.process_time() - began
        if (same.status_code, new.status_code) == (204, 200):
            costs["same"].append(1000 * quiet)
            costs["new"].append(1000 * loud)
    if len(costs["new"]) < 5:
        raise Missed("hardly a poll brought news")
    found(
        "polls",
        same=statistics.median(costs["same"]),
        new=statistics.median(costs["new"]),
    )


def provider_in_process() -> Provider:
    made, _ = Provider.objects.get_or_create(
        name="in this process", defaults={"base_url": "scripted:", "default_model": "scripted"}
    )
    return made


def _poll_of(html: str) -> str:
    match = re.search(r'id="pulse"[^>]*hx-get="([^"]+)"', html)
    assert match, "the page of a run that goes on does not ask"
    return unescape(match[1])


PARTS = {"chain": chain, "second": second, "memory": memories, "lanes": lanes, "polls": polls}


def main(scale: str, asked: str) -> None:
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    for part in asked.split(",") if asked else PARTS:
        PARTS[part](SIMULATIONS[scale])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
