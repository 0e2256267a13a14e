"""What a run is told at its start: models with the published parameters, and a forecast."""

import pytest

from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel, forecast, published_models, tagging_forecast


def test_the_published_parameters_are_the_defaults():
    """D4: the published README, configuration and logs disagree; the logs of the runs are what happened."""
    assert Parameters().as_dict() == {
        "rounds": 2,
        "actions": 3,
        "start_weight": 7,
        "profiles_asked": 35,
        "sampled": 10,
        "max_depth": 5,
        "max_children": 3,
        "p_critic": 0.4,
        "p_short": 0.7,
        "short_words": [1, 10],
        "long_words": [10, 50],
        "mode": "top",
    }
    models = published_models("m")
    assert [models[role].temperature for role in ("author", "user", "interest", "tagger")] == [1, 1, 0, 0]
    assert models["user"].frequency_penalty == 2.0
    assert models["user"].max_tokens == 600


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model": " "}, "model"),
        ({"model": "m", "temperature": 3}, "temperature"),
        ({"model": "m", "frequency_penalty": -5}, "frequency_penalty"),
        ({"model": "m", "max_tokens": 1}, "max_tokens"),
    ],
)
def test_a_model_out_of_range_is_refused_by_field(fields, named):
    with pytest.raises(ValueError, match=named):
        RoleModel(**fields)


def test_the_forecast_holds_for_the_published_set():
    """103 threads of mostly 35 asked, 7,830 comments: between the low and the high of the forecast."""
    likely = forecast(targets={"age": 103}, profiles=300, parameters=Parameters(), then_tag=True)
    calls = 103 * 35 + 2 * 7830
    assert likely.calls_low < calls < likely.calls_high
    assert likely.tokens_high > likely.calls_high * 500


def test_a_forecast_asks_nobody_who_is_not_there():
    likely = forecast(targets={"age": 1}, profiles=2, parameters=Parameters(), then_tag=False)
    assert likely.calls_low <= likely.calls_high <= 1 + 1 + 3 * 2


def test_tagging_is_one_call_a_comment():
    assert (tagging_forecast(100).calls_low, tagging_forecast(100).calls_high) == (100, 120)


def test_the_smallest_run_has_room_for_what_its_first_call_sets_aside():
    assert tagging_forecast(0).tokens_high == 0
    assert tagging_forecast(1).tokens_high == 5000
    small = forecast(targets={"age": 1}, profiles=2, parameters=Parameters(rounds=1), then_tag=False)
    assert small.tokens_high >= 5000
