"""Ratings are taken in as given, or refused in words."""

import pytest

from annotation.metrics.agreement import NotOnScale, RepeatedRating, from_columns, gather, nominal_alpha
from annotation.metrics.ratings import on_scale, patterns


def test_missing_answers_are_not_there():
    found = gather([("u1", "Ada", "x"), ("u1", "Ben", None), ("u2", "Ben", "y")])
    assert (found.raters, found.values, found.unit.tolist()) == (2, ("x", "y"), [0, 1])


def test_a_second_answer_of_one_rater_to_one_unit_is_refused_by_name():
    with pytest.raises(RepeatedRating, match="'u1': rater 'Ada' answered twice"):
        gather([("u1", "Ada", "x"), ("u2", "Ada", "x"), ("u1", "Ada", "y")])


def test_a_value_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="unit 'u1', rater 'Ada'"):
        gather([("u1", "Ada", float("nan"))])


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        from_columns([[1, 2], [1]])


def test_units_with_the_same_values_are_one_pattern_whoever_gave_them():
    found = patterns(from_columns([["a", "b", "a", "c"], ["b", "a", "a", None]]))
    assert found.rows.tolist() == [[0, 0], [0, 1]]
    assert (found.times.tolist(), found.sizes.tolist(), found.units) == ([1, 2], [2, 2], 3)


def test_a_unit_may_have_more_answers_than_another():
    found = patterns(from_columns([[1, 1], [2, 1], [None, 2]]))
    assert found.rows.tolist() == [[0, 0, 1], [0, 1, -1]]


def test_a_scale_gives_the_order_and_may_have_values_that_nobody_gave():
    found = on_scale(from_columns([["high", "low"], ["high", "high"]]), ["low", "middle", "high"])
    assert found.values == ("low", "middle", "high")
    assert sorted(found.value.tolist()) == [0, 2, 2, 2]


@pytest.mark.parametrize(
    ("scale", "words"),
    [(["low"], "not on the scale: 'high'"), (["low", "high", "low"], "twice"), (None, "no order")],
)
def test_a_scale_that_does_not_fit_is_refused(scale, words):
    values = ["low", "high"] if scale else ["low", 3]
    with pytest.raises(NotOnScale, match=words):
        on_scale(from_columns([values, values]), scale)


def test_tens_of_thousands_of_units_are_counted():
    column = [place % 7 for place in range(40_000)]
    found = nominal_alpha(from_columns([column, column[:39_000] + [8] * 1000]))
    assert (found.units, found.raters, found.values, found.answers) == (40_000, 2, 8, 80_000)
    assert found.low < found.value < found.high < 1
