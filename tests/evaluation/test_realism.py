"""Telling synthetic texts from real ones: planted differences, none, leaks, what cannot be measured."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from sklearn.metrics import roc_auc_score

from evaluation.metrics.realism import NO_WORDS, Realism, Text, _dealt, _interval, _measured, _wins, realism
from evaluation.metrics.realism_model import Leak, Model, folds_of, splits

WORDS = [f"word{number}" for number in range(200)]
WEIGHTS = [1 / (number + 2) for number in range(200)]


def corpus(seed, groups=12, each=5, own=0.3, marked=0.0, between=0):
    """Texts of twelve words, `own` of them from the group's own favourites; `marked` of the synthetic ones
    end with a word of their own."""
    rng = random.Random(seed)
    texts = []
    for is_synthetic in (False, True):
        for group in range(groups):
            favourites = rng.sample(WORDS, 6)
            for _ in range(each):
                said = [
                    rng.choice(favourites) if rng.random() < own else rng.choices(WORDS, WEIGHTS)[0]
                    for _ in range(12)
                ]
                if is_synthetic and rng.random() < marked:
                    said.append("moreover")
                texts.append(Text(" ".join(said), is_synthetic, (is_synthetic, group)))
    return texts


def test_a_planted_difference_is_found_and_named():
    found = realism(corpus(1, marked=0.7), seed=3, draws=400)
    assert found.auc > 0.75
    assert found.low > 0.5
    assert found.is_told_apart is True
    assert found.low <= found.auc <= found.high
    first = found.synthetic_words[0]
    assert (first.kind, first.text, first.real) == ("word", "moreover", 0)
    assert first.synthetic == sum("moreover" in one.text for one in corpus(1, marked=0.7))
    assert all(one.contribution > 0 for one in (*found.synthetic_words, *found.real_words))
    assert "moreover" not in {one.text for one in found.real_words}
    assert (found.real, found.synthetic, found.real_groups, found.synthetic_groups) == (60, 60, 12, 12)


def test_where_there_is_no_difference_the_interval_mostly_holds_chance():
    found = [realism(corpus(seed, each=4), seed=seed, draws=200) for seed in range(12)]
    assert sum(one.low <= 0.5 <= one.high for one in found) >= 9
    assert sum(one.is_told_apart for one in found) <= 2


def test_the_permutation_test():
    planted = realism(corpus(1, groups=10, each=3, marked=0.9), seed=1, draws=50, permutations=19)
    assert planted.p == pytest.approx(1 / 20)
    ps = [realism(corpus(seed, groups=10, each=2), seed=seed, draws=2, permutations=9).p for seed in range(8)]
    assert all(round(10 * p) in range(1, 11) for p in ps)
    assert 0.3 < np.mean(ps) < 0.85
    assert realism(corpus(1, groups=10, each=2), seed=1, draws=2).p is None


def test_kinds_are_dealt_out_by_whole_groups():
    kinds, groups = np.repeat([True, False, False], 4), np.repeat([0, 1, 2], 4)
    dealt = list(_dealt(kinds, groups, 40, 1))
    assert all(one.sum() == 4 and len(set(groups[one])) == 1 for one in dealt)
    assert {int(groups[one][0]) for one in dealt} == {0, 1, 2}


def test_the_same_seed_gives_the_same_numbers():
    texts = corpus(2, marked=0.3)
    one, same, other = (realism(texts, seed=seed, draws=100) for seed in (4, 4, 5))
    assert one == same
    assert one.auc != other.auc


def test_what_is_learned_of_a_group_does_not_help_with_the_group():
    """Groups with words of their own, kinds alike: a split that ignores groups sees a large difference."""
    texts = corpus(1, own=0.7)
    apart = realism(texts, seed=1, draws=200)
    leaking = realism(
        [Text(one.text, one.is_synthetic, number) for number, one in enumerate(texts)], seed=1, draws=200
    )
    assert apart.is_told_apart is False
    assert apart.auc < 0.6
    assert leaking.auc > 0.95


@given(some.lists(some.integers(1, 6), min_size=4, max_size=20), some.integers(2, 4), some.integers(0, 99))
def test_no_group_is_on_both_sides(sizes, folds, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    kinds = groups % 2 == 0
    parts = folds_of(kinds, groups, folds, seed)
    assert parts.min() >= 0
    assert parts.max() < folds
    seen = []
    for fit, score in splits(parts, groups):
        assert not set(groups[fit]) & set(groups[score])
        seen += score.tolist()
    assert sorted(seen) == list(range(len(kinds)))


def test_both_kinds_are_in_every_fold():
    groups = np.repeat(np.arange(24), 3)
    kinds = groups < 6
    parts = folds_of(kinds, groups, 5, 1)
    for part in range(5):
        assert {True, False} == set(kinds[parts == part].tolist())


def test_a_leak_would_be_seen():
    with pytest.raises(Leak):
        list(splits(np.array([0, 1, 0, 1]), np.array([1, 1, 2, 3])))


def test_a_group_of_both_kinds_is_refused():
    texts = [*corpus(1), Text("word1 word2", True, (False, 0))]
    with pytest.raises(ValueError, match="has real and synthetic texts"):
        realism(texts, seed=1)


@pytest.mark.parametrize("options", [{"folds": 1}, {"draws": 1}, {"permutations": -1}])
def test_impossible_numbers_are_refused(options):
    with pytest.raises(ValueError):
        realism(corpus(1), seed=1, **options)


def test_one_kind_and_none():
    real = [one for one in corpus(1) if not one.is_synthetic]
    found = realism(real, seed=1)
    assert (found.auc, found.low, found.is_told_apart) == (None, None, None)
    assert found.words == "There are only real texts: nothing can be compared."
    assert (found.real, found.synthetic) == (60, 0)
    synthetic = [one for one in corpus(1) if one.is_synthetic]
    assert "only synthetic texts" in realism(synthetic, seed=1).words
    assert "only no texts" in realism([], seed=1).words


def test_too_few_groups():
    texts = corpus(1, groups=9)
    found = realism(texts, seed=1, unit="authors")
    assert (found.auc, found.words) == (None, "Only 9 authors of real texts; at least 10 are needed.")
    more = realism(corpus(1, groups=11), seed=1, folds=12)
    assert "at least 12 are needed" in more.words


def test_texts_that_share_nothing():
    texts = [
        Text(chr(0x4E00 + 2 * number), kind, (kind, number + 100 * kind))
        for kind in (False, True)
        for number in range(100 * kind, 100 * kind + 12)
    ]
    found = realism(texts, seed=1)
    assert (found.auc, found.words) == (None, NO_WORDS)


def test_signs_without_words_are_compared_by_characters():
    rng = random.Random(1)
    texts = [
        Text("".join(rng.choices("!?.", (1, 1, 5) if kind else (5, 1, 1), k=9)), kind, (kind, number))
        for kind in (False, True)
        for number in range(20)
    ]
    found = realism(texts, seed=1, draws=100)
    assert found.auc > 0.8
    assert {one.kind for one in found.synthetic_words} == {"characters"}


@given(
    some.lists(
        some.tuples(some.integers(0, 3), some.booleans(), some.integers(0, 4)), min_size=2, max_size=30
    ).filter(lambda rows: len({kind for _, kind, _ in rows}) == 2)
)
def test_the_area_is_that_of_scikit_learn(rows):
    scores = np.array([score for score, _, _ in rows], dtype=float)
    kinds = np.array([kind for _, kind, _ in rows])
    groups = np.array([group for _, _, group in rows])
    wins = _wins(scores, kinds, groups, np.zeros(len(rows), dtype=np.int64))
    assert wins.won.sum() / wins.pairs.sum() == pytest.approx(roc_auc_score(kinds, scores))
    assert wins.pairs.sum() == kinds.sum() * (~kinds).sum()


def test_pairs_of_different_folds_are_not_compared():
    scores = np.array([1.0, 0.0, 101.0, 100.0])
    kinds, groups = np.array([True, False, True, False]), np.arange(4)
    wins = _wins(scores, kinds, groups, np.array([0, 0, 1, 1]))
    assert (wins.won.sum(), wins.pairs.sum()) == (2, 2)
    swapped = _wins(np.array([1.0, 0.0, 100.0, 101.0]), kinds, groups, np.array([0, 0, 1, 1]))
    assert (swapped.won.sum(), swapped.pairs.sum()) == (1, 2)


def test_perfect_separation_has_an_interval():
    scores, kinds = np.array([2.0] * 10 + [1.0] * 10), np.array([True] * 10 + [False] * 10)
    wins = _wins(scores, kinds, np.arange(20), np.zeros(20, dtype=np.int64))
    auc, low, high = _interval(wins, 100, 1, 0.95)
    assert (auc, high) == (1, 1)
    assert _interval(wins, 100, 1, 0.95, stretch=3.0) == (auc, low, high)
    # Wilson's lower end of 10 of 10
    assert low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)


def test_the_interval_is_that_of_whole_groups():
    """Twenty texts a group that are all alike say no more than one."""
    rng = np.random.default_rng(1)
    scores, kinds = rng.normal(size=40) + np.repeat([0.8, 0.0], 20), np.repeat([True, False], 20)
    once = _interval(_wins(scores, kinds, np.arange(40), np.zeros(40, dtype=np.int64)), 800, 1, 0.95)
    many = _interval(
        _wins(
            np.repeat(scores, 9),
            np.repeat(kinds, 9),
            np.repeat(np.arange(40), 9),
            np.zeros(360, dtype=np.int64),
        ),
        800,
        1,
        0.95,
    )
    assert once == pytest.approx(many)
    # Hanley and McNeil's (1982) standard error of independent texts
    auc, n = once[0], 20
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    error = np.sqrt((auc * (1 - auc) + (n - 1) * (q1 - auc**2 + q2 - auc**2)) / n**2)
    assert (once[2] - once[1]) / 3.92 == pytest.approx(error, rel=0.25)


def test_the_model_can_be_changed():
    texts = corpus(1, marked=0.7)
    plain = realism(texts, seed=1, draws=100, model=Model(most_words=5, most_characters=5))
    assert plain.auc != realism(texts, seed=1, draws=100).auc
    assert isinstance(plain, Realism)


def test_the_interval_is_stretched_about_the_area_and_cut():
    rng = np.random.default_rng(1)
    scores, kinds = rng.normal(size=40) + np.repeat([0.8, 0.0], 20), np.repeat([True, False], 20)
    wins = _wins(scores, kinds, np.arange(40), np.zeros(40, dtype=np.int64))
    auc, low, high = _interval(wins, 400, 1, 0.95)
    _, wide, wider = _interval(wins, 400, 1, 0.95, stretch=1.5)
    assert (auc - wide, wider - auc) == pytest.approx((1.5 * (auc - low), min(1 - auc, 1.5 * (high - auc))))
    assert _interval(wins, 400, 1, 0.95, stretch=99.0)[1:] == (0.0, 1.0)


@pytest.mark.parametrize(("folds", "factor"), [(5, 1.5), (2, 3**0.5)])
def test_the_interval_is_stretched_by_the_rule_of_nadeau_and_bengio(folds, factor):
    texts = corpus(1, marked=0.4)
    kinds = np.array([one.is_synthetic for one in texts])
    groups = np.repeat(np.arange(24), 5)
    wins = _measured([one.text for one in texts], kinds, groups, folds, Model(), 1)
    plain = _interval(wins, 400, 1, 0.95)
    found = realism(texts, seed=1, draws=400, folds=folds)
    assert found.auc == plain[0]
    assert found.auc - found.low == pytest.approx(factor * (plain[0] - plain[1]))
