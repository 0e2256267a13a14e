"""Intervals of shares and differences whose items hang together, such as the attributes of one profile.

The clustered standard error of a mean over n items in clusters g, with a small-sample correction:

    SE² = c · Σ_g (Σ_{i in g} (s_i - mean))² / n²        c = 1 / (1 - Σ_g (n_g / n)²)

c is G / (G - 1) for G clusters of one size and makes SE² unbiased for independent items in clusters of any
sizes. Its degrees of freedom are Satterthwaite's, G - 1 for clusters of one size and fewer else.

A share is not given as ± t · SE, which is empty at 0 % and 100 % and too short near them. Its interval is
Wilson's with the t quantile and the effective sample size n* = p (1 - p) / SE². Where SE is 0 nothing is
known of how clusters hang together, and n* is as if every cluster were one item: n² / Σ_g n_g².

Source: E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640 (clustered error); R. M. Bell and
D. F. McCaffrey (2002), Survey Methodology 28, 169-181 (correction, degrees of freedom); E. L. Korn and
B. I. Graubard (1998), Survey Methodology 24, 193-201, and N. Dean and M. Pagano (2015), Journal of Survey
Statistics and Methodology 3, 484-503 (effective size in Wilson's interval); L. Kish (1965), Survey Sampling
(n* of one item a cluster).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from annotation.metrics.proportions import Interval
from evaluation.metrics.quantiles import t_quantile, two_sided

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL = 0.95
DRAWS = 2000
NO_ITEMS = "There are no items."
ONE_CLUSTER = "All items are of one profile: no interval can be given."
_AT_ONCE = 4_000_000
_ZERO = 1e-24
"""A variance below this is rounding."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval. Never NaN; `words` says why something is None.

    `value` is None for no items; `low`, `high`, `error` (standard error) and `df` are None with fewer than
    two clusters. `effective` is the number of independent items that would give the same error. `p` is the
    two-sided p-value of "the mean is 0"; for differences only.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    error: float | None = None
    df: float | None = None
    effective: float | None = None
    p: float | None = None
    words: str = ""


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval of successes / n; both may be fractions (effective sizes). None for n = 0.

    Formula and source: `annotation.metrics.proportions.wilson`. Raises ValueError unless 0 ≤ successes ≤ n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    return score_interval(successes / n, n, t_quantile(level, inf)) if n else None


def score_interval(share: float, n: float, z: float) -> Interval:
    """Wilson's interval of a share within 0 and 1, for n > 0 items and the quantile z."""
    square = z * z
    if square == inf:
        return Interval(0.0, 1.0)
    scale = 1 + square / n
    centre = (share + square / (2 * n)) / scale
    half = z / scale * sqrt(share * (1 - share) / n + square / (4 * n * n))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(0.0 if share == 0 else low, 1.0 if share == 1 else high)


def clustered(
    values: Sequence[float] | Floats,
    clusters: Sequence[Hashable],
    *,
    strata: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Mean of `values` (each 0 to 1) with the interval described above; values[i] is of clusters[i].

    With `strata` it is the mean over strata of each stratum's own mean (a macro average): item i then weighs
    1 / (A n_a) among A strata, and its deviation is from the mean of its stratum, times √(n_a / (n_a - 1));
    a stratum of one item is taken to deviate as it does from the whole, and n* is at most that of independent
    items of such weights, 1 / Σ weight², so that small strata which happen to be all right do not shorten the
    interval. Raises ValueError for a value outside 0 to 1 and for sequences of different length.
    """
    scores = _checked(values, clusters, 0.0)
    if not scores.size:
        return Estimate(None, None, None, 0, 0, words=NO_ITEMS)
    sums = _linear(scores, _codes(clusters), _codes(strata) if strata is not None else None)
    mean, n, groups = sums.mean, scores.size, sums.share.size
    if groups < 2:
        return Estimate(mean, None, None, n, groups, words=ONE_CLUSTER)
    variance, df = sums.variance, sums.df
    spread = mean * (1 - mean)
    if variance > _ZERO and spread > _ZERO:
        most = 1 / float(sums.square.sum()) if strata is not None else inf
        effective = min(spread / variance, most)
    else:
        effective = 1 / float(sums.share @ sums.share)
    low, high = score_interval(mean, effective, t_quantile(level, df))
    return Estimate(mean, low, high, n, groups, sqrt(variance), df, effective)


def clustered_difference(
    differences: Sequence[float] | Floats, clusters: Sequence[Hashable] | Ints, *, level: float = LEVEL
) -> Estimate:
    """Mean of paired `differences` (each -1 to 1): mean ± t · SE, cut at -1 and 1, and the p-value of t.

    The interval excludes 0 exactly where p < 1 - level. Where no cluster deviates (SE = 0), a share u of the
    items, Wilson's upper end of 0 in n*, may still lie at the far ends: from mean - u (1 + mean) to mean +
    u (1 - mean); p is then the sign test's over clusters, 2 · ½^G, and 1 for a mean of 0. Raises ValueError
    as `clustered` does.
    """
    scores = _checked(differences, clusters, -1.0)
    if not scores.size:
        return Estimate(None, None, None, 0, 0, words=NO_ITEMS)
    sums = _linear(scores, _codes(clusters), None)
    mean, n, groups = sums.mean, scores.size, sums.share.size
    if groups < 2:
        return Estimate(mean, None, None, n, groups, words=ONE_CLUSTER)
    df, error = sums.df, sqrt(sums.variance)
    if sums.variance <= _ZERO:
        low, high = _without_spread(mean, 1 / float(sums.share @ sums.share), level)
        p = min(1.0, 2 * 0.5**groups) if abs(mean) > 1e-12 else 1.0
        return Estimate(mean, low, high, n, groups, 0.0, df, None, p)
    half = t_quantile(level, df) * error
    p = two_sided(mean / error, df)
    return Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half), n, groups, error, df, None, p)


def paired_bootstrap(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    clusters: Sequence[Hashable],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Mean of first - second (scores 0 to 1 of the same items), percentile interval over drawn clusters.

    Whole clusters are drawn with replacement, `draws` times, the same for the same seed; `error` is the
    draws' standard deviation; no p-value. With fewer than about 50 clusters it is too short (10 % of true
    values missed with 15): give `clustered_difference` then. Where no draw differs the interval is that of
    `clustered_difference`. Source: B. Efron and R. Tibshirani (1993), chapters 6 and 13.
    """
    gap = _checked(first, clusters, 0.0) - _checked(second, clusters, 0.0)
    plain = clustered_difference(gap, clusters, level=level)
    if plain.low is None or not plain.error or draws < 2:
        return Estimate(plain.value, plain.low, plain.high, plain.n, plain.clusters, words=plain.words)
    codes = _codes(clusters)
    total, size = np.bincount(codes, weights=gap), np.bincount(codes).astype(np.float64)
    rng, groups, found = np.random.default_rng(seed), plain.clusters, []
    step = max(1, _AT_ONCE // groups)
    for start in range(0, draws, step):
        chosen = rng.multinomial(groups, np.full(groups, 1 / groups), size=min(step, draws - start))
        weights = chosen.astype(np.float64)
        found.append((weights @ total) / (weights @ size))
    means = np.concatenate(found)
    low, high = (float(end) for end in np.quantile(means, ((1 - level) / 2, (1 + level) / 2)))
    return Estimate(plain.value, low, high, plain.n, groups, float(means.std(ddof=1)))


def independent_difference(one: Estimate, other: Estimate) -> Estimate:
    """one - other for shares of two samples that have no cluster in common.

    The ends come from the ends of both intervals: low = d - √((p₁ - l₁)² + (u₂ - p₂)²), high likewise, so
    they stay within -1 and 1 and are of use near 0 % and 100 %. n and clusters are those of both. Source:
    R. G. Newcombe (1998), Statistics in Medicine 17, 873-890 (method 10).
    """
    n, groups = one.n + other.n, one.clusters + other.clusters
    if one.value is None or other.value is None:
        return Estimate(None, None, None, n, groups, words=one.words or other.words)
    gap = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(gap, None, None, n, groups, words=one.words or other.words)
    low = gap - sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    high = gap + sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)
    return Estimate(gap, low, high, n, groups)


@dataclass(frozen=True, eq=False)
class _Linear:
    """A weighted mean as sums over clusters: Σ of weights, Σ of weighted deviations, Σ of squared weights."""

    mean: float
    share: Floats
    deviation: Floats
    square: Floats

    @property
    def _left(self) -> float:
        """Share of the variance that deviations from the own mean keep: the trace of C over Σ square."""
        a, u = self.share, self.square
        return float(1 - 2 * (a @ u) / u.sum() + a @ a)

    @property
    def variance(self) -> float:
        """The corrected squared standard error."""
        left = self._left
        return float(self.deviation @ self.deviation) / left if left > 1e-12 else 0.0

    @property
    def df(self) -> float:
        """Satterthwaite's (tr C)² / tr C², C = diag(u) - a uᵀ - u aᵀ + (Σ u) a aᵀ; at least a quarter."""
        a, u = self.share, self.square
        whole = float(u.sum())
        aa, au, uu = float(a @ a), float(a @ u), float(u @ u)
        inside = float(u @ (whole * a * a - 2 * a * u))
        squares = uu + 2 * inside + 2 * aa * uu + 2 * au * au + (whole * aa) ** 2 - 4 * whole * aa * au
        return max(0.25, (whole * self._left) ** 2 / squares) if squares > 0 else 0.25


def _linear(scores: Floats, codes: Ints, strata: Ints | None) -> _Linear:
    if strata is None:
        weight = np.full(scores.size, 1 / scores.size)
        mean = float(scores.mean())
        off = scores - mean
    else:
        count = np.bincount(strata)
        means = np.bincount(strata, weights=scores) / count
        mean = float(means.mean())
        weight = 1 / (count.size * count[strata])
        many = count[strata] > 1
        grown = np.sqrt(count / np.maximum(count - 1, 1))
        off = np.where(many, (scores - means[strata]) * grown[strata], scores - mean)
    return _Linear(
        mean,
        _sums(codes, weight),
        _sums(codes, weight * off),
        _sums(codes, weight**2),
    )


def _sums(codes: Ints, weights: Floats) -> Floats:
    return np.bincount(codes, weights=weights).astype(np.float64)


def _without_spread(mean: float, effective: float, level: float) -> Interval:
    most = score_interval(0.0, effective, t_quantile(level, inf)).high
    return Interval(mean - most * (1 + mean), mean + most * (1 - mean))


def _checked(values: Sequence[float] | Floats, clusters: Sequence[Hashable] | Ints, least: float) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.size != len(clusters):
        raise ValueError(f"{found.size} values but {len(clusters)} clusters")
    if not ((found >= least) & (found <= 1)).all():
        raise ValueError(f"every value has to lie within {least:g} and 1")
    return found


def _codes(names: Sequence[Hashable] | Ints) -> Ints:
    """The same number for the same name; of names in order of first occurrence, of numbers in their order."""
    if isinstance(names, np.ndarray):
        return np.unique(names, return_inverse=True)[1].astype(np.int64)
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)
