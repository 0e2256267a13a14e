"""Quantiles and tail probabilities that the standard library does not have."""

from __future__ import annotations

from functools import lru_cache
from math import comb, exp, isinf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

_MOST_NEWTON = 100
_MOST_TERMS = 20_000
_NEAR = 1e-13
_TINY = 1e-300
_NORMAL_FROM = 1e7
"""From so many degrees of freedom on t is taken as normal; the quantiles differ by 1e-7."""


def two_sided(t: float, df: float) -> float:
    """Probability that a t variable with `df` > 0 degrees of freedom lies at least as far out as `t`.

    P(|T| ≥ |t|) = I_x(df/2, 1/2) with x = df / (df + t²), I the regularised incomplete beta function; good
    in the far tail too. 0 to 1; 1 for t = 0, 0 for infinite t. `df` may be infinite (normal distribution).
    Raises ValueError for df ≤ 0. Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions,
    26.7.1.
    """
    if df <= 0:
        raise ValueError(f"{df} degrees of freedom")
    if isinf(t):
        return 0.0
    if df >= _NORMAL_FROM:
        return 2 * NormalDist().cdf(-abs(t))
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: float) -> float:
    """The t with P(|T| ≤ t) = `level`, for 0 < level < 1: 1.96 at 0.95 and infinite degrees of freedom.

    Found by Newton's method, good to 7 digits. Raises ValueError for other levels and for df ≤ 0.
    """
    if not 0 < level < 1:
        raise ValueError(f"{level} is not a level between 0 and 1")
    start = NormalDist().inv_cdf((1 + level) / 2)
    if df >= _NORMAL_FROM:
        return start
    # log P(|T| ≥ t) is concave in log t, so Newton's steps come down to the root from above after the first.
    steep = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * pi)
    place = log(start)
    for _ in range(_MOST_NEWTON):
        t = exp(place)
        tail = two_sided(t, df)
        slope = 2 * t * steep * exp(-(df + 1) / 2 * log1p(t * t / df)) / tail
        step = (log(tail) - log(1 - level)) / slope
        place += step
        if abs(step) < 1e-11:
            break
    return exp(place)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for a, b > 0 and x within 0 and 1.

    Continued fraction, evaluated by Lentz's method on the side where it converges fast. Source: Abramowitz
    and Stegun 26.5.8; W. J. Lentz (1976), Applied Optics 15, 668-671.
    """
    if not 0 <= x <= 1:
        raise ValueError(f"{x} is not within 0 and 1")
    if x in (0.0, 1.0):
        return x
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < _NEAR:
            break
    return found


def _away(value: float) -> float:
    """The value, or next to nothing in place of 0."""
    return value if abs(value) > _TINY else _TINY


def half_binomial(hits: int, n: int) -> tuple[float, float]:
    """(P(X ≤ hits), P(X = hits)) for n fair coins; 0 ≤ hits ≤ n. Exact in whole numbers up to 1,000 coins."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if n <= 1000:
        total = 2**n
        return sum(comb(n, k) for k in range(hits + 1)) / total, comb(n, hits) / total
    here = exp(lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1) - n * log(2))
    below = 1.0 if hits == n else incomplete_beta(n - hits, hits + 1, 0.5)
    return below, here
