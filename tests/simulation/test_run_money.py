"""What a run may cost: set aside before each call, settled after, never above a cap."""

from dataclasses import replace
from decimal import Decimal

import pytest

from simulation.domain.money import NANO, nanos
from simulation.domain.plans import BadPlan, published_models
from simulation.domain.run_states import RunEvent
from simulation.llm.messages import Usage
from simulation.models import ModelCall, Provider, Run, Workspace
from simulation.services import remembered, runs, steering
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory
from tests.fakes.llm import sensible
from tests.running import SMALL, balanced, work_off

pytestmark = pytest.mark.django_db

MODEL = "some-model"


@pytest.fixture
def provider(gateway):
    """One whose model has a price: a dollar a million tokens in, two out."""
    gateway.answers = lambda request, attempt: replace(sensible(request, attempt), usage=Usage(400, 100))
    made = ProviderFactory(base_url="https://models.example.org/v1", default_model=MODEL)
    return priced(made)


def priced(provider, model=MODEL, *, dollars_in="1", dollars_out="2"):
    provider.prices.create(
        model=model,
        input=Decimal(dollars_in),
        output=Decimal(dollars_out),
        valid_from="2020-01-01T00:00Z",
        source="person",
    )
    return provider


def start(provider, **fields):
    corpus = CorpusFactory()
    profiles = [
        ProfileFactory(corpus=corpus, external_id=f"p{n}", facts={"age": 30 + n}, style="Short.")
        for n in range(4)
    ]
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=provider,
        targets={"age": 1},
        profiles=profiles,
        parameters=SMALL,
        models=published_models(MODEL),
        seed=3,
        max_calls=500,
        max_tokens=10**7,
        **fields,
    )


ONE_CALL = 400 * 1000 + 100 * 2000
"""Nano-dollars of 400 tokens in and 100 out."""


def test_each_call_costs_what_its_tokens_cost_and_names_the_price(provider):
    run = work_off(start(provider))
    assert run.state == "done"
    assert run.cost == run.calls * ONE_CALL
    assert {call.price.input for call in ModelCall.objects.filter(run=run)} == {Decimal(1)}
    assert Workspace.objects.get().spent == run.cost
    assert Workspace.objects.get().held == 0
    assert balanced(run)


def test_the_hard_cap_halts_before_it_is_passed_and_can_be_raised(provider):
    run = work_off(start(provider, max_cost=nanos(Decimal("0.004"))))
    assert run.state == "halted"
    assert "hard cap of $0.0040" in run.reason
    assert 0 < run.cost <= nanos(Decimal("0.004"))
    assert run.cost_held == 0
    spent = run.cost
    Run.objects.filter(pk=run.pk).update(max_cost=NANO)
    steering.control(by=None, run=run, event=RunEvent.RESUME)
    run = work_off(run)
    assert run.state == "done"
    assert run.cost > spent
    assert balanced(run)


def test_the_soft_cap_warns_once_and_the_run_goes_on(provider):
    run = work_off(start(provider, soft_cost=ONE_CALL))
    assert run.state == "done"
    assert run.warned_at is not None
    assert run.happenings.filter(level="warn", text__contains="soft cap").count() == 1


def test_the_hard_cap_of_the_installation_holds_for_all_runs_together(provider):
    Workspace.objects.update_or_create(pk=1, defaults={"hard_cap": nanos(Decimal("0.006"))})
    first = work_off(start(provider, max_cost=nanos(Decimal("0.004"))))
    second = work_off(start(provider))
    assert (first.state, second.state) == ("halted", "halted")
    assert "installation" in second.reason
    assert first.cost + second.cost <= nanos(Decimal("0.006"))


def test_a_model_without_a_price_is_refused_before_the_start(gateway):
    provider = ProviderFactory(base_url="https://models.example.org/v1", default_model=MODEL)
    with pytest.raises(BadPlan, match="No price is known"):
        start(provider)
    assert not Run.objects.exists()


def test_a_price_that_is_gone_halts_the_run_and_nothing_is_sent(gateway, provider):
    run = start(provider)
    Provider.objects.get(pk=provider.pk).prices.all().delete()
    remembered.forget()
    run = work_off(run)
    assert (run.state, gateway.asked) == ("halted", [])
    assert "No price is known" in run.reason


def test_a_reply_without_counts_costs_what_was_set_aside(gateway, provider):
    gateway.answers = lambda request, attempt: replace(sensible(request, attempt), usage=Usage())
    run = work_off(start(provider))
    calls = ModelCall.objects.filter(run=run)
    assert run.cost == sum(call.attempts.get().held_cost for call in calls)
    assert run.cost > 0
    assert balanced(run)


def test_a_role_may_have_a_provider_of_its_own(gateway, provider):
    other = priced(
        ProviderFactory(base_url="https://others.example.org/v1", default_model="tiny"),
        "tiny",
        dollars_in="0",
    )
    models = published_models(MODEL)
    models["interest"] = replace(models["interest"], model="tiny", provider=other.public_id)
    corpus = CorpusFactory()
    profiles = [ProfileFactory(corpus=corpus, facts={"age": 30}, style="Short.") for _ in range(3)]
    run = runs.start_simulation(
        by=None,
        corpus=corpus,
        name="two providers",
        provider=provider,
        targets={"age": 1},
        profiles=profiles,
        parameters=SMALL,
        models=models,
        seed=3,
        max_calls=500,
        max_tokens=10**7,
    )
    assert work_off(run).state == "done"
    asked = {(call.purpose, call.provider_id, call.base_url) for call in run.model_calls.all()}
    assert ("interest", other.pk, other.base_url) in asked
    assert all(pk == provider.pk for purpose, pk, _ in asked if purpose != "interest")
