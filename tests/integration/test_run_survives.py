"""Runs over a real socket, by real workers: whatever is killed or lost, a run ends as it would have anyway.

The tests play the clock and sweep every half second, as the beat does every few.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.db.models import Q, Sum

from annotation.models import Suggestion
from annotation.services.tagging import start_tagging
from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.llm.messages import ChatRequest
from simulation.llm.openai_wire import fields_of
from simulation.llm.scripted import ScriptedModel
from simulation.llm.serving.background import in_background
from simulation.llm.serving.faults import Faults, Latency, digest_of
from simulation.llm.serving.server import Behaviour, ModelServer
from simulation.models import CallAttempt, Corpus, ModelCall, Provider, Run
from simulation.selectors import workers
from simulation.selectors.progress import corpus_digest, progress
from simulation.services import engine, runs, sweeping
from simulation.services.simulating import Simulation
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    ProfileFactory,
    ProviderFactory,
    ThreadFactory,
)
from tests.integration.conftest import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

TROUBLE = "429=0.04,500=0.04,cut=0.04,empty=0.03,truncated=0.03,refused=0.03,malformed=0.04,prose=0.04"
SWEEP_EVERY = 0.5
JOBS = ("nurse", "teacher", "plumber", "lawyer", "chef", "librarian", "farmer", "pilot", "dentist")


@dataclass
class Served:
    """A model at its address, and the workers who may go there."""

    server: ModelServer
    provider: Provider
    worker: Worker
    environment: dict[str, str]
    seen: Counter[str] = field(default_factory=Counter)

    def start_worker(self, *, concurrency: int = 8) -> None:
        self.worker.start(concurrency=concurrency, **self.environment)

    def kill_worker(self) -> None:
        """The one that was started last."""
        self.worker.kill(self.worker.processes[-1])

    def answers(self) -> Counter[str]:
        """Answers sent whole since this was last asked, by the digest of what was asked."""
        now = Counter(self.server.stats()["completed"])
        new, self.seen = now - self.seen, now
        return new


@contextmanager
def serving(worker: Worker, *, faults: str = "", lease: int = 30, latency: float = 0.03) -> Iterator[Served]:
    """The scripted model over HTTP. Workers give a step away after `lease` silent seconds (2 at least)."""
    behaviour = Behaviour(Faults.parse(faults, seed=3), Latency(latency, latency), retry_after=0.2)
    with in_background(ScriptedModel(), behaviour) as (address, server):
        provider = ProviderFactory(base_url=address, timeout_seconds=10)
        environment = {
            "LLM_PRIVATE_ADDRESSES": urlsplit(address).netloc,
            "STEP_LEASE_SECONDS": str(lease),
        }
        yield Served(server, provider, worker, environment)


def simulate(provider: Provider) -> Run:
    """Three threads in a new corpus; every corpus of these tests has the same nine profiles."""
    corpus = CorpusFactory()
    profiles = [
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number}",
            username=f"Author{number}",
            facts={"age": 21 + 5 * number, "occupation": job},
            style="Writing style: short.",
        )
        for number, job in enumerate(JOBS)
    ]
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=provider,
        targets={"age": 2, "occupation": 1},
        profiles=profiles,
        parameters=Parameters(rounds=2, actions=2, profiles_asked=6),
        models=published_models("scripted"),
        seed=5,
        max_calls=2000,
        max_tokens=10_000_000,
        parallel=8,
    )


def tag(corpus: Corpus, provider: Provider) -> Run:
    return start_tagging(
        by=None,
        corpus=corpus,
        name="tags",
        provider=provider,
        model="scripted",
        max_calls=2000,
        max_tokens=10_000_000,
        parallel=4,
    )


def commented(count: int) -> Corpus:
    thread = ThreadFactory()
    for number in range(count):
        text = f"I turned {20 + number} in spring; speaking as a {JOBS[number % len(JOBS)]}, buses are grim."
        CommentFactory(thread=thread, external_id=f"c{number:02d}", text=text)
    return thread.corpus


def await_with_sweeps(
    ready: Callable[[], object], *, what: str, every: float = 0.05, seconds: float = 60
) -> None:
    swept = 0.0

    def tick() -> object:
        nonlocal swept
        if time.monotonic() - swept > SWEEP_EVERY:
            sweeping.sweep()
            swept = time.monotonic()
        return ready()

    wait_until(tick, every=every, seconds=seconds, what=what)


def ended(run: Run) -> bool:
    run.refresh_from_db()
    assert run.state in ("queued", "running", "done"), f"{run.state}: {run.reason}"
    return run.state == "done"


def finish(run: Run) -> Run:
    await_with_sweeps(lambda: ended(run), what="the end of the run")
    return run


def in_flight(run: Run) -> set[int]:
    """Attempts that a worker waits for, or waited for when it was killed."""
    sent = CallAttempt.objects.filter(call__run=run, state="sent", call__step__state="leased")
    return set(sent.values_list("pk", flat=True))


def quiet() -> bool:
    """Whether the database works for nobody but this test: a killed worker's last commit may still land."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        return cursor.fetchone()[0] == 0


def kill_in_flight(served: Served, run: Run, *, after: int) -> None:
    """Kills the worker as soon as `after` steps have ended and calls are in flight, and starts another.

    Again, where the calls came home just before the kill.
    """
    left = in_flight(run)  # by a worker killed before, perhaps

    def hit() -> object:
        steps = progress(run)
        assert steps.open, "the run was over before its worker could be killed"
        return steps.ended >= after and in_flight(run) - left

    while True:
        await_with_sweeps(hit, every=0.02, what="a moment to kill")
        served.kill_worker()
        wait_until(quiet, every=0.02, what="the end of what the database was doing for the dead worker")
        lost = in_flight(run) - left
        served.start_worker()
        if lost:
            return


def attempts(run: Run, state: str) -> int:
    return CallAttempt.objects.filter(call__run=run, state=state).count()


def check_ledger(run: Run) -> None:
    """The run's counters are those of the ledger, and nothing is open or unexplained.

    Where an answer may have been written that nobody heard, what was set aside counts as spent.
    """
    run.refresh_from_db()
    sent = CallAttempt.objects.filter(call__run=run)
    spent = sent.aggregate(n=Sum("spent"))["n"]
    counted = run.model_calls.aggregate(n=Sum("tokens_in") + Sum("tokens_out"))["n"]
    unheard = sent.filter(Q(state="lost") | Q(state="transient", status=None)).aggregate(n=Sum("held"))["n"]
    assert (run.state, progress(run).open, attempts(run, "sent")) == ("done", 0, 0)
    assert (run.calls, run.tokens, run.tokens_held) == (sent.count(), spent, 0)
    assert spent == counted + (unheard or 0)
    assert not run.steps.filter(state="skipped", reason="").exists()
    assert set(run.steps.values_list("state", flat=True)) <= {"done", "skipped"}


def check_none_repeated(run: Run, answers: Counter[str]) -> None:
    """A question was answered once, and once more for every attempt at it that a killed worker lost."""
    allowed: Counter[str] = Counter()
    for call in ModelCall.objects.filter(run=run).prefetch_related("attempts"):
        digest = digest_of(fields_of(ChatRequest.from_dict(call.request)))
        allowed[digest] += sum(attempt.state in ("answered", "lost") for attempt in call.attempts.all())
    assert answers
    assert answers <= allowed
    assert answers.total() - attempts(run, "answered") <= attempts(run, "lost")


def told(run: Run) -> list[tuple[str, str, str]]:
    """What became of every step."""
    return sorted(run.steps.values_list("key", "state", "reason"))


def tags(run: Run) -> list[tuple[object, ...]]:
    rows = Suggestion.objects.filter(run=run).order_by("comment__external_id", "position")
    return list(rows.values_list("comment__external_id", "position", "attribute", "guesses", "hardness"))


def test_a_simulation_whose_worker_is_killed_three_times_writes_the_same_corpus(worker):
    with serving(worker, faults=TROUBLE, lease=2) as served:
        served.start_worker()
        calm = finish(simulate(served.provider))
        check_none_repeated(calm, served.answers())
        assert served.server.requests == calm.calls  # the client repeats nothing of its own accord

        struck = simulate(served.provider)
        for moment in sorted(random.Random(11).sample(range(1, progress(calm).ended * 3 // 4), 3)):
            kill_in_flight(served, struck, after=moment)
        finish(struck)
        check_none_repeated(struck, served.answers())
    check_ledger(calm)
    check_ledger(struck)
    assert attempts(struck, "lost") >= 3
    assert struck.happenings.filter(text__endswith="gone; taken up again.").exists()
    assert struck.steps.filter(state="skipped").exists()  # the faults were of consequence
    assert told(struck) == told(calm)
    assert corpus_digest(struck.corpus) == corpus_digest(calm.corpus)


def test_a_tagging_run_whose_worker_is_killed_tags_every_comment_once(worker):
    corpus = commented(40)
    with serving(worker, faults=TROUBLE, lease=2) as served:
        served.start_worker(concurrency=4)
        calm = finish(tag(corpus, served.provider))
        served.answers()

        struck = tag(corpus, served.provider)
        kill_in_flight(served, struck, after=random.Random(12).randrange(5, 25))
        finish(struck)
        check_none_repeated(struck, served.answers())
    check_ledger(struck)
    assert attempts(struck, "lost") >= 1
    assert sorted(struck.steps.values_list("comment__external_id", flat=True)) == [
        f"c{number:02d}" for number in range(40)
    ]
    assert told(struck) == told(calm)
    assert len(tags(calm)) > 40
    assert tags(struck) == tags(calm)


def test_a_run_whose_messages_were_lost_is_taken_up_by_the_sweep(worker):
    run = simulate(ProviderFactory())
    engine.advance(run_id=run.pk, work=Simulation())  # the first step, and messages for those that follow
    assert progress(run).ended == 1
    assert workers.broker().llen("llm")
    workers.broker().delete("llm")
    worker.start(concurrency=8)
    assert not workers.broker().exists("llm")  # nobody tells the worker
    assert progress(run).ended == 1
    finish(run)
    check_ledger(run)


def test_two_workers_write_what_one_writes_and_ask_nothing_twice(worker):
    alone = simulate(ProviderFactory())
    while engine.advance(run_id=alone.pk, work=Simulation()):
        pass  # by one hand, and in this process
    with serving(worker, latency=0.05) as served:
        served.start_worker(concurrency=1)
        served.start_worker(concurrency=1)
        shared = finish(simulate(served.provider))
        assert served.server.max_in_flight >= 2  # of interest checks one hand asks several at a time
        assert served.server.requests == served.answers().total() == shared.calls
    for run in (alone, shared):
        check_ledger(run)
        assert attempts(run, "answered") == run.calls
    assert told(shared) == told(alone)
    assert corpus_digest(shared.corpus) == corpus_digest(alone.corpus)
