"""95 % intervals of a simulated leaderboard, whose truth is known, hold it in 93 to 97 % of 500 draws.

A profile has one to eight attributes as often as in the published labels; how easily it is read is common to
its attributes (a normal variable with the share `alike` of the variance), so they are correlated within it.
"""

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.metrics.intervals import clustered, clustered_difference, paired_bootstrap

DRAWS, PROFILES = 500, 269
OFTEN = np.array([0.69, 0.37, 0.33, 0.32, 0.27, 0.15, 0.08, 0.12])
MIXED = np.array([0.71, 0.92, 0.69, 0.86, 0.62, 0.64, 0.76, 0.47])
NEAR_ALL = np.array([0.98, 0.93, 0.95, 0.97, 0.9, 0.99, 0.95, 0.9])
CASES = [
    pytest.param(MIXED, 0.0, id="mixed, independent"),
    pytest.param(MIXED, 0.5, id="mixed, correlated"),
    pytest.param(np.full(8, 0.95), 0.5, id="95 %, correlated"),
    pytest.param(NEAR_ALL, 0.3, id="near 95 %, correlated"),
    pytest.param(1 - NEAR_ALL, 0.5, id="near 5 %, correlated"),
]


def boards(chances, alike, seed, count=DRAWS, profiles=PROFILES):
    """(profile, attribute, scores of a model, of another) of each draw; the other is 3 points worse."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        has = rng.random((profiles, 8)) < OFTEN
        has[~has.any(axis=1), 0] = True
        profile, attribute = np.nonzero(has)
        one, other = (
            np.sqrt(alike) * rng.standard_normal(profiles)[profile]
            + np.sqrt(1 - alike) * rng.standard_normal(profile.size)
            for _ in range(2)
        )
        other = 0.6 * one + 0.8 * other
        worse = np.clip(chances - 0.03, 0.01, 0.99)
        yield (
            profile.tolist(),
            attribute.tolist(),
            (one < norm.ppf(chances)[attribute]).astype(float),
            (other < norm.ppf(worse)[attribute]).astype(float),
        )


def truths(chances):
    """Expected micro accuracy, expected mean over profiles, expected mean over attributes."""
    empty = np.prod(1 - OFTEN)
    shares = OFTEN + empty * (np.arange(8) == 0)
    sets = (np.arange(256)[:, None] >> np.arange(8)) & 1
    often = np.where(sets, OFTEN, 1 - OFTEN).prod(axis=1)
    means = np.where(
        sets.any(axis=1), (sets * chances).sum(axis=1) / np.maximum(sets.sum(axis=1), 1), chances[0]
    )
    return shares @ chances / shares.sum(), often @ means, chances.mean()


def held(found, truth):
    return found.low <= truth <= found.high


@pytest.mark.parametrize(("chances", "alike"), CASES)
def test_accuracy_and_its_macro_averages_are_covered(chances, alike):
    micro, by_profile, by_attribute = truths(chances)
    hits = np.zeros(3)
    for profile, attribute, scores, _ in boards(chances, alike, seed=11):
        means = np.bincount(profile, weights=scores) / np.bincount(profile)
        hits += (
            held(clustered(scores, profile), micro),
            held(clustered(means, range(PROFILES)), by_profile),
            held(clustered(scores, profile, strata=attribute), by_attribute),
        )
    coverage = hits / DRAWS
    assert ((coverage >= 0.93) & (coverage <= 0.97)).all(), coverage


@pytest.mark.parametrize(("chances", "alike"), CASES)
def test_paired_differences_are_covered(chances, alike):
    truth = truths(chances)[0] - truths(np.clip(chances - 0.03, 0.01, 0.99))[0]
    hits = sum(
        held(clustered_difference(one - other, profile), truth)
        for profile, _, one, other in boards(chances, alike, seed=12)
    )
    assert 0.93 <= hits / DRAWS <= 0.97


def test_paired_differences_are_covered_by_the_bootstrap():
    truth = truths(MIXED)[0] - truths(MIXED - 0.03)[0]
    hits = sum(
        held(paired_bootstrap(one, other, profile, draws=300), truth)
        for profile, _, one, other in boards(MIXED, 0.5, seed=12)
    )
    assert 0.93 <= hits / DRAWS <= 0.97


def test_a_few_profiles_are_covered_too():
    hits = sum(
        held(clustered(scores, profile), 0.95)
        for profile, _, scores, _ in boards(np.full(8, 0.95), 0.5, seed=13, profiles=15)
    )
    assert hits / DRAWS >= 0.93


def test_an_interval_that_takes_items_as_independent_would_not_do():
    hits = sum(
        held(clustered(scores, range(len(scores))), truths(MIXED)[0])
        for _, _, scores, _ in boards(MIXED, 0.9, seed=14)
    )
    assert hits / DRAWS < 0.93
