"""The parameters of Algorithm 1: published values, ranges, JSON."""

import json
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.parameters import Parameters

words = st.tuples(st.integers(1, 20), st.integers(20, 1000))
varied = st.builds(
    Parameters,
    rounds=st.integers(1, 50),
    start_weight=st.integers(1, 10),
    p_critic=st.floats(0, 1),
    p_short=st.integers(0, 1),
    short_words=words,
    long_words=words,
)


def test_the_parameters_are_the_published_ones():
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


@given(varied)
def test_parameters_survive_json(parameters):
    assert Parameters.from_dict(json.loads(json.dumps(parameters.as_dict()))) == parameters


def test_what_is_not_given_is_as_published():
    assert Parameters.from_dict({"rounds": 5}) == Parameters(rounds=5)
    assert Parameters.from_dict({}) == Parameters()


def test_an_unknown_parameter_is_refused_by_name():
    with pytest.raises(ValueError, match="max_deepth: not a parameter"):
        Parameters.from_dict({"max_deepth": 5})


def test_a_mode_there_is_not_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"^mode: must be one of top, random$"):
        Parameters(mode="best")
    assert Parameters(mode="random").as_dict()["mode"] == "random"


@pytest.mark.parametrize("field", [field.name for field in fields(Parameters) if field.name != "mode"])
@pytest.mark.parametrize("value", [-1, 10**9, "7", None, True, math.nan, [0, 10], [10, 5], [1], [1, 5, 9]])
def test_a_value_out_of_range_is_refused_by_the_name_of_its_field(field, value):
    with pytest.raises(ValueError, match=rf"^{field}: must be .*\d"):
        Parameters.from_dict({field: value})
