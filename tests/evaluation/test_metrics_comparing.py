"""Comparisons against statsmodels and printed values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.contingency_tables import mcnemar as by_statsmodels
from statsmodels.stats.multitest import multipletests

from annotation.metrics.agreement import NotOnScale, Undefined
from evaluation.metrics.accuracy import Item, first_credit
from evaluation.metrics.comparing import (
    RepeatedItem,
    anchoring_shift,
    compare_all,
    confusion,
    difference,
    holm,
    mcnemar,
)
from evaluation.metrics.intervals import clustered_difference


def model(scores, profiles=None, outcome="answered"):
    return [
        Item(profiles[place] if profiles else f"p{place}", "age", 1, 5, (float(score),), outcome)
        for place, score in enumerate(scores)
    ]


def test_holms_adjustment_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.7, 0.8]) == (1, 1)
    with pytest.raises(ValueError, match="within 0 and 1"):
        holm([1.2])


@given(some.lists(some.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_mcnemars_printed_values():
    # Fagerland, Lydersen and Laake (2013), airway hyper-responsiveness: 1 against 7
    found = mcnemar(1, 7)
    assert (round(found.exact, 3), round(found.mid, 3)) == (0.070, 0.039)


@given(some.integers(0, 60), some.integers(0, 60))
def test_mcnemars_exact_test_is_that_of_statsmodels(only_first, only_second):
    found = mcnemar(only_first, only_second)
    wanted = by_statsmodels([[5, only_first], [only_second, 5]], exact=True).pvalue if found.exact < 1 else 1
    assert found.exact == pytest.approx(wanted)
    assert found.mid <= found.exact
    assert (found.mid == pytest.approx(1)) == (only_first == only_second)


def test_nothing_to_disagree_on_is_no_finding():
    assert (mcnemar(0, 0).exact, mcnemar(0, 0).mid) == (1, 1)
    with pytest.raises(ValueError):
        mcnemar(-1, 2)


def test_only_items_that_both_have_are_compared():
    one, other = model([1, 1, 0, 1]), model([0, 1, 0])
    found = difference(one, other, names=("A", "B"))
    assert (found.first, found.second, found.n, found.clusters) == ("A", "B", 3, 3)
    assert found.value == pytest.approx(1 / 3)
    assert (found.mcnemar.only_first, found.mcnemar.only_second) == (1, 0)


def test_failed_items_count_as_wrong_and_unsettled_ones_leave_both():
    right = model([1] * 6)
    failed = [replace(one, scores=(), outcome="refused") for one in right]
    assert difference(right, failed).value == 1
    unsettled = [*right[:3], *[replace(one, outcome="open") for one in right[3:]]]
    assert (difference(right, unsettled).n, difference(right, unsettled).value) == (3, 0)


def test_the_interval_is_clustered_by_profile():
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 2, 90), rng.integers(0, 2, 90)
    profiles = [f"p{place // 3}" for place in range(90)]
    with_names = lambda scores: [  # noqa: E731
        Item(profiles[at], str(at), 1, 5, (float(score),)) for at, score in enumerate(scores)
    ]
    found = difference(with_names(one), with_names(other))
    wanted = clustered_difference((one - other).astype(float), profiles)
    assert (found.low, found.high, found.p, found.clusters) == (wanted.low, wanted.high, wanted.p, 30)


def test_half_scores_have_no_mcnemar():
    found = difference(model([1, 0.5, 0.5]), model([0, 0, 0.5]), score=first_credit)
    assert (found.value, found.mcnemar) == (pytest.approx(0.5), None)


def test_two_ways_round_are_mirrored():
    rng = np.random.default_rng(4)
    one, other = model(rng.integers(0, 2, 50)), model(rng.integers(0, 2, 50))
    there, back = difference(one, other), difference(other, one)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert there.p == pytest.approx(back.p)


def test_all_pairs_are_adjusted_together_and_counted():
    rng = np.random.default_rng(5)
    good, alike, bad = (model(rng.random(300) < share) for share in (0.8, 0.78, 0.4))
    found = compare_all({"good": good, "alike": alike, "bad": bad})
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("good", "alike"),
        ("good", "bad"),
        ("alike", "bad"),
    ]
    assert [pair.holm for pair in found.pairs] == pytest.approx(list(holm([pair.p for pair in found.pairs])))
    assert (found.excluding, found.of) == (2, 3)
    assert found.words == "2 of 3 pairwise differences exclude zero (Holm, 5 %)."


def test_pairs_that_share_nothing_are_not_among_those_counted():
    found = compare_all({"A": model([1, 0, 1]), "B": model([0, 0, 1]), "C": model([1, 1], ["x", "y"])})
    assert (found.of, found.pairs[1].value, found.pairs[1].holm) == (1, None, None)
    assert found.pairs[1].words == "They share no items."
    assert found.words.endswith("2 more could not be compared.")
    assert compare_all({}).words == "0 of 0 pairwise differences exclude zero (Holm, 5 %)."


def test_the_same_item_twice_is_refused_by_name():
    with pytest.raises(RepeatedItem, match="model 'second': 'age' of profile 'p'"):
        difference(model([1]), model([1, 0], ["p", "p"]))


def test_the_anchoring_shift_and_its_interval():
    assisted = [1.0] * 80 + [0.0] * 20, [f"a{place // 2}" for place in range(100)]
    blind = [1.0] * 60 + [0.0] * 40, [f"b{place // 2}" for place in range(100)]
    found = anchoring_shift(assisted, blind)
    assert (found.assisted.value, found.blind.value, found.value) == (0.8, 0.6, pytest.approx(0.2))
    assert 0 < found.low < 0.2 < found.high < 0.4
    back = anchoring_shift(blind, assisted)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_a_shift_from_all_to_all_is_not_certain_and_one_arm_alone_says_nothing():
    everybody = anchoring_shift(([1] * 9, range(9)), ([1] * 9, range(10, 19)))
    assert everybody.value == 0
    assert everybody.low < 0 < everybody.high
    alone = anchoring_shift(([1, 0], [1, 2]), ([], []))
    assert (alone.value, alone.words) == (None, "There are no items.")


def test_arms_that_have_a_cluster_in_common_are_refused():
    with pytest.raises(ValueError, match="1 clusters are in both arms"):
        anchoring_shift(([1, 0], [1, 2]), ([1, 0], [2, 3]))


def test_hardness_of_a_model_against_that_of_a_person():
    rng = np.random.default_rng(6)
    person = rng.integers(1, 6, 200)
    guessed = np.clip(person + rng.integers(-1, 2, 200), 1, 5)
    found = confusion([*zip(guessed.tolist(), person.tolist(), strict=True), (1, None), (None, 2)])
    assert [list(row) for row in found.table] == confusion_matrix(guessed, person).tolist()
    assert found.n == 200
    assert found.same == pytest.approx((guessed == person).mean())
    for kappa, weights in ((found.linear, "linear"), (found.quadratic, "quadratic")):
        assert kappa.value == pytest.approx(cohen_kappa_score(guessed, person, weights=weights))
        assert kappa.low < kappa.value < kappa.high


def test_a_table_of_nothing_and_a_value_off_the_scale():
    found = confusion([])
    assert (found.n, found.same, found.quadratic.undefined) == (0, None, Undefined.EMPTY)
    with pytest.raises(NotOnScale, match="not on the scale: 6"):
        confusion([(1, 6)])
