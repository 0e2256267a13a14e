"""Whether a machine can tell synthetic texts from real ones: a classifier that sees neither author before.

Features are TF-IDF of words (1 and 2 in a row) and of characters (3 to 5 within words), the classifier is a
logistic regression with classes weighted equally; both are fitted anew in every fold. Folds are made of whole
groups (authors or threads), so no group is on both sides; a random split would reward learning who writes.

The measure is the area under the ROC curve: the probability that a synthetic text gets a higher score than a
real one, ties counting half. 0.5 is guessing, 1 perfect separation. Only pairs scored by one fold's model are
compared, since scores of two models have no common scale.

Interval: percentiles over draws of whole groups with replacement, real and synthetic ones apart, the scores
as they are; then both ends are moved away from the area by √(1 + K / (K - 1)) for K folds, since models of
other texts would differ too. B. Efron and R. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13;
C. Nadeau and Y. Bengio (2003), Machine Learning 52, 239-281 (the variance times 1 + K · tested / trained, a
rule of thumb). Without that factor, intervals of 95 % held 0.5 in 84 % of 160 simulated corpora without
difference (40 groups of 3 texts of each kind). Where no draw differs, as at an area of 1, it is Wilson's
interval for as many independent items as the kind with fewer groups has groups.

With few groups that differ much among themselves the area of equal kinds tends below 0.5: what was learned of
some does not hold for others. Where it matters, ask for a permutation test.

How far real texts are told from synthetic ones by length or topic alone cannot be seen in the AUC; `telling`
names the features for that reason. Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.intervals import DRAWS, LEVEL, score_interval
from evaluation.metrics.quantiles import t_quantile
from evaluation.metrics.realism_areas import Scored
from evaluation.metrics.realism_model import Feature, Model, NoFeatures, folds_of, scores_of, telling

FOLDS = 5
LEAST_GROUPS = 10
"""Groups of each kind below which nothing is measured: with fewer the interval means little."""
TELLING = 25
ONE_KIND = "There are only {kind} texts: nothing can be compared."
TOO_FEW = "Only {n} {unit} of {kind} texts; at least {least} are needed."
NO_WORDS = "No word and no run of characters stands in two texts: there is nothing to learn from."

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Text:
    """`group` is the author or thread that the text belongs to: texts of one group stay together."""

    text: str
    is_synthetic: bool
    group: Hashable


@dataclass(frozen=True)
class Realism:
    """How well the kinds are told apart. `auc`, `low`, `high` are None where `words` says why.

    `synthetic_words` and `real_words` are the features that speak most for either, from a model of all texts;
    `scored` is what every text got, for `realism_areas`.
    """

    auc: float | None
    low: float | None
    high: float | None
    real: int
    synthetic: int
    real_groups: int
    synthetic_groups: int
    folds: int
    seed: int
    p: float | None = None
    synthetic_words: tuple[Feature, ...] = ()
    real_words: tuple[Feature, ...] = ()
    words: str = ""
    scored: Scored | None = field(default=None, compare=False, repr=False)

    @property
    def is_told_apart(self) -> bool | None:
        """Whether the interval lies above 0.5, so that a difference was shown; None where there is none.

        An area below 0.5 shows none: what was learned of some groups did not hold for others.
        """
        return None if self.low is None else self.low > 0.5


def realism(
    texts: Sequence[Text],
    *,
    seed: int,
    folds: int = FOLDS,
    draws: int = DRAWS,
    level: float = LEVEL,
    unit: str = "groups",
    permutations: int = 0,
    model: Model | None = None,
    features: int = TELLING,
) -> Realism:
    """Measures how well synthetic texts are told from real ones.

    The same texts in the same order and the same seed give the same numbers. `features` is how many of them
    are named for each kind, at most. `unit` is the word for groups in
    sentences ("authors"). With `permutations` the whole measurement is repeated so often with the kinds dealt
    out anew among groups, and `p` is the share of areas at least as large, the observed one among them: exact
    for groups that differ by chance alone, whatever the folds do (M. Ojala and G. C. Garriga (2010), JMLR 11,
    1833-1863). It takes as many times longer.

    Memory grows with the texts (some 2 kB for 100 characters): draw a sample of whole groups from a large
    corpus first. Raises ValueError for fewer than two folds or draws, and for a group that has texts of both
    kinds, which no split can hold apart from itself.
    """
    if folds < 2 or draws < 2 or permutations < 0:
        raise ValueError("at least 2 folds and 2 draws, and no fewer than 0 permutations")
    kinds = np.array([one.is_synthetic for one in texts], dtype=bool)
    codes = _codes([one.group for one in texts])
    _check_groups(texts)
    empty = _unmeasured(kinds, codes, folds, seed, unit)
    if empty.words:
        return empty
    model = model or Model()
    said = [one.text for one in texts]
    try:
        scored = _scored(said, kinds, codes, folds, model, seed)
    except NoFeatures:
        return replace(empty, words=NO_WORDS)
    wins = _wins(scored.scores, kinds, codes, scored.parts)
    auc, low, high = _interval(wins, draws, seed, level, stretch=scored.stretch)
    dealt = _dealt(kinds, codes, permutations, seed)
    beyond = [_measured(said, other, codes, folds, model, seed).area >= auc - 1e-12 for other in dealt]
    p = (1 + sum(beyond)) / (1 + permutations) if permutations else None
    named = telling(said, kinds, model, seed, features) if features else ((), ())
    return replace(
        empty,
        auc=auc,
        low=low,
        high=high,
        p=p,
        synthetic_words=named[0],
        real_words=named[1],
        scored=scored,
    )


def _unmeasured(kinds: NDArray[np.bool_], codes: Ints, folds: int, seed: int, unit: str) -> Realism:
    """The counts without an area, and why there can be none."""
    groups = {kind: len(set(codes[kinds == kind].tolist())) for kind in (False, True)}
    return Realism(
        None,
        None,
        None,
        real=int((~kinds).sum()),
        synthetic=int(kinds.sum()),
        real_groups=groups[False],
        synthetic_groups=groups[True],
        folds=folds,
        seed=seed,
        words=_why_not(groups, max(LEAST_GROUPS, folds), unit),
    )


def _check_groups(texts: Sequence[Text]) -> None:
    kind: dict[Hashable, bool] = {}
    for one in texts:
        if kind.setdefault(one.group, one.is_synthetic) != one.is_synthetic:
            raise ValueError(f"group {one.group!r} has real and synthetic texts; name its parts apart")


def _why_not(groups: dict[bool, int], least: int, unit: str) -> str:
    names = {False: "real", True: "synthetic"}
    for kind, n in groups.items():
        if not n:
            other = names[not kind] if groups[not kind] else "no"
            return ONE_KIND.format(kind=other)
    for kind, n in groups.items():
        if n < least:
            return TOO_FEW.format(n=n, unit=unit, kind=names[kind], least=least)
    return ""


def _codes(names: Sequence[Hashable]) -> Ints:
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Wins:
    """Won and possible pairs of each synthetic group (row) with each real one (column)."""

    won: Floats
    pairs: Floats

    @property
    def area(self) -> float:
        return float(self.won.sum() / self.pairs.sum())


def _measured(
    texts: Sequence[str], kinds: NDArray[np.bool_], codes: Ints, folds: int, model: Model, seed: int
) -> _Wins:
    """One cross-validation."""
    scored = _scored(texts, kinds, codes, folds, model, seed)
    return _wins(scored.scores, kinds, codes, scored.parts)


def _scored(
    texts: Sequence[str], kinds: NDArray[np.bool_], codes: Ints, folds: int, model: Model, seed: int
) -> Scored:
    parts = folds_of(kinds, codes, folds, seed)
    scores = scores_of(texts, kinds, codes, parts, model, seed)
    return Scored(scores, kinds, codes, parts, stretch=sqrt(1 + folds / (folds - 1)))


def _dealt(kinds: NDArray[np.bool_], codes: Ints, times: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """The kinds dealt out anew among the groups, as many groups of each kind as there were."""
    of_group = np.zeros(int(codes.max()) + 1, dtype=bool)
    of_group[codes] = kinds
    rng = np.random.default_rng((seed, 2))
    for _ in range(times):
        yield rng.permutation(of_group)[codes]


def _wins(scores: Floats, kinds: NDArray[np.bool_], codes: Ints, parts: Ints) -> _Wins:
    """Counts the pairs of one fold in which the synthetic text scored higher; ties count half."""
    rows, columns = _codes(codes[kinds].tolist()), _codes(codes[~kinds].tolist())
    won = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1))
    pairs = np.zeros_like(won)
    for part in np.unique(parts):
        synthetic, real = parts[kinds] == part, parts[~kinds] == part
        up, row = scores[kinds][synthetic], rows[synthetic]
        down, column = scores[~kinds][real], columns[real]
        for one in np.unique(column):
            against = np.sort(down[column == one])
            below = np.searchsorted(against, up, "left")
            upto = np.searchsorted(against, up, "right")
            sums = np.bincount(row, weights=(below + upto) / 2, minlength=won.shape[0])
            won[:, one] += sums
            pairs[:, one] += np.bincount(row, minlength=won.shape[0]) * against.size
    return _Wins(won, pairs)


def _interval(
    wins: _Wins, draws: int, seed: int, level: float, stretch: float = 1.0
) -> tuple[float, float, float]:
    """The AUC and the ends of its interval, moved away from it by the factor `stretch` and cut at 0 and 1."""
    auc = wins.area
    rng = np.random.default_rng(seed)
    rows, columns = wins.won.shape
    found = []
    for _ in range(draws):
        up = rng.multinomial(rows, np.full(rows, 1 / rows)).astype(np.float64)
        down = rng.multinomial(columns, np.full(columns, 1 / columns)).astype(np.float64)
        possible = float(up @ wins.pairs @ down)
        if possible:
            found.append(float(up @ wins.won @ down) / possible)
    low, high = np.quantile(found, ((1 - level) / 2, (1 + level) / 2)) if found else (0.0, 1.0)
    if high - low < 1e-9:
        return (auc, *score_interval(auc, min(rows, columns), t_quantile(level, inf)))
    low, high = auc - stretch * (auc - min(low, auc)), auc + stretch * (max(high, auc) - auc)
    return auc, max(0.0, float(low)), min(1.0, float(high))
