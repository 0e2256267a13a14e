"""The forecast in calls, tokens, money and time: of a plan, on its page, and of a run under way."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.dry_run import PerCall, Task, dry_run, rule_of_thumb, seconds
from simulation.domain.money import FREE, UnitPrice
from simulation.domain.parameters import Parameters
from simulation.domain.plans import TOKENS, Range, RoleModel, expected_calls, forecast, published_models
from simulation.llm.lanes import lane_of
from simulation.models import Price
from simulation.selectors import run_forecast
from simulation.services import dry_runs, prices
from simulation.services.lanes import lanes
from tests.factories.simulation import (
    AttemptFactory,
    ModelCallFactory,
    PromptFactory,
    ProviderFactory,
    RunFactory,
    RunThreadFactory,
    StepFactory,
)

MINI = UnitPrice(Decimal("0.15"), Decimal("0.6"))
ONE = PerCall(1000, 2000, 100, 200, 2.0, 5.0, n=10)
PLAN = {"targets": {"age": 3, "sex": 1}, "profiles": 40, "parameters": Parameters(), "then_tag": True}


def task(purpose="turn", *, low=10, high=20, **fields):
    known = {
        "purpose": purpose,
        "model": "m",
        "provider": "p",
        "provider_name": "P",
        "calls": Range(low, high),
        "per_call": ONE,
        "price": MINI,
        "width": 8,
    }
    return Task(**known | fields)


@given(
    threads=st.integers(1, 200),
    profiles=st.integers(2, 400),
    asked=st.integers(1, 60),
    rounds=st.integers(1, 4),
    then_tag=st.booleans(),
)
def test_the_calls_by_purpose_add_up_to_the_forecast(threads, profiles, asked, rounds, then_tag):
    plan = {
        "targets": {"age": threads},
        "profiles": profiles,
        "parameters": Parameters(profiles_asked=asked, rounds=rounds),
        "then_tag": then_tag,
    }
    calls, whole = expected_calls(**plan), forecast(**plan)
    assert sum(one.low for one in calls.values()) == whole.calls_low
    assert sum(one.high for one in calls.values()) == whole.calls_high
    assert all(0 <= one.low <= one.high for one in calls.values())


def test_typed_posts_are_not_called_for_and_the_judge_follows_the_tags():
    calls = expected_calls(**PLAN, then_judge=True, typed=3)
    assert calls["topic"] == Range(1, 1)
    assert calls["interest"] == Range(4 * 35, 4 * 35)
    assert calls["judge"].high == calls["tag"].high
    assert calls["judge"].low < calls["tag"].low
    assert "topic" not in expected_calls(**PLAN, typed=4)
    assert "judge" not in expected_calls(**PLAN | {"then_tag": False}, then_judge=True)


def test_the_low_end_takes_means_and_the_high_end_the_longest_twentieth():
    found = dry_run([task(low=10, high=20)], threads=1)
    assert (found.calls_low, found.calls_high) == (10, 20)
    assert (found.tokens_low, found.tokens_high) == (10 * 1100, 20 * 2200)
    assert found.cost_low == MINI.cost(input=10_000, output=1_000)
    assert found.cost_high == MINI.cost(input=40_000, output=4_000)


def test_one_unknown_price_makes_the_sum_unknown_and_is_named():
    found = dry_run(
        [task("topic"), task(model="own", price=None), task("tag", model="own", price=None)], threads=1
    )
    assert (found.cost_low, found.cost_high) == (None, None)
    assert [(row.provider, row.model) for row in found.unknown] == [("p", "own")]
    assert found.per_role[0].cost_low
    assert found.calls_high == 60


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0), "from rules of thumb"),
        ((1, 0), "from 1 past call; rules of thumb for tagger"),
        ((1000, 240), "from 1,240 past calls"),
    ],
)
def test_it_says_what_it_rests_on(counts, words):
    turn, tag = (replace(ONE, n=n) for n in counts)
    assert dry_run([task(per_call=turn), task("tag", per_call=tag)], threads=1).sources == words


def test_rules_of_thumb_add_up_to_the_usual_tokens_and_keep_the_completion_cap():
    for purpose, tokens in TOKENS.items():
        one = rule_of_thumb(purpose)
        assert one.input + one.output == tokens
        assert one.n == 0
    capped = rule_of_thumb("topic", max_tokens=16)
    assert capped.output == capped.output_p95 == 16


def test_turns_of_one_thread_follow_each_other():
    """With places for all, the critical path decides; with one place, the work does."""
    wide = [task("topic", low=2, high=2, width=99), task("interest", low=70, high=70, width=99)]
    wide.append(task("turn", low=40, high=40, width=99))
    low, high = seconds(wide, threads=2)
    assert low == 2.0 + 2.0 + 20 * 2.0
    assert high > low
    narrow = [replace(one, width=1) for one in wide]
    assert seconds(narrow, threads=2)[0] == (2 + 70 + 40) * 2.0
    one_thread, four = seconds([task(width=99)], threads=1), seconds([task(width=99)], threads=4)
    assert one_thread[0] > four[0]


def test_tags_come_after_the_threads():
    writing = [task("turn")]
    low, high = seconds(writing, threads=1)
    tagged = seconds([*writing, task("tag", low=16, high=16)], threads=1)
    assert tagged == (low + 16 * 2.0 / 8, high + 16 * 5.0 / 8 + 5.0)


def test_nothing_to_do_takes_no_time_and_no_money():
    found = dry_run([], threads=0)
    assert (found.calls_high, found.cost_high, found.seconds_high) == (0, 0, 0.0)
    assert found.is_free


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 64), st.integers(1, 50))
def test_the_ends_of_a_range_are_in_order(some, more, width, threads):
    tasks = [task(purpose, low=some, high=some + more, width=width) for purpose in ("topic", "turn", "tag")]
    found = dry_run(tasks, threads=threads)
    assert found.seconds_low <= found.seconds_high
    assert found.cost_low <= found.cost_high
    assert found.tokens_low <= found.tokens_high


def planned(provider, models=None, **fields):
    return dry_runs.dry_run(
        corpus_language="en",
        provider=provider,
        models=models or published_models("gpt-4o-mini"),
        then_judge=False,
        parallel=16,
        **PLAN | fields,
    )


@pytest.mark.django_db
def test_a_plan_without_past_calls_rests_on_rules_of_thumb_and_the_price_list():
    found = planned(ProviderFactory(base_url="https://api.openai.com/v1"))
    assert found.sources == "from rules of thumb"
    assert [row.role for row in found.per_role] == ["author", "interest", "user", "tagger"]
    assert 0 < found.cost_low < found.cost_high
    assert not Price.objects.exists(), "a look keeps nothing"


@pytest.mark.django_db
def test_past_calls_of_the_language_and_model_count():
    provider = ProviderFactory(base_url="https://api.openai.com/v1")
    english, german = PromptFactory(language="en"), PromptFactory(language="de")
    for prompt, tokens in ((english, 1000), (german, 3000)):
        step = StepFactory(run__provider=provider)
        call = ModelCallFactory(
            step=step, prompt=prompt, model="gpt-4o-mini", tokens_in=tokens, tokens_out=50
        )
        AttemptFactory(call=call, ended_at=timezone.now())
    turn = next(row for row in planned(provider).per_role if row.purpose == "turn")
    assert (turn.n, turn.tokens_low) == (1, turn.calls_low * 1050)


@pytest.mark.django_db
def test_each_role_has_its_own_model_provider_and_price():
    local = ProviderFactory(name="room 4", base_url="http://127.0.0.1:9000/v1")
    models = published_models("scripted")
    models["tagger"] = RoleModel("smollm2", provider=local.public_id)
    found = planned(ProviderFactory(), models)
    assert [(row.provider_name, row.model) for row in found.unknown] == [("room 4", "smollm2")]
    prices.set_price(by=None, provider=local, model="smollm2", input=Decimal(1), output=Decimal(1))
    found = planned(ProviderFactory(), models)
    assert found.cost_low == next(row.cost_low for row in found.per_role if row.role == "tagger")


@pytest.mark.django_db
def test_a_lane_that_is_narrower_than_the_run_counts():
    provider = ProviderFactory(base_url="http://127.0.0.1:9/only-here")
    lane = lane_of(provider.base_url, "own")
    lanes().slow_down(lane, 0.0, "slow")
    limit = lanes().state(lane).limit
    models = {"tagger": RoleModel("own")}
    calls = {"tag": Range(10_000, 10_000)}
    wide, as_lane, narrow = (
        dry_runs.of_calls(calls, provider=provider, models=models, parallel=parallel).seconds_low
        for parallel in (500, limit, 1)
    )
    assert wide == as_lane
    assert narrow == pytest.approx(limit * wide)


@pytest.mark.django_db
def test_the_page_says_cost_and_time_and_where_to_set_a_price():
    local = ProviderFactory(name="room 4", base_url="http://127.0.0.1:9000/v1")
    dry = planned(local, published_models("own model"))
    page = " ".join(render_to_string("runs/_dry_run.html", {"dry": dry, "may_set": True}).split())
    assert f"?provider={local.public_id}&amp;model=own%20model" in page
    assert page.count("No price is known") == 1
    assert "Set it first" in page
    free = render_to_string("runs/_dry_run.html", {"dry": planned(ProviderFactory()), "may_set": False})
    assert "these models cost nothing" in free
    assert "No price is known" not in free


@pytest.mark.django_db
def test_a_tagging_run_is_forecast_from_its_calls_alone():
    found = dry_runs.of_calls(
        {"tag": Range(100, 120)}, provider=ProviderFactory(), models=published_models("scripted")
    )
    assert (found.calls_low, found.calls_high, found.cost_high) == (100, 120, 0)
    assert found.seconds_low > 0


def answered(run, kind, *, cost=1000, seconds=2, **fields):
    step = StepFactory(run=run, kind=kind, **fields)
    call = ModelCallFactory(step=step, tokens_in=100, tokens_out=10, cost=cost)
    sent = timezone.now()
    AttemptFactory(call=call, sent_at=sent, ended_at=sent + timezone.timedelta(seconds=seconds))


@pytest.mark.django_db
def test_a_run_knows_nothing_before_its_first_call_and_after_its_end():
    assert run_forecast.counted(RunFactory(state="running")) is None
    run = RunFactory(state="done")
    answered(run, "tag")
    assert run_forecast.left(run) is None


@pytest.mark.django_db
def test_what_a_tagging_run_still_costs_follows_from_its_own_calls():
    run = RunFactory(kind="tag", state="running", parallel=2)
    for _ in range(4):
        answered(run, "tag", cost=1000, seconds=2)
    for _ in range(10):
        StepFactory(run=run, kind="tag", state="ready")
    left = run_forecast.counted(run)
    assert (left.cost_low, left.cost_high) == (10_000, 12_000)
    assert left.seconds_low == pytest.approx(10 * 2 / 2)
    assert run_forecast.counted(run, lane_limit=1).seconds_low == pytest.approx(20)


@pytest.mark.django_db
def test_the_forecast_is_kept_for_some_seconds(django_assert_num_queries):
    run = RunFactory(kind="tag", state="running")
    answered(run, "tag")
    first = run_forecast.left(run)
    with django_assert_num_queries(0):
        assert run_forecast.left(run) == first


@pytest.mark.django_db
def test_a_simulation_counts_turns_by_who_joined():
    run = RunFactory(state="running")
    run.plan |= {"targets": {"age": 2}, "profiles": [str(n) for n in range(40)]}
    run.save()
    for _ in range(2):
        RunThreadFactory(run=run, state="running")
    answered(run, "topic")
    before = run_forecast.counted(run)
    for number in range(40):
        answered(run, "interest", result={"interested": number < 4})
    few = run_forecast.counted(run)
    assert few.cost_high < before.cost_high
    for _ in range(30):
        answered(run, "interest", result={"interested": True})
    many = run_forecast.counted(run)
    assert many.cost_low > few.cost_low
    run.run_threads.update(state="done")
    assert run_forecast.counted(run).cost_high == 0


def test_what_is_free_is_free():
    found = dry_run([task(price=FREE)], threads=1)
    assert found.is_free
    assert found.unknown == ()
