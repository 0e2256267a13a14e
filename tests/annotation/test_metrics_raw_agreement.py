"""Percent agreement and AC1 against published values and what must hold for any data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from statsmodels.stats.proportion import proportion_confint

from annotation.metrics.agreement import Undefined, from_columns, gwet_ac1, nominal_alpha, percent_agreement

NO = None
# the four raters of Gwet (2014), Handbook of Inter-Rater Reliability, table 2.10 (Krippendorff's example C)
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
]
BOTH = [percent_agreement, gwet_ac1]
columns = some.integers(1, 12).flatmap(
    lambda units: some.lists(
        some.lists(some.none() | some.integers(1, 5), min_size=units, max_size=units), min_size=1, max_size=4
    )
)


def test_the_published_example_comes_out():
    ratings = from_columns(FOUR)
    assert percent_agreement(ratings).value == pytest.approx(0.81818, abs=5e-6)
    assert gwet_ac1(ratings).value == pytest.approx(0.77544, abs=5e-6)
    assert [measure(ratings).units for measure in BOTH] == [11, 11]


def test_two_raters_agree_as_often_as_they_say_the_same_with_wilsons_interval():
    found = percent_agreement(from_columns([[1] * 20 + [2] * 10, [1] * 15 + [2] * 15]))
    assert found.value == pytest.approx(25 / 30)
    low, high = proportion_confint(25, 30, method="wilson")
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(("second", "value"), [([1, 2, 3], 1), ([2, 3, 1], 0)])
def test_all_and_nothing_are_not_certain(second, value):
    found = percent_agreement(from_columns([[1, 2, 3], second]))
    assert found.value == value
    assert found.high - found.low == pytest.approx(0.5615, abs=1e-4)
    assert value in (found.low, found.high)


def test_every_unit_counts_the_same_however_many_answered_it():
    ratings = from_columns([[1, 1], [1, 2], [1, NO], [1, NO]])
    assert percent_agreement(ratings).value == 0.5


def test_one_value_only_is_full_agreement_but_says_nothing_beyond_chance():
    ratings = from_columns([[7, 7], [7, 7]])
    assert percent_agreement(ratings).value == 1
    assert (gwet_ac1(ratings).value, gwet_ac1(ratings).undefined) == (None, Undefined.ONE_VALUE)
    assert gwet_ac1(ratings, [6, 7]).value == 1


def test_ac1_stands_where_nearly_everybody_says_the_same_and_alpha_falls():
    ratings = from_columns(
        [["human"] * 90 + ["model"] * 10, ["human"] * 80 + ["model"] * 10 + ["human"] * 10]
    )
    assert nominal_alpha(ratings).value < 0
    assert gwet_ac1(ratings).value > 0.7


@pytest.mark.parametrize("measure", BOTH)
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([], Undefined.EMPTY),
        ([[NO], [NO]], Undefined.EMPTY),
        ([[1, 2]], Undefined.ONE_RATER),
        ([[1, NO], [NO, 2]], Undefined.NOTHING_PAIRED),
    ],
)
def test_what_cannot_be_said_is_said_in_words(measure, columns, reason):
    found = measure(from_columns(columns))
    assert (found.value, found.low, found.high, found.undefined) == (None, None, None, reason)
    assert found.words.endswith(".")


@given(columns, some.randoms(), some.permutations([1, 2, 3, 4, 5]))
def test_neither_raters_nor_units_nor_names_of_values_matter(columns, random, names):
    units = [list(unit) for unit in zip(*columns, strict=True)]
    random.shuffle(units)
    other = [[value and names[value - 1] for value in column] for column in zip(*units, strict=True)]
    random.shuffle(other)
    for measure in BOTH:
        one, two = (measure(from_columns(table), draws=0) for table in (columns, other))
        assert one.undefined == two.undefined
        assert one.value == pytest.approx(two.value)


@given(columns)
def test_a_result_is_a_number_within_its_bounds_or_words(columns):
    for measure, least in zip(BOTH, (0, -1), strict=True):
        found = measure(from_columns(columns), draws=50)
        assert (found.value is None) == (found.undefined is not None)
        if found.value is not None:
            assert least <= found.value <= 1
            assert found.low is not None or found.words
        if found.low is not None:
            assert least <= found.low < found.high <= 1 or found.low == found.high == found.value


@given(columns)
def test_ac1_is_what_its_formula_gives(columns):
    units = [[v for v in unit if v is not None] for unit in zip(*columns, strict=True)]
    units = [unit for unit in units if unit]
    values = sorted({value for unit in units for value in unit})
    found = gwet_ac1(from_columns(columns), draws=0)
    if found.value is None:
        return
    agreed = np.mean(
        [
            sum(unit.count(v) * (unit.count(v) - 1) for v in values) / (len(unit) * (len(unit) - 1))
            for unit in units
            if len(unit) > 1
        ]
    )
    share = np.array([np.mean([unit.count(v) / len(unit) for unit in units]) for v in values])
    chance = (share * (1 - share)).sum() / (len(values) - 1)
    assert found.value == pytest.approx((agreed - chance) / (1 - chance))
