"""What past calls were like: means and p95 by provider, model and purpose, from a bounded look."""

from datetime import timedelta

import pytest
from django.utils import timezone

from simulation.selectors import past_calls
from tests.factories.simulation import (
    AttemptFactory,
    ModelCallFactory,
    PromptFactory,
    RunFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return RunFactory()


def called(run, *, seconds=1.0, kind="turn", attempt="answered", **fields):
    call = ModelCallFactory(
        step=StepFactory(run=run, kind=kind), **{"tokens_in": 100, "tokens_out": 10} | fields
    )
    sent = timezone.now()
    AttemptFactory(call=call, state=attempt, sent_at=sent, ended_at=sent + timedelta(seconds=seconds))
    return call


def test_means_and_p95_by_purpose(run, django_assert_num_queries):
    for number in range(1, 21):
        called(run, tokens_in=number * 100, tokens_out=number, seconds=number, cost=number)
    called(run, kind="tag", tokens_in=7, tokens_out=3, seconds=0.5)
    with django_assert_num_queries(1):
        found = past_calls.of_models({(run.provider_id, "scripted")})
    turn = found[run.provider_id, "scripted", "turn"]
    assert turn.n == 20
    assert (turn.input, turn.output, turn.seconds, turn.cost) == pytest.approx((1050, 10.5, 10.5, 10.5))
    p95 = (turn.input_p95, turn.output_p95, turn.seconds_p95, turn.cost_p95)
    assert p95 == pytest.approx((1905, 19.05, 19.05, 19.05))
    assert found[run.provider_id, "scripted", "tag"].input == 7


def test_only_what_was_sent_and_counted_counts(run):
    kept = called(run)
    called(run, state="refused", tokens_in=9)
    called(run, replayed_from=kept, tokens_in=9)
    called(run, tokens_in=0, tokens_out=0)
    called(run, model="other", tokens_in=9)
    called(RunFactory(), tokens_in=9)
    (one,) = past_calls.of_models({(run.provider_id, "scripted")}).values()
    assert (one.n, one.input) == (1, 100)


def test_a_failed_attempt_says_nothing_about_the_time_of_a_call(run):
    call = called(run, seconds=2)
    now = timezone.now()
    AttemptFactory(call=call, number=1, state="transient", sent_at=now, ended_at=now + timedelta(hours=1))
    (one,) = past_calls.of_models({(run.provider_id, "scripted")}).values()
    assert (one.n, one.seconds) == (1, pytest.approx(2))


def test_only_the_latest_count(run, monkeypatch):
    monkeypatch.setattr(past_calls, "KEPT", 3)
    for tokens in (1000, 10, 20, 30):
        called(run, tokens_in=tokens)
    (one,) = past_calls.of_models({(run.provider_id, "scripted")}).values()
    assert (one.n, one.input) == (3, 20)
    monkeypatch.setattr(past_calls, "LOOKED_AT", 2)
    (one,) = past_calls.of_models({(run.provider_id, "scripted")}).values()
    assert (one.n, one.input) == (2, 25)


def test_another_language_is_another_length(run):
    called(run, prompt=PromptFactory(language="de"), tokens_in=300)
    called(run, prompt=PromptFactory(language="en"))
    (one,) = past_calls.of_models({(run.provider_id, "scripted")}, language="de").values()
    assert (one.n, one.input) == (1, 300)


def test_of_one_run_every_model(run):
    called(run)
    called(run, model="other")
    called(RunFactory())
    assert {(model, purpose) for _, model, purpose in past_calls.of_run(run.pk)} == {
        ("scripted", "turn"),
        ("other", "turn"),
    }


def test_nothing_is_asked_for_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert past_calls.of_models(set()) == {}
