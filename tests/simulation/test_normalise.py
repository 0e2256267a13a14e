"""Values in canonical form: what is taken, what is refused with which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from simulation.domain.attributes import CATALOGUE
from simulation.domain.normalise import BadValue, canonical, same_value


@pytest.mark.parametrize(
    ("attribute", "typed", "stored"),
    [
        ("age", " 34 ", "34"),
        ("age", "20 - 30", "20-30"),
        ("age", "20–30", "20-30"),
        ("age", "20 to 30", "20-30"),
        ("age", "30-30", "30"),
        ("sex", "Woman", "female"),
        ("relationship_status", "In Relationship", "in a relationship"),
        ("education", "masters", "Master's"),
        ("education", "Bachelor's degree in  Physics", "Bachelor's degree in Physics"),
        ("income_level", "Very High", "very high"),
        ("city_country", " Graz,  Austria", "Graz, Austria"),
        ("occupation", "nurse", "nurse"),
    ],
)
def test_a_value_is_stored_in_its_canonical_form(attribute, typed, stored):
    assert canonical(CATALOGUE[attribute], typed) == stored


@pytest.mark.parametrize(
    ("attribute", "typed", "says"),
    [
        ("age", "thirtyish", "Write a number or a range"),
        ("age", "0", "between 1 and 120"),
        ("age", "34-200", "between 1 and 120"),
        ("age", "40-30", "runs backwards: write 30-40"),
        ("sex", "unknown", "not one of: male, female"),
        ("relationship_status", "complicated", "not one of"),
        ("occupation", "ba\x00ker", "cannot be printed"),
        ("occupation", "   ", "Write a value"),
        ("occupation", "x" * 201, "At most 200 characters; this has 201"),
    ],
)
def test_a_bad_value_is_refused_with_what_to_write(attribute, typed, says):
    with pytest.raises(BadValue, match=says):
        canonical(CATALOGUE[attribute], typed)


@given(some.sampled_from(sorted(CATALOGUE)), some.text(max_size=60))
def test_canonical_form_is_its_own_canonical_form(attribute, typed):
    try:
        once = canonical(CATALOGUE[attribute], typed)
    except BadValue:
        return
    assert canonical(CATALOGUE[attribute], once) == once


def test_values_are_the_same_where_only_spelling_differs():
    assert same_value(CATALOGUE["relationship_status"], "Dating", "in a relationship")
    assert same_value(CATALOGUE["occupation"], "Nurse", " nurse ")
    assert not same_value(CATALOGUE["age"], "30", "30-40")
