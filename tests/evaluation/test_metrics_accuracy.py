"""Accuracy by its definitions, over all that was asked and over what was answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.metrics.accuracy import (
    BadItem,
    Item,
    accuracy,
    attribute_macro,
    by,
    half_credit,
    less_precise,
    profile_macro,
    top1,
    top3,
)

MEASURES = [top1, top3, half_credit, less_precise, profile_macro, attribute_macro]


def item(profile="p", attribute="age", scores=(1.0,), hardness=1, certainty=5, outcome="answered"):
    return Item(profile, attribute, hardness, certainty, tuple(scores), outcome)


ITEMS = [
    item("p", "age", (1.0, 0.0, 0.0), 1),
    item("p", "sex", (0.5, 0.0, 1.0), 1),
    item("p", "education", (), 2),
    item("q", "age", (0.0, 0.0, 0.0, 1.0), 2),
]
items = some.lists(
    some.builds(
        item,
        some.sampled_from("pqrs"),
        some.sampled_from(["age", "sex", "education"]),
        some.lists(some.sampled_from([0.0, 0.5, 1.0]), max_size=5),
        some.integers(1, 5),
    ),
    max_size=25,
)


@pytest.mark.parametrize(
    ("measure", "value"),
    [(top1, 1 / 4), (top3, 2 / 4), (half_credit, 1.5 / 4), (less_precise, 2 / 4), (profile_macro, 1 / 6)],
)
def test_each_measure_by_hand(measure, value):
    found = measure(ITEMS)
    assert found.value == pytest.approx(value)
    assert (found.n, found.clusters, found.words) == (4, 2, "")


def test_every_attribute_counts_the_same_in_the_attribute_macro():
    assert attribute_macro(ITEMS).value == pytest.approx((1 / 2 + 0 + 0) / 3)


def test_groups_are_by_field_or_by_function_and_in_order():
    assert {key: share.n for key, share in by(ITEMS, "hardness").items()} == {1: 2, 2: 2}
    assert list(by(ITEMS, "attribute")) == ["age", "education", "sex"]
    assert by(ITEMS, "attribute", top3)["sex"].value == 1
    assert list(by(ITEMS, lambda one: len(one.scores))) == [0, 3, 4]
    with pytest.raises(ValueError, match="no field 'model'"):
        by(ITEMS, "model")


@pytest.mark.parametrize("failed", ["refused", "unparsed", "error"])
def test_who_does_not_answer_looks_no_better_among_all_that_was_asked(failed):
    found = accuracy([*ITEMS, *[item("r", str(place), (), outcome=failed) for place in range(6)]])
    assert (found.asked.value, found.asked.n) == (1 / 10, 10)
    assert (found.answered.value, found.answered.n) == (1 / 4, 4)
    assert found.outcomes == {failed: 6, "answered": 4}


def test_what_was_not_asked_is_in_no_denominator():
    found = accuracy([*ITEMS, item("r", scores=(), outcome="not_asked")])
    assert (found.asked, found.answered) == (top1(ITEMS), top1(ITEMS))
    assert found.outcomes["not_asked"] == 1


def test_what_is_not_settled_is_neither_wrong_nor_forgotten():
    found = top1([*ITEMS, item("r", scores=(), outcome="open")])
    assert (found.value, found.n) == (1 / 4, 4)
    assert found.words == "1 of 5 items are not settled yet and left out."


@pytest.mark.parametrize("measure", MEASURES)
def test_no_items_and_one_profile_are_said_in_words(measure):
    nothing, alone = measure([]), measure([ITEMS[0], ITEMS[1]])
    assert (nothing.value, nothing.low, nothing.n) == (None, None, 0)
    assert nothing.words == "There are no items."
    assert (alone.low, alone.high, alone.clusters) == (None, None, 1)
    assert "one profile" in alone.words


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_all_and_nothing_are_not_certain(measure, score):
    found = measure([item(str(place), scores=(score,)) for place in range(20)])
    assert found.value == score
    assert found.high - found.low > 0.1


@given(items)
def test_shares_stand_in_their_order(items):
    found = [measure(items) for measure in (top1, half_credit, less_precise, top3)]
    if items:
        assert found[0].value <= found[1].value <= found[2].value
        assert found[0].value <= found[3].value
    for share in [*found, profile_macro(items), attribute_macro(items)]:
        if share.low is not None:
            assert 0 <= share.low <= share.value + 1e-12 <= share.high + 2e-12 <= 1 + 3e-12


@given(items)
def test_groups_make_up_the_whole(items):
    groups = by(items, "certainty").values()
    assert sum(group.n for group in groups) == len(items)
    if items:
        assert sum(group.value * group.n for group in groups) == pytest.approx(top1(items).value * len(items))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scores": (1.5,)}, "profile 'p', attribute 'age', scores"),
        ({"scores": (float("nan"),)}, "scores"),
        ({"outcome": "lost"}, "outcome: 'lost' is not known"),
        ({"outcome": "refused"}, "refused but scored above 0"),
    ],
)
def test_an_item_that_cannot_be_is_refused_by_name(wrong, words):
    with pytest.raises(BadItem, match=words):
        item(**wrong)
