"""Naming runs over a real socket, by real workers: killed, short of money, refused; nothing is made up."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from django.urls import reverse

from evaluation.domain.communities import WANTED
from evaluation.models import ThreadTopics
from evaluation.selectors import communities
from evaluation.services.naming import Wish, start_naming
from simulation.domain.plans import RoleModel
from simulation.domain.run_states import RunEvent, StepState
from simulation.models import Corpus, Provider, Run
from simulation.services import prices, steering
from simulation.services.spending import said
from tests.evaluation.board_scene import words
from tests.factories.simulation import CommentFactory, CorpusFactory, ThreadFactory
from tests.integration.test_kill_workers import check_endpoint, check_lost
from tests.integration.test_run_survives import (
    attempts,
    await_with_sweeps,
    check_none_repeated,
    finish,
    kill_in_flight,
    progress,
    serving,
)
from tests.running import balanced

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

THREADS = 30
TROUBLE = "429=0.03,500=0.03,cut=0.03,refused=0.1,malformed=0.1,empty=0.1"


def asked_corpus() -> Corpus:
    corpus = CorpusFactory()
    for number in range(THREADS):
        thread = ThreadFactory(corpus=corpus, external_id=f"thread_age_{number}")
        text = f"Question: What song takes you straight back, and where to?\n\nStory {number}."
        CommentFactory(thread=thread, text=text)
    return corpus


def ask(corpus: Corpus, provider: Provider, **options: object) -> Run:
    wish = {"name": "which ones", "model": RoleModel("scripted", 0.1), "parallel": 4}
    return start_naming(corpus, Wish(provider=provider, **{**wish, **options}), by=None)


def price(provider: Provider) -> None:
    """Dollars for a million tokens."""
    prices.set_price(by=None, provider=provider, model="scripted", input=Decimal(1), output=Decimal(2))


def check_named(run: Run) -> communities.Tally:
    """A thread has three different names and a step that is done, or neither and a reason."""
    tally = communities.tally(run)
    rows = list(ThreadTopics.objects.filter(run=run))
    assert len(rows) == len({row.thread_id for row in rows}) == tally.named
    assert all(len({name.casefold() for name in row.topics}) == WANTED for row in rows)
    done = run.steps.filter(state=StepState.DONE)
    assert {row.thread_id for row in rows} == {step.asks["thread"] for step in done}
    assert not run.steps.filter(state=StepState.SKIPPED, reason="").exists()
    assert tally.named + tally.without == THREADS
    return tally


def test_a_run_whose_worker_is_killed_twice_names_every_thread_once(worker):
    corpus = asked_corpus()
    with serving(worker, lease=2, latency=0.2) as served:
        price(served.provider)
        served.start_worker(concurrency=4)
        run = ask(corpus, served.provider)
        for after in (4, 14):
            kill_in_flight(served, run, after=after)
        finish(run)
        check_endpoint(run, served.server, Counter())
        check_none_repeated(run, served.answers())
    assert check_named(run).named == THREADS
    check_lost(run)
    assert attempts(run, "lost") >= 2
    assert balanced(run)
    assert run.happenings.filter(text__endswith="gone; taken up again.").exists()


def test_a_run_halts_before_its_hard_cap_and_goes_on_after_it_is_raised(worker, admin):
    corpus = asked_corpus()
    with serving(worker, latency=0.05) as served:
        price(served.provider)
        served.start_worker(concurrency=4)
        cap = 6_000_000
        run = ask(corpus, served.provider, max_cost=cap)

        def halted() -> bool:
            run.refresh_from_db()
            assert run.state in ("queued", "running", "halted"), f"{run.state}: {run.reason}"
            assert run.cost + run.cost_held <= cap
            return run.state == "halted" and not attempts(run, "sent")

        await_with_sweeps(halted, what="the halt")
        run.refresh_from_db()
        before = progress(run).ended
        assert 0 < before < THREADS
        assert said(cap) in run.reason
        assert balanced(run)
        assert ThreadTopics.objects.filter(run=run).count() == before
        assert communities.naming_of(corpus, "") is None  # a run that halted does not count yet
        asked = served.server.requests
        caps = {"max_calls": run.max_calls, "max_tokens": run.max_tokens, "max_cost": 100 * cap}
        steering.raise_caps(by=admin, run=run, **caps)
        steering.control(by=admin, run=run, event=RunEvent.RESUME)
        finish(run)
        check_none_repeated(run, served.answers())
        assert served.server.requests == asked + THREADS - before
    assert balanced(run)
    assert check_named(run).named == THREADS
    assert communities.naming_of(corpus, "") == run


def test_refused_and_unusable_answers_are_shown_as_such(worker, client_of, researcher):
    corpus = asked_corpus()
    with serving(worker, faults=TROUBLE) as served:
        served.start_worker(concurrency=4)
        run = finish(ask(corpus, served.provider))
        refused = served.server.stats()["replies"]["refused"]
    tally = check_named(run)
    assert refused > 0
    assert tally.reasons["refused"] <= refused  # an answer after a correction may be refused, too
    assert tally.named > THREADS / 2
    browser = client_of(researcher)
    page = words(browser.get(reverse("communities", args=[corpus.public_id])))
    assert f"{tally.reasons['refused']} refused" in page
    assert f"Threads named {tally.named} of {THREADS}" in page
    shown = browser.get(reverse("communities", args=[corpus.public_id]), {"what": "without"})
    assert [row.reason for row in shown.context["page"].rows].count("refused") == tally.reasons["refused"]
    assert f"Refused {refused} which" in words(browser.get(reverse("run", args=[run.public_id])))
