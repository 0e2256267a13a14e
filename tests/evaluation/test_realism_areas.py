"""Areas of threads and folds and the ROC curve, worked out from scores out of fold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.metrics.realism import _wins, realism
from evaluation.metrics.realism_areas import FEW_TEXTS, NOTHING_THERE, ONE_UNIT, Scored, areas, roc
from tests.evaluation.test_realism import corpus


def scored(seed=1, texts=240, folds=4, ties=False, shift=0.7):
    """Texts of 24 groups, half of each kind; with `ties` scores are whole numbers."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(texts) % 2 == 0
    author = np.arange(texts) // 2 % 12
    scores = rng.normal(size=texts) + shift * kinds
    return Scored(np.round(scores) if ties else scores, kinds, author * 2 + kinds, author % folds)


def area_under(points):
    across, up = np.array(points).T
    return float(np.trapezoid(up, across))


def by_hand(given, names, name):
    """Every pair of a text of the part with a real one of its fold."""
    won = pairs = 0.0
    for place in np.flatnonzero(given.kinds):
        if names[place] == name:
            for other in np.flatnonzero(~given.kinds & (given.parts == given.parts[place])):
                difference = given.scores[place] - given.scores[other]
                won += 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0
                pairs += 1
    return won / pairs


@given(some.integers(0, 200), some.booleans())
def test_the_curve_has_the_area_of_the_comparison(seed, ties):
    given = scored(seed, ties=ties)
    expected = _wins(given.scores, given.kinds, given.groups, given.parts).area
    points = roc(given, most=10_000)
    assert area_under(points) == pytest.approx(expected, abs=1e-9)
    assert (tuple(points[0]), tuple(points[-1])) == ((0, 0), (1, 1))
    across, up = np.array(points).T
    assert (np.diff(across) >= 0).all()
    assert (np.diff(up) >= -1e-9).all()
    thin = roc(given)
    assert len(thin) <= 200
    assert area_under(thin) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_of_a_part_is_that_of_its_pairs(ties):
    given = scored(3, ties=ties)
    names = [f"thread {place % 6}" for place in range(240)]
    found = areas(given, names, given.groups.tolist(), seed=1, draws=50)
    assert [one.name for one in found] == ["thread 0", "thread 2", "thread 4"]
    for one in found:
        assert one.auc == pytest.approx(by_hand(given, names, one.name))
        assert one.low <= one.auc <= one.high
        assert one.texts == 40


def test_a_planted_thread_comes_out_and_the_same_seed_gives_the_same_numbers():
    given = scored(5, texts=960, shift=0.0)
    names = [place % 8 for place in range(960)]
    given.scores[np.array(names) == 2] += 2.0
    one, same, other = (areas(given, names, given.groups.tolist(), seed=s, draws=200) for s in (1, 1, 2))
    assert one == same != other
    planted, *rest = sorted(one, key=lambda area: -area.auc)
    assert planted.name == 2
    assert planted.low > 0.8
    assert all(area.low < 0.5 < area.high for area in rest)


def test_what_has_too_few_texts_or_one_author_is_said():
    given = scored(1)
    names, units = ["many"] * 240, given.groups.tolist()
    for place in (0, 2, 4, 6):
        names[place] = "four"
    for place in (10, 12, 14, 16, 18):
        names[place], units[place] = "alone", "one"
    found = {one.name: one for one in areas(given, names, units, seed=1, draws=20)}
    assert found["four"][1:] == (4, 4, None, None, None, FEW_TEXTS.format(least=5))
    assert (found["alone"].low, found["alone"].words) == (None, ONE_UNIT)
    assert found["alone"].auc == pytest.approx(by_hand(given, names, "alone"))
    assert found["many"].words == ""


def test_an_area_of_one_has_wilsons_interval():
    given = scored(1, shift=1000.0)
    (one,) = areas(given, ["all"] * 240, given.groups.tolist(), seed=1, draws=20)
    assert (one.auc, one.high) == (1.0, 1.0)
    assert one.low == pytest.approx(12 / (12 + 1.96**2), abs=1e-3), "as of twelve independent authors"
    assert set(roc(given)) == {(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)}


def test_a_fold_without_real_texts_compares_nothing():
    given = scored(1)
    given.parts[given.kinds & (given.parts == 0)] = 9
    names = given.parts.tolist()
    found = {one.name: one for one in areas(given, names, given.groups.tolist(), seed=1, draws=20)}
    assert (found[9].auc, found[9].low, found[9].words) == (None, None, NOTHING_THERE)
    assert found[1].auc is not None


def test_without_one_kind_there_is_nothing():
    nothing = Scored(*(np.zeros(0, dtype=kind) for kind in (float, bool, np.int64, np.int64)))
    assert (areas(nothing, [], [], seed=1), roc(nothing)) == ([], ())
    real = Scored(np.zeros(3), np.zeros(3, dtype=bool), np.arange(3), np.zeros(3, dtype=np.int64))
    assert (areas(real, "abc", "abc", seed=1, draws=3), roc(real)) == ([], ())


def test_scores_of_a_real_comparison_go_in_as_they_come():
    texts = corpus(1, marked=0.7)
    measured = realism(texts, seed=3, draws=50, features=0)
    assert (measured.synthetic_words, measured.real_words) == ((), ())
    folds = areas(measured.scored, measured.scored.parts.tolist(), [one.group for one in texts], seed=3)
    assert sum(one.texts for one in folds) == 60
    assert area_under(roc(measured.scored, 10_000)) == pytest.approx(measured.auc)


def test_no_pair_of_texts_is_held(monkeypatch):
    """Nothing that is allocated grows faster than the texts: arrays of a number for each are the largest."""
    largest = []
    for texts in (480, 4800):
        sizes = []
        plain = np.bincount

        def counted(*given, plain=plain, sizes=sizes, **more):
            sizes.append(np.size(given[0]))
            return plain(*given, **more)

        monkeypatch.setattr(np, "bincount", counted)
        areas(scored(1, texts=texts), [n % 9 for n in range(texts)], list(range(texts)), seed=1, draws=2)
        monkeypatch.undo()
        largest.append((max(sizes), len(sizes)))
    assert largest[1][0] <= 10 * largest[0][0] + 10
    assert largest[1][1] == largest[0][1], "as many passes over ten times as many texts"
