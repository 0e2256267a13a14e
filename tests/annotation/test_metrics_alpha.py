"""Krippendorff's alpha against his own examples, an independent library, and what must hold for any data."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotation.metrics.agreement import (
    BadDistance,
    TooManyValues,
    Undefined,
    attribute_alpha,
    from_columns,
    nominal_alpha,
    ordinal_alpha,
)

NO = None
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, examples A, B and C
A = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
B = [list("aabbdcccedda"), list("babbbccceddd")]
C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
]
MEASURES = [nominal_alpha, ordinal_alpha, lambda ratings, **more: attribute_alpha(ratings, apart, **more)]


def apart(one, other):
    return 1.0 if abs(one - other) > 1 else 0.5


@pytest.mark.parametrize(
    ("measure", "columns", "published"),
    [
        (nominal_alpha, A, 0.095),
        (nominal_alpha, B, 0.692),
        (nominal_alpha, C, 0.743),
        (ordinal_alpha, C, 0.815),
    ],
)
def test_the_published_examples_come_out(measure, columns, published):
    assert measure(from_columns(columns)).value == pytest.approx(published, abs=0.0005)


def test_the_counts_are_of_what_was_paired():
    found = nominal_alpha(from_columns(C))
    assert (found.units, found.raters, found.values, found.answers) == (11, 4, 5, 40)


columns = some.integers(2, 5).flatmap(
    lambda raters: some.integers(1, 12).flatmap(
        lambda units: some.lists(
            some.lists(some.none() | some.integers(1, 5), min_size=units, max_size=units),
            min_size=raters,
            max_size=raters,
        )
    )
)


def by_library(columns, level):
    data = np.array([[np.nan if value is None else value for value in column] for column in columns], float)
    return krippendorff.alpha(reliability_data=data, level_of_measurement=level)


@given(columns)
def test_the_library_says_the_same(columns):
    for level, measure in (("nominal", nominal_alpha), ("ordinal", ordinal_alpha)):
        found = measure(from_columns(columns), draws=0)
        if found.value is not None:
            assert found.value == pytest.approx(by_library(columns, level))


@given(columns)
def test_a_distance_between_values_gives_what_the_formula_gives(columns):
    units = [[v for v in unit if v is not None] for unit in zip(*columns, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    said = [value for unit in units for value in unit]
    far = lambda one, other: 0.0 if one == other else apart(one, other)  # noqa: E731
    observed = sum(far(a, b) / (len(unit) - 1) for unit in units for a in unit for b in unit)
    expected = sum(far(a, b) for a in said for b in said) / max(len(said) - 1, 1)
    found = attribute_alpha(from_columns(columns), apart, draws=0)
    if expected:
        assert found.value == pytest.approx(1 - observed / expected)
    else:
        assert found.value is None


@given(columns, some.randoms())
def test_neither_the_order_of_raters_nor_of_units_matters(columns, random):
    shuffled = list(columns)
    random.shuffle(shuffled)
    units = list(zip(*shuffled, strict=True))
    random.shuffle(units)
    other = [list(column) for column in zip(*units, strict=True)]
    for measure in MEASURES:
        one, two = (measure(from_columns(table), draws=0) for table in (columns, other))
        assert one.undefined == two.undefined
        assert one.value == pytest.approx(two.value)


@given(columns, some.permutations([1, 2, 3, 4, 5]))
def test_nominal_values_may_be_renamed(columns, names):
    renamed = [[value and names[value - 1] for value in column] for column in columns]
    one, two = (nominal_alpha(from_columns(table), draws=0) for table in (columns, renamed))
    assert one.value == pytest.approx(two.value)


@given(columns)
def test_an_order_read_backwards_changes_nothing(columns):
    one = ordinal_alpha(from_columns(columns), [1, 2, 3, 4, 5], draws=0)
    two = ordinal_alpha(from_columns(columns), [5, 4, 3, 2, 1], draws=0)
    assert one.value == pytest.approx(two.value)


@given(columns)
def test_a_rater_who_said_nothing_and_a_unit_that_nobody_answered_change_nothing(columns):
    more = [[*column, None] for column in columns] + [[None] * (len(columns[0]) + 1)]
    for measure in MEASURES:
        assert measure(from_columns(columns)) == measure(from_columns(more))


@given(some.lists(some.integers(1, 5), min_size=2, max_size=12), some.integers(2, 4))
def test_unanimity_is_one_or_undefined_but_never_certain(said, raters):
    for measure in MEASURES:
        found = measure(from_columns([said] * raters))
        if len(set(said)) == 1:
            assert (found.value, found.undefined) == (None, Undefined.ONE_VALUE)
        else:
            assert (found.value, found.high) == (1, 1)
            assert -1 <= found.low < 1


@given(columns)
def test_a_result_is_a_number_within_its_bounds_or_words(columns):
    for measure in MEASURES:
        found = measure(from_columns(columns), draws=50)
        assert (found.value is None) == (found.undefined is not None)
        if found.value is None:
            assert (found.low, found.high) == (None, None)
            assert found.words
        else:
            assert -1 <= found.value <= 1
            assert found.low is not None or found.words
        if found.low is not None:
            assert -1 <= found.low <= found.high <= 1


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([], Undefined.EMPTY),
        ([[], []], Undefined.EMPTY),
        ([[NO, NO], [NO, NO]], Undefined.EMPTY),
        ([[1, 2, 3]], Undefined.ONE_RATER),
        ([[1, 2], [NO, NO]], Undefined.ONE_RATER),
        ([[1, NO], [NO, 2]], Undefined.NOTHING_PAIRED),
        ([[3, 3], [3, 3]], Undefined.ONE_VALUE),
        # the value 4 is on a unit that only one person answered
        ([[3, 3, 4], [3, 3, NO]], Undefined.ONE_VALUE),
    ],
)
def test_what_cannot_be_said_is_said_in_words(measure, columns, reason):
    found = measure(from_columns(columns))
    assert (found.value, found.low, found.high, found.undefined) == (None, None, None, reason)
    assert found.words.endswith(".")


def test_values_that_all_count_as_equal_leave_nothing_to_agree_on():
    found = attribute_alpha(from_columns([[1, 2], [2, 1]]), lambda one, other: 0)
    assert (found.value, found.undefined) == (None, Undefined.ALL_ALIKE)


def test_partly_right_costs_less_than_wrong():
    ratings = from_columns([[1, 2, 3, 5, 4], [1, 2, 3, 4, 4]])
    partly = attribute_alpha(ratings, lambda one, other: 0.5 if {one, other} == {4, 5} else 1)
    wrong = attribute_alpha(ratings, lambda one, other: 1)
    assert wrong.value == nominal_alpha(ratings).value < partly.value < 1
    assert (wrong.low, wrong.high) == (nominal_alpha(ratings).low, nominal_alpha(ratings).high)


def test_the_distance_is_asked_once_for_a_pair_and_never_for_equals():
    asked = []
    attribute_alpha(from_columns([[1, 2, 3] * 50, [1, 3, 3] * 50]), lambda *pair: asked.append(pair) or 1)
    assert sorted(sorted(pair) for pair in asked) == [[1, 2], [1, 3], [2, 3]]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_a_distance_out_of_bounds_is_refused(wrong):
    with pytest.raises(BadDistance, match="between 1 and 2"):
        attribute_alpha(from_columns([[1], [2]]), lambda one, other: wrong)


def test_more_values_than_can_be_compared_are_refused():
    with pytest.raises(TooManyValues, match="4000 different values"):
        attribute_alpha(from_columns([list(range(4000))] * 2), lambda one, other: 1)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    for measure in MEASURES:
        one, again, other = (measure(from_columns(C), seed=seed) for seed in (3, 3, 4))
        assert one == again
        assert (one.low, one.high) != (other.low, other.high)


def test_one_unit_and_too_few_that_differ_have_no_interval():
    single = nominal_alpha(from_columns([[1], [2]]))
    assert (single.value, single.low, single.high) == (0, None, None)
    assert "One unit only" in single.words
    few = nominal_alpha(from_columns([[1, 1, 1, 2], [1, 1, 1, 1]]))
    assert (few.value, few.low) == (0, None)
    assert "Too few" in few.words


@pytest.mark.parametrize("measure", MEASURES)
def test_the_interval_is_that_of_drawing_units(measure):
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    table = [np.where(rng.random(60) < 0.6, truth, rng.integers(1, 6, 60)) for _ in range(2)]
    found = measure(from_columns([column.tolist() for column in table]))
    drawn = []
    for _ in range(1000):
        units = rng.integers(0, 60, 60)
        drawn.append(measure(from_columns([column[units].tolist() for column in table]), draws=0).value)
    low, high = np.quantile(drawn, (0.025, 0.975))
    assert found.low == pytest.approx(low, abs=0.04)
    assert found.high == pytest.approx(high, abs=0.04)


def test_many_patterns_are_drawn_as_few_are():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 900, 3000)
    table = [np.where(rng.random(3000) < 0.7, truth, rng.integers(0, 900, 3000)) for _ in range(2)]
    found = nominal_alpha(from_columns([column.tolist() for column in table]))
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 3000)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)
