"""Quantiles and tails against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import special, stats

from evaluation.metrics.quantiles import half_binomial, incomplete_beta, t_quantile, two_sided

INFINITE = float("inf")


@pytest.mark.parametrize(
    ("df", "printed"), [(1, 12.706), (5, 2.571), (30, 2.042), (120, 1.980), (INFINITE, 1.960)]
)
def test_the_quantiles_of_the_printed_tables(df, printed):
    assert t_quantile(0.95, df) == pytest.approx(printed, abs=5e-4)


@given(some.floats(0.3, 1e5), some.floats(0.01, 0.999))
def test_t_quantiles(df, level):
    assert t_quantile(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-7)


@given(some.floats(0.3, 1e5), some.floats(-60, 60))
def test_tails_of_t(df, t):
    assert two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-6, abs=1e-290)


def test_ends_of_t():
    assert (two_sided(0, 7), two_sided(INFINITE, 7), two_sided(-INFINITE, 7)) == (1, 0, 0)
    assert two_sided(1.959963984540054, INFINITE) == pytest.approx(0.05)
    assert two_sided(40, 300) == pytest.approx(2 * stats.t.sf(40, 300), rel=1e-9)


@given(some.floats(0.05, 300), some.floats(0.05, 300), some.floats(0, 1))
def test_the_incomplete_beta_function(a, b, x):
    assert incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-8, abs=1e-280)


@given(some.integers(0, 3000).flatmap(lambda n: some.tuples(some.integers(0, n), some.just(n))))
def test_fair_coins(pair):
    hits, n = pair
    below, here = half_binomial(hits, n)
    assert below == pytest.approx(stats.binom.cdf(hits, n, 0.5), rel=1e-8, abs=1e-290)
    assert here == pytest.approx(stats.binom.pmf(hits, n, 0.5), rel=1e-8, abs=1e-290)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: two_sided(1, 0),
        lambda: t_quantile(1, 3),
        lambda: t_quantile(0, 3),
        lambda: incomplete_beta(1, 1, 1.1),
        lambda: half_binomial(4, 3),
    ],
)
def test_what_makes_no_sense_is_refused(asked):
    with pytest.raises(ValueError):
        asked()
