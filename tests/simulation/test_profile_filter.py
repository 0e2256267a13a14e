"""Which profiles a filter lets through."""

import pytest

from simulation.domain.profile_filter import ProfileFilter, Span

FACTS = {"age": 34, "sex": "female", "education": "Masters in Law", "relationship_status": "in relationship"}


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        (ProfileFilter(), True),
        (ProfileFilter(values={"sex": ["female"]}), True),
        (ProfileFilter(values={"sex": ["male"]}), False),
        (ProfileFilter(values={"sex": []}), True),
        (ProfileFilter(values={"relationship_status": ["in a relationship"]}), True),
        (ProfileFilter(values={"income_level": ["high"]}), False),
        (ProfileFilter(words={"education": "law MASTERS"}), True),
        (ProfileFilter(words={"education": "law phd"}), False),
        (ProfileFilter(words={"occupation": "nurse"}), False),
        (ProfileFilter(words={"occupation": "  "}), True),
        (ProfileFilter(spans={"age": Span(34, 34)}), True),
        (ProfileFilter(spans={"age": Span(35)}), False),
        (ProfileFilter(spans={"age": Span(most=33)}), False),
        (ProfileFilter(spans={"age": Span()}), True),
        (ProfileFilter(values={"sex": ["female"]}, spans={"age": Span(most=20)}), False),
    ],
)
def test_every_condition_must_hold(wanted, matches):
    assert wanted.matches(FACTS) is matches


@pytest.mark.parametrize(
    ("age", "matches"), [(30, True), ("30", True), ("30-40", True), ("old", False), (None, False)]
)
def test_an_age_is_read_as_it_came_and_a_missing_one_fails(age, matches):
    assert ProfileFilter(spans={"age": Span(25, 35)}).matches({"age": age}) is matches
