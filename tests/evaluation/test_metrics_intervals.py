"""Intervals against printed values, statsmodels and scipy, and never an empty one."""

from math import sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given
from hypothesis import strategies as some
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from annotation.metrics.proportions import wilson as wilson_of_counts
from evaluation.metrics.intervals import (
    Estimate,
    clustered,
    clustered_difference,
    independent_difference,
    paired_bootstrap,
    wilson,
)

SCORES = some.sampled_from([0.0, 0.5, 1.0])
items = some.lists(some.tuples(some.integers(0, 6), SCORES, SCORES), min_size=1, max_size=40)


def apart(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def test_wilsons_printed_values():
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I: method 3
    for hits, n, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)):
        found = wilson(hits, n)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(some.integers(1, 500).flatmap(lambda n: some.tuples(some.integers(0, n), some.just(n))))
def test_wilson_is_that_of_statsmodels_and_of_the_counts(pair):
    found = wilson(*pair)
    assert tuple(found) == pytest.approx(proportion_confint(*pair, method="wilson"), abs=1e-12)
    assert tuple(found) == pytest.approx(wilson_of_counts(*pair), abs=1e-12)


def test_wilson_of_nothing_and_of_the_impossible():
    assert wilson(0, 0) is None
    for hits, n in ((-1, 4), (5, 4)):
        with pytest.raises(ValueError, match="is no share"):
            wilson(hits, n)


@given(items)
def test_the_clustered_error_is_that_of_a_regression_on_nothing(rows):
    clusters, scores, _ = apart(rows)
    sizes = np.bincount(clusters)
    groups = np.count_nonzero(sizes)
    found = clustered(scores, clusters)
    assume(groups > 1 and found.error > 0)
    fit = sm.OLS(scores, np.ones(len(scores))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    shares = sizes / len(scores)
    assert found.value == pytest.approx(fit.params[0])
    assert found.error == pytest.approx(fit.bse[0] / sqrt(1 - (shares**2).sum()))


def test_the_formula_by_hand_for_clusters_of_one_size():
    found = clustered([1, 1, 0, 1, 0, 0], list("aabbcc"))
    # sums of deviations 1, 0, -1; G / (G - 1) = 3 / 2; two degrees of freedom
    assert found.error == pytest.approx(sqrt(2 * 1.5) / 6)
    assert (found.df, found.n, found.clusters) == (pytest.approx(2), 6, 3)
    assert found.effective == pytest.approx(0.25 / (3 / 36))


@given(some.lists(some.integers(1, 9), min_size=2, max_size=12))
def test_degrees_of_freedom_are_those_of_the_whole_matrix(sizes):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    n = np.array(sizes, float)
    matrix = np.diag(n) - np.outer(n, n) / n.sum()
    wanted = np.trace(matrix) ** 2 / np.trace(matrix @ matrix)
    found = clustered(np.arange(clusters.size) % 2, clusters.tolist())
    assert found.df == pytest.approx(wanted)
    assert found.df <= len(sizes) - 1 + 1e-9


def test_every_item_alone_is_nearly_wilson():
    found = clustered([1] * 800 + [0] * 200, range(1000))
    assert (found.low, found.high) == pytest.approx(tuple(wilson(800, 1000)), abs=2e-4)
    assert found.effective == pytest.approx(999)


def test_clusters_that_say_the_same_throughout_count_as_one_item_each():
    found = clustered([1.0] * 40 + [0.0] * 10, [place // 5 for place in range(50)])
    assert found.effective == pytest.approx(9)
    assert found.high - found.low > 2 * (wilson(40, 50).high - wilson(40, 50).low)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_and_nothing_are_not_certain(value):
    found = clustered([value] * 50, [place // 5 for place in range(50)])
    most = stats.t.ppf(0.975, 9) ** 2
    assert found.effective == pytest.approx(10)
    assert found.high - found.low == pytest.approx(most / (10 + most))
    assert value in (found.low, found.high)


@given(items)
def test_an_interval_is_never_empty_nor_leaves_0_to_1(rows):
    clusters, scores, others = apart(rows)
    for found in (clustered(scores, clusters), clustered(scores, clusters, strata=others)):
        assert 0 <= found.value <= 1
        if found.clusters < 2:
            assert (found.low, found.high) == (None, None)
            assert "one profile" in found.words
        else:
            assert 0 <= found.low <= found.value + 1e-12
            assert found.value - 1e-12 <= found.high <= 1
            assert found.high - found.low > 0.01


@given(items)
def test_a_difference_is_zero_by_its_interval_or_its_p_value_alike(rows):
    clusters, scores, others = apart(rows)
    found = clustered_difference(np.array(scores) - others, clusters)
    if found.clusters < 2:
        assert (found.low, found.p) == (None, None)
        return
    assert -1 <= found.low < found.high <= 1
    assert 0 <= found.p <= 1
    if found.error:
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_a_difference_with_one_item_a_cluster_is_the_paired_t_test():
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 2, 200).astype(float), rng.integers(0, 2, 200).astype(float)
    found, wanted = clustered_difference(one - other, range(200)), stats.ttest_rel(one, other)
    assert found.p == pytest.approx(wanted.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval()))


def test_no_difference_at_all_is_not_certain_and_a_constant_one_takes_the_sign_test():
    same = clustered_difference([0.0] * 40, [place // 2 for place in range(40)])
    assert (same.value, same.p, same.low, same.high) == (0, 1, -same.high, same.high)
    assert same.high == pytest.approx(wilson(0, 20).high)
    all_one = clustered_difference([1.0] * 6, range(6))
    assert (all_one.value, all_one.high, all_one.p) == (1, 1, pytest.approx(2 / 64))
    assert all_one.low < 1


def test_strata_count_the_same_however_many_items_they_have():
    scores, strata = [1.0] * 30 + [0.0, 1.0], ["many"] * 30 + ["few"] * 2
    found = clustered(scores, range(32), strata=strata)
    assert found.value == 0.75
    # half of the weight lies on two items
    assert found.effective <= 1 / (30 / 60**2 + 2 / 4**2)
    assert found.high - found.low > 0.5


def test_one_stratum_is_no_stratum():
    scores = [1, 0, 1, 1, 0, 1, 1, 0]
    plain = clustered(scores, list("aabbccdd"))
    found = clustered(scores, list("aabbccdd"), strata=["all"] * 8)
    assert found.value == plain.value
    assert found.error == pytest.approx(plain.error * sqrt(8 / 7))


@given(items, some.randoms())
def test_the_order_and_names_of_clusters_do_not_matter(rows, random):
    mixed = list(rows)
    random.shuffle(mixed)
    for strata in (False, True):
        one, two = (
            clustered(scores, clusters, strata=others if strata else None)
            for clusters, scores, others in (
                apart(rows),
                apart([(f"profile {cluster}", *rest) for cluster, *rest in mixed]),
            )
        )
        assert one.value == pytest.approx(two.value)
        assert one.low == pytest.approx(two.low, abs=1e-9)
        assert one.high == pytest.approx(two.high, abs=1e-9)


def test_the_bootstrap_is_near_the_formula_and_the_same_for_a_seed():
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(250), 3).tolist()
    lean = np.repeat(rng.random(250), 3)
    one, other = (rng.random(750) < lean).astype(float), (rng.random(750) < lean * 0.9).astype(float)
    found, plain = paired_bootstrap(one, other, clusters), clustered_difference(one - other, clusters)
    assert found.value == plain.value
    assert found.error == pytest.approx(plain.error, rel=0.06)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.006)
    assert found == paired_bootstrap(one, other, clusters)
    assert found != paired_bootstrap(one, other, clusters, seed=1)


def test_the_bootstrap_of_no_difference_is_not_certain():
    found = paired_bootstrap([1, 0, 1], [1, 0, 1], [1, 2, 3])
    assert found.value == 0
    assert found.low < 0 < found.high


def test_two_independent_shares_have_newcombes_interval():
    # 56 of 70 against 48 of 80: Newcombe (1998), table II, method 10
    one, other = (Estimate(hits / n, *wilson(hits, n), n, n) for hits, n in ((56, 70), (48, 80)))
    found = independent_difference(one, other)
    wanted = confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx(wanted)
    assert (round(wanted[0], 4), round(wanted[1], 4)) == (0.0524, 0.3339)
    assert (found.n, found.clusters) == (150, 150)


def test_nothing_and_one_cluster_are_said_in_words():
    for found in (clustered([], []), clustered_difference([], []), paired_bootstrap([], [], [])):
        assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
        assert found.words == "There are no items."
    some_items, single = clustered([1, 0], [1, 2]), clustered([1, 0], [1, 1])
    assert independent_difference(some_items, clustered([], [])).value is None
    assert independent_difference(some_items, single).value == 0
    assert "one profile" in independent_difference(single, some_items).words
    assert paired_bootstrap([1, 0], [0, 0], [1, 1]).low is None


def test_values_out_of_bounds_and_missing_clusters_are_refused():
    for values in ([1.1], [-0.1], [float("nan")]):
        with pytest.raises(ValueError, match="within 0 and 1"):
            clustered(values, [1])
    with pytest.raises(ValueError, match="within -1 and 1"):
        clustered_difference([-1.5], [1])
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        clustered([1, 0], [1])
