"""The long one: workers are killed at twenty random moments of a run, and nothing is lost or paid for twice.

Real worker processes, a real socket, faults by what was asked and at which attempt, so that a run that is
left alone meets the same ones. `make test-faults`; KILL_SEED chooses other moments.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from django.db.models import F

from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.llm.messages import ChatRequest
from simulation.llm.openai_wire import fields_of
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Faults, Latency, digest_of
from simulation.llm.serving.server import Behaviour, ModelServer
from simulation.models import CallAttempt, ModelCall, Provider, Run
from simulation.selectors.progress import progress, run_digest
from simulation.services import descending, prices, runs
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory
from tests.integration.conftest import Worker
from tests.integration.test_run_survives import (
    JOBS,
    attempts,
    await_with_sweeps,
    check_none_repeated,
    ended,
    in_flight,
    told,
)
from tests.running import balanced

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.faults]

KILLS = 20
THREADS = 6
SEED = int(os.environ.get("KILL_SEED", "1"))
TROUBLE = "429=0.03,500=0.03,cut=0.03,timeout=0.02,malformed=0.03,refused=0.03,empty=0.02"


def simulate(provider: Provider) -> Run:
    """Six threads in a new corpus; every corpus of this test has the same twelve profiles."""
    corpus = CorpusFactory()
    profiles = [
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number:02d}",
            username=f"Author{number}",
            facts={"age": 20 + 4 * number, "occupation": JOBS[number % len(JOBS)]},
            style="Writing style: short.",
        )
        for number in range(12)
    ]
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=provider,
        targets={"age": 3, "occupation": 3},
        profiles=profiles,
        parameters=Parameters(rounds=6, actions=4, profiles_asked=10),
        models=published_models("scripted"),
        seed=9,
        max_calls=5000,
        max_tokens=50_000_000,
        max_cost=1_000_000_000_000,
        parallel=12,
    )


def finish(run: Run, *, seconds: float = 600) -> Run:
    await_with_sweeps(lambda: ended(run), what="the end of the run", seconds=seconds)
    return run


def kill_at_random(worker: Worker, run: Run, environment: dict[str, str], *, calls: int) -> int:
    """Two workers; at each of the moments the older one is killed, and another started in its place.

    A moment is a number of calls that were sent; at least two come between kills, so that whoever is killed
    was at work. How many calls were in flight at the kills.
    """
    rng = random.Random(SEED)
    alive = [worker.start(concurrency=4, awaited=False, **environment) for _ in range(2)]
    in_flight_then, last = 0, 0
    for number, moment in enumerate(sorted(rng.sample(range(4, calls * 8 // 10), KILLS))):
        wanted = max(moment, last + 2)

        def reached(number: int = number, wanted: int = wanted) -> object:
            run.refresh_from_db()
            assert run.state in ("queued", "running"), f"{run.state} before kill {number}: {run.reason}"
            return run.calls >= wanted and in_flight(run)

        await_with_sweeps(reached, every=0.01, what="a moment to kill", seconds=300)
        time.sleep(rng.random() / 5)
        in_flight_then += len(in_flight(run))
        worker.kill(alive.pop(0))
        run.refresh_from_db()
        last = run.calls
        alive.append(worker.start(concurrency=4, awaited=False, **environment))
    return in_flight_then


def sent_by(run: Run, *states: str) -> Counter[str]:
    """Attempts in the ledger, by what was asked and at which attempt, as the endpoint counts them."""
    found: Counter[str] = Counter()
    chosen = CallAttempt.objects.filter(call__run=run).select_related("call")
    for one in chosen.filter(state__in=states) if states else chosen:
        digest = digest_of(fields_of(ChatRequest.from_dict(one.call.request)))
        found[f"{digest}/{one.number}"] += 1
    return found


def check_endpoint(run: Run, server: ModelServer, before: Counter[str]) -> None:
    """What arrived is what the ledger says was sent; only what a kill left without an answer came again."""
    arrived = Counter(server.stats()["arrived"]) - before
    ledger, lost = sent_by(run), sent_by(run, "lost")
    assert arrived <= ledger, "a question that the ledger does not know, or one more time than it knows"
    assert ledger - arrived <= lost, "an attempt that never arrived was not one that a kill cut off"
    for what, times in sent_by(run, "answered").items():
        assert arrived[what] <= times + lost[what], "a kept answer was asked for again"


def check_lost(run: Run) -> None:
    lost = CallAttempt.objects.filter(call__run=run, state="lost")
    assert not lost.exclude(spent=F("held"), cost=F("held_cost")).exists()
    assert not lost.filter(held_cost=0).exists()
    assert attempts(run, "sent") == 0
    assert (run.tokens_held, run.cost_held) == (0, 0)
    assert balanced(run)


def test_a_run_whose_workers_are_killed_twenty_times_is_the_run_that_was_left_alone(worker):
    behaviour = Behaviour(
        Faults.parse(TROUBLE, seed=3), Latency(0.5, 0.5, seed=3), timeout=8.0, retry_after=0.2
    )
    with in_background(ScriptedModel(), behaviour) as (address, server):
        provider = ProviderFactory(base_url=address, timeout_seconds=3)
        prices.set_price(by=None, provider=provider, model="scripted", input=Decimal(1), output=Decimal(2))
        environment = {"LLM_PRIVATE_ADDRESSES": urlsplit(address).netloc, "STEP_LEASE_SECONDS": "2"}
        began = time.monotonic()
        left_alone = worker.start(concurrency=24, **environment)
        calm = finish(simulate(provider))
        worker.kill(left_alone)
        check_endpoint(calm, server, Counter())
        calm_seconds, began = time.monotonic() - began, time.monotonic()

        arrived, completed = (Counter(server.stats()[kind]) for kind in ("arrived", "completed"))
        struck = simulate(provider)
        open_at_kills = kill_at_random(worker, struck, environment, calls=calm.calls)
        finish(struck)
        struck_seconds = time.monotonic() - began
        check_endpoint(struck, server, arrived)
        answers = Counter(server.stats()["completed"]) - completed
        check_none_repeated(struck, answers)

        before = server.requests
        replayed = finish(descending.replay(by=None, run=struck, corpus_name="once more"))
        assert server.requests == before
    lost = attempts(struck, "lost")
    sys.stdout.write(
        f"\nseed {SEED}: {calm.calls} calls in {calm_seconds:.0f} s; with {KILLS} kills {struck.calls} calls"
        f" in {struck_seconds:.0f} s, {lost} lost of {open_at_kills} in flight at the kills,"
        f" {answers.total() - attempts(struck, 'answered')} answered unheard,"
        f" {progress(struck).skipped} steps skipped\n"
    )
    assert KILLS / 4 <= lost <= open_at_kills
    assert 0 <= answers.total() - attempts(struck, "answered") <= lost
    check_lost(calm)
    check_lost(struck)
    assert attempts(calm, "lost") == 0
    assert struck.steps.filter(state="skipped").exists()  # the faults were of consequence
    assert struck.happenings.filter(text__endswith="gone; taken up again.").exists()
    assert told(struck) == told(calm)
    assert run_digest(struck) == run_digest(calm)
    assert ModelCall.objects.filter(run=replayed).exclude(replayed_from=None).exists()
    assert CallAttempt.objects.filter(call__run=replayed).count() == 0
    assert run_digest(replayed) == run_digest(struck)
