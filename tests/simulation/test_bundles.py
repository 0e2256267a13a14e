"""Interest checks that one hand asks in one go: the same rows as one by one, whatever happens to some."""

import asyncio
import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from simulation.domain.money import Limit, Room, room
from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.domain.run_states import RunEvent
from simulation.llm.errors import LLMError, Trouble
from simulation.models import CallAttempt, ModelCall, Run, Step, Workspace
from simulation.selectors.progress import corpus_digest
from simulation.services import (
    bundles,
    claiming,
    engine,
    lanes,
    ledger,
    remembered,
    steering,
    sweeping,
)
from simulation.services.ledger import Asked
from simulation.services.prompts import pinned
from simulation.services.simulating import Simulation
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import purpose, reply, sensible
from tests.running import balanced, committing, start, work_off
from tests.simulation.test_run_money import MODEL, priced

pytestmark = committing
MANY = Parameters(rounds=1, actions=1, profiles_asked=20)


def a_run(**options):
    corpus = CorpusFactory()
    for number in range(22):
        ProfileFactory(
            corpus=corpus,
            external_id=f"pers{number}",
            username=f"Author{number}",
            facts={"age": 20 + number, "occupation": "nurse"},
            style="Writing style: short.",
        )
    return start(corpus, parameters=MANY, **options)


def carried(run, *, most=50):
    """Does steps in stints, as a worker does; waits are skipped over."""
    for _ in range(most):
        ready = Step.objects.filter(run=run, state="ready")
        ready.update(due_at=timezone.now())
        state = Run.objects.get(pk=run.pk).state
        if state not in ("queued", "running") or not ready.exists():
            break
        engine.carry_on(run_id=run.pk, work=Simulation())
    return Run.objects.get(pk=run.pk)


@pytest.fixture
def sizes(monkeypatch):
    """How many steps each bundle had."""
    seen, carry_out = [], bundles.carry_out

    def counted(claim, *rest, **more):
        seen.append(1 + len(claim.fellows))
        return carry_out(claim, *rest, **more)

    monkeypatch.setattr(bundles, "carry_out", counted)
    return seen


def test_together_writes_what_one_by_one_writes(gateway, sizes):
    together, alone = carried(a_run(threads=2)), work_off(a_run(threads=2))
    assert max(sizes) > 8
    assert together.state == alone.state == "done"
    assert corpus_digest(together.corpus) == corpus_digest(alone.corpus)
    assert balanced(together)
    assert together.calls == alone.calls == len(gateway.asked) / 2
    checks = together.steps.filter(kind="interest")
    assert checks.count() == 40
    assert not checks.exclude(state="done").exists()
    assert all(step.result["call"] and step.result["interested"] for step in checks)


def test_they_are_asked_at_the_same_time(gateway, sizes, monkeypatch):
    under_way, most = [0], [0]
    complete = gateway.complete

    async def watched(request, **options):
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await asyncio.sleep(0.01)
        under_way[0] -= 1
        return await complete(request, **options)

    monkeypatch.setattr(gateway, "complete", watched)
    assert carried(a_run()).state == "done"
    assert most[0] == max(sizes) > 8


def test_trouble_with_some_is_theirs_alone(gateway, sizes):
    seen = {}

    def troubled(request, attempt):
        if purpose(request) != "interest":
            return sensible(request, attempt)
        kind = seen.setdefault(request.digest(), len(seen))
        if kind == 2 and attempt == 0:
            return LLMError(Trouble.TRANSIENT, "a fault that passes", status=500)
        if kind == 5 and attempt == 0:
            return LLMError(Trouble.RATE_LIMIT, "too fast", status=429, after=0.01)
        if kind == 7:
            return reply("well")
        return sensible(request, attempt)

    gateway.answers = troubled
    run = carried(a_run())
    assert run.state == "done"
    assert max(sizes) > 8
    assert balanced(run)
    states = CallAttempt.objects.filter(call__run=run).values_list("state", flat=True)
    assert sorted(set(states)) == ["answered", "rate_limited", "transient"]
    assert list(states).count("transient") == list(states).count("rate_limited") == 1
    checks = run.steps.filter(kind="interest")
    assert checks.filter(state="done").count() == 20  # the unreadable one after a correction turn
    assert ModelCall.objects.filter(run=run, state="invalid", purpose="interest").count() == 1


def test_a_permanent_error_stops_the_run_with_the_word_of_the_provider(gateway):
    gateway.answers = lambda request, attempt: (
        LLMError(Trouble.PERMANENT, "no such key", status=401)
        if purpose(request) == "interest"
        else sensible(request, attempt)
    )
    run = carried(a_run())
    assert run.state == "halted"
    assert "no such key" in run.reason
    assert balanced(run)
    assert not run.steps.filter(state="leased").exists()


@pytest.mark.parametrize("cap", [5, 9, 20])
def test_a_cap_on_calls_is_kept_to_the_call(gateway, cap):
    run = carried(a_run(max_calls=cap))
    assert run.state == "halted"
    assert run.calls == cap == len(gateway.asked)
    assert balanced(run)
    steering.raise_caps(run=run, by=None, max_calls=500, max_tokens=run.max_tokens)
    steering.control(run=run, by=None, event=RunEvent.RESUME)
    run = carried(run)
    assert run.state == "done"
    assert run.calls == len(gateway.asked) == ModelCall.objects.filter(run=run).count()


def test_money_of_the_run_and_of_the_installation_is_set_aside_and_settled(gateway, sizes):
    run = carried(a_run(max_cost=10**9, provider=priced(ProviderFactory()), models=published_models(MODEL)))
    assert run.state == "done"
    assert max(sizes) > 8
    assert run.cost > 0
    assert (run.cost_held, run.tokens_held) == (0, 0)
    spent = Workspace.objects.get(pk=Workspace.THE_ONE)
    assert (spent.spent, spent.held) == (run.cost, 0)
    assert sum(CallAttempt.objects.filter(call__run=run).values_list("cost", flat=True)) == run.cost
    assert balanced(run)


def test_the_condition_in_the_database_is_the_rule(gateway):
    """`ledger.FITS` and `domain.money.room` say the same, at the caps and beside them."""
    fifty_nanos = priced(ProviderFactory(), dollars_in="0.005", dollars_out="0.005")
    run = a_run(provider=fifty_nanos, models=published_models(MODEL))
    engine.advance(run_id=run.pk, work=Simulation())
    for calls, tokens, cost, budget in [  # what is spent of 4, 100, 1000 and 900
        (3, 0, 0, 0), (4, 0, 0, 0), (0, 89, 0, 0), (0, 90, 0, 0), (0, 91, 0, 0), (0, 0, 949, 0),
        (0, 0, 950, 0), (0, 0, 951, 0), (0, 0, 0, 849), (0, 0, 0, 850), (0, 0, 0, 851), (3, 90, 950, 850),
    ]:  # fmt: skip
        Run.objects.filter(pk=run.pk).update(
            calls=calls, max_calls=4, tokens=tokens - 5 * (tokens > 5), tokens_held=5 * (tokens > 5),
            max_tokens=100, cost=cost, cost_held=0, max_cost=1000, state="running",
        )  # fmt: skip
        Workspace.objects.update_or_create(
            pk=Workspace.THE_ONE, defaults={"spent": budget, "held": 0, "hard_cap": 900}
        )
        claim = engine._claim(run.pk)
        (question,) = Simulation().questions([claim])
        asked = engine._asker(claim).opening(question)
        asked = Asked(**{**asked.__dict__, "tokens_in": 4, "tokens_out": 6})
        (begun,) = ledger.begin_together(run=claim.run, lease=claim.lease, calls=[(claim.step, asked)])
        verdict = room(
            [
                (Limit(calls, 0, 4), 1),
                (Limit(tokens, 0, 100), 10),
                (Limit(cost, 0, 1000), 50),
                (Limit(budget, 0, 900), 50),
            ]
        )
        assert (begun is not None) == (verdict is Room.FITS), (calls, tokens, cost, budget)


def test_a_lane_with_fewer_places_gives_the_others_back_untouched(gateway, sizes, settings):
    settings.LANE_START = settings.LANE_MOST = 3
    remembered.forget()
    lanes.lanes.cache_clear()  # remembered once a process
    try:
        run = carried(a_run())
    finally:
        lanes.lanes.cache_clear()
    assert run.state == "done"
    assert sizes[0] > 8
    assert max(sizes[1:]) <= 4  # as many as found a place, and one more
    assert not run.steps.filter(claims__gt=1).exists()
    assert balanced(run)


def test_a_run_cancelled_meanwhile_keeps_no_place_and_no_money(gateway):
    run = a_run()

    number = itertools.count()

    def cancels(request, attempt):
        if purpose(request) == "interest" and next(number) == 3:
            steering.control(run=run, by=None, event=RunEvent.CANCEL)
        return sensible(request, attempt)

    gateway.answers = cancels
    run = carried(run)
    assert run.state == "cancelled"
    assert not run.steps.filter(state__in=["ready", "leased"]).exists()
    long_ago = timezone.now() - timedelta(days=1)
    CallAttempt.objects.filter(call__run=run, state="sent").update(sent_at=long_ago)
    sweeping.sweep()
    assert balanced(Run.objects.get(pk=run.pk))
    assert not CallAttempt.objects.filter(call__run=run, state="sent").exists()


def test_steps_that_somebody_had_before_are_taken_one_by_one(gateway):
    run = a_run()
    engine.advance(run_id=run.pk, work=Simulation())
    run.steps.filter(kind="interest").update(claims=1)
    claim = engine._claim(run.pk, together=True)
    assert claim.step.kind == "interest"
    assert claim.fellows == []


def test_a_run_takes_no_more_steps_than_it_may(gateway):
    run = a_run(parallel=5)
    engine.advance(run_id=run.pk, work=Simulation())
    first = engine._claim(run.pk, together=True)
    assert 1 + len(first.fellows) == 5
    assert engine._claim(run.pk, together=True) is None
    assert claiming.together(run.pk) == claiming.MOST_TOGETHER
    assert pinned(run, "thread/interest")


def test_an_answer_that_nobody_waits_for_any_more_is_settled(gateway):
    """The post is withdrawn while checks of it are under way, and one of them brings trouble."""
    run, number = a_run(), itertools.count()

    def withdrawn(request, attempt):
        if purpose(request) != "interest":
            return sensible(request, attempt)
        if next(number) == 0:
            run.corpus.comments.update(state="withdrawn")
            return LLMError(Trouble.TRANSIENT, "a fault that passes", status=500)
        return sensible(request, attempt)

    gateway.answers = withdrawn
    run = carried(run)
    assert run.state == "done"
    assert balanced(run)
    assert (run.tokens_held, run.cost_held) == (0, 0)
    assert not CallAttempt.objects.filter(call__run=run, state="sent").exists()
    assert CallAttempt.objects.filter(call__run=run, state="lost").count() == 1
    assert run.steps.filter(kind="interest", reason="withdrawn").exists()
