"""Cohen's kappa against textbook tables and two independent libraries."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.metrics.agreement import NotOnScale, Undefined, Weights, cohen_kappa

SCALE = (1, 2, 3, 4, 5)
pairs = some.lists(some.tuples(some.sampled_from(SCALE), some.sampled_from(SCALE)), min_size=1, max_size=30)


def pairs_of(table):
    return [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def test_a_table_of_yes_and_no():
    found = cohen_kappa(pairs_of([[20, 5], [10, 15]]))
    assert found.value == pytest.approx(0.4)
    assert (found.units, found.raters, found.values, found.answers) == (50, 2, 2, 100)


@pytest.mark.parametrize("weights", list(Weights))
def test_a_larger_table_and_its_interval_as_statsmodels_has_them(weights):
    # Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72, 323-327: 200 patients, three diagnoses
    table = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
    wanted = cohens_kappa(np.array(table), wt=None if weights is Weights.PLAIN else weights.value)
    found = cohen_kappa(pairs_of(table), weights=weights, scale=(0, 1, 2))
    assert found.value == pytest.approx(wanted.kappa)
    assert found.low == pytest.approx(wanted.kappa_low, abs=0.02)
    assert found.high == pytest.approx(wanted.kappa_upp, abs=0.02)


def test_the_published_value_of_that_table():
    assert cohen_kappa(pairs_of([[106, 10, 4], [22, 28, 10], [2, 12, 6]])).value == pytest.approx(
        0.429, abs=5e-4
    )


@given(pairs)
def test_scikit_learn_says_the_same(pairs):
    first, second = zip(*pairs, strict=True)
    assume(len({*first, *second}) > 1)
    for weights in Weights:
        wanted = cohen_kappa_score(
            first, second, labels=SCALE, weights=None if weights is Weights.PLAIN else weights.value
        )
        assert cohen_kappa(pairs, weights=weights, scale=SCALE, draws=0).value == pytest.approx(wanted)


@given(pairs, some.randoms())
def test_neither_who_is_first_nor_the_order_of_units_matters(pairs, random):
    other = [(second, first) for first, second in pairs]
    random.shuffle(other)
    for weights in Weights:
        one, two = (cohen_kappa(given, weights=weights, scale=SCALE, draws=0) for given in (pairs, other))
        assert one.undefined == two.undefined
        assert one.value == pytest.approx(two.value)


@given(pairs, some.permutations(SCALE))
def test_plain_kappa_does_not_see_the_names_of_values(pairs, names):
    renamed = [(names[one - 1], names[other - 1]) for one, other in pairs]
    assert cohen_kappa(pairs, draws=0).value == pytest.approx(cohen_kappa(renamed, draws=0).value)


def test_units_that_one_of_the_two_left_out_do_not_count():
    full = pairs_of([[20, 5], [10, 15]])
    assert cohen_kappa([*full, (1, None), (None, 0), (None, None)]) == cohen_kappa(full)


@pytest.mark.parametrize("weights", list(Weights))
@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], Undefined.EMPTY),
        ([(None, None)], Undefined.EMPTY),
        ([(1, None), (2, None)], Undefined.ONE_RATER),
        ([(1, None), (None, 2)], Undefined.NOTHING_PAIRED),
        ([(3, 3)] * 5, Undefined.ONE_VALUE),
        ([(3, 3), (3, 3), (4, None), (None, 4)], Undefined.ONE_VALUE),
    ],
)
def test_what_cannot_be_said_is_said_in_words(weights, pairs, reason):
    found = cohen_kappa(pairs, weights=weights, scale=SCALE)
    assert (found.value, found.low, found.high, found.undefined) == (None, None, None, reason)
    assert found.words.endswith(".")


def test_one_rater_who_always_says_the_same_has_chance_agreement():
    assert cohen_kappa([(1, 1), (1, 2), (1, 2)]).value == pytest.approx(0)
    assert cohen_kappa([(1, 2)] * 4).value == pytest.approx(0)


def test_unanimity_is_one_with_an_interval_that_is_not_empty():
    for weights in Weights:
        found = cohen_kappa([(1, 1)] * 10 + [(2, 2)] * 10, weights=weights, scale=SCALE)
        assert (found.value, found.high) == (1, 1)
        # one in six could still differ (Wilson), against one in two by chance
        assert found.low == pytest.approx(1 - 0.1611 / 0.5, abs=1e-3)


def test_weights_count_steps_of_the_scale_and_not_of_the_values_given():
    pairs = [(1, 1), (1, 5), (5, 5), (2, 2), (5, 2)]
    named = cohen_kappa(pairs, weights=Weights.LINEAR, scale=SCALE)
    found = cohen_kappa(pairs, weights=Weights.LINEAR)
    assert named.value != pytest.approx(found.value)


def test_a_value_off_the_scale_is_refused():
    with pytest.raises(NotOnScale, match="not on the scale: 6"):
        cohen_kappa([(1, 6)], scale=SCALE)


def test_the_same_seed_gives_the_same_interval():
    table = pairs_of([[20, 5], [10, 15]])
    assert cohen_kappa(table, seed=1) == cohen_kappa(table, seed=1) != cohen_kappa(table, seed=2)
