"""How alike the texts of a corpus are: the mean cosine of pairs of a seeded sample.

Texts are vectors of TF-IDF over words: count times ln((1 + n) / (1 + df)) + 1, scaled to length 1 (G. Salton
and C. Buckley (1988), Information Processing & Management 24, 513-523; this smoothing as in scikit-learn).
The mean over all pairs of the sample is (|Σ v|² - Σ |v|²) / (n (n - 1)): 0 where no two texts share a word, 1
where all are the same.

Interval: the mean over pairs is a U-statistic; with h_i the mean cosine of text i to the others,

    SE² = 4 · G / (G - 1) · Σ_g (Σ_{i in g} (h_i - mean))² / n²

over the G authors g, weights of words taken as fixed. W. Hoeffding (1948), Annals of Mathematical Statistics
19, 293-325; J. N. Arvesen (1969), the same 40, 2076-2100 (jackknife of U-statistics).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt

from evaluation.metrics.intervals import LEVEL
from evaluation.metrics.quantiles import t_quantile

SAMPLE = 2000
TOO_FEW = "Fewer than two texts with words: there are no pairs."
ONE_AUTHOR = "All texts are of one author: no interval can be given."


@dataclass(frozen=True)
class Likeness:
    """Mean cosine of pairs of `sampled` of `texts` texts, by `authors` authors, with its interval.

    `words` says why something is None.
    """

    value: float | None
    low: float | None
    high: float | None
    texts: int
    sampled: int
    authors: int
    words: str = ""


class LikenessTally:
    """Draws the sample from a stream: each text with the same probability, the same for the same seed and
    order (J. S. Vitter (1985), Random Sampling with a Reservoir, ACM TOMS 11, 37-57, algorithm R)."""

    def __init__(self, *, seed: int, size: int = SAMPLE) -> None:
        if size < 2:
            raise ValueError("a sample of pairs has at least two texts")
        self._random = random.Random(seed)  # noqa: S311 - a sample, no secret
        self._size = size
        self._kept: list[tuple[Sequence[str], Hashable]] = []
        self._texts = 0

    def take(self, text: Sequence[str], author: Hashable) -> None:
        """Offers one text in words to the sample; a text without words is none."""
        if not text:
            return
        self._texts += 1
        if len(self._kept) < self._size:
            self._kept.append((text, author))
        elif (place := self._random.randrange(self._texts)) < self._size:
            self._kept[place] = (text, author)

    def likeness(self, level: float = LEVEL) -> Likeness:
        """The mean cosine of the sample's pairs."""
        return likeness([text for text, _ in self._kept], [who for _, who in self._kept], self._texts, level)


def likeness(
    texts: Sequence[Sequence[str]],
    authors: Sequence[Hashable],
    of: int | None = None,
    level: float = LEVEL,
) -> Likeness:
    """Mean cosine over all pairs of `texts` (in words, none empty), which are a sample of `of` texts.

    The interval is cut at 0 and 1. Raises ValueError for lists of different length.
    """
    n, groups = len(texts), len(set(authors))
    whole = n if of is None else of
    if len(authors) != n:
        raise ValueError(f"{n} texts but {len(authors)} authors")
    if n < 2:
        return Likeness(None, None, None, whole, n, groups, TOO_FEW)
    to_others = _to_others(texts)
    mean = fsum(to_others) / n
    if groups < 2:
        return Likeness(mean, None, None, whole, n, groups, ONE_AUTHOR)
    off: defaultdict[Hashable, float] = defaultdict(float)
    for one, author in zip(to_others, authors, strict=True):
        off[author] += one - mean
    error = 2 * sqrt(groups / (groups - 1) * fsum(one * one for one in off.values())) / n
    half = t_quantile(level, groups - 1) * error
    return Likeness(mean, max(0.0, mean - half), min(1.0, mean + half), whole, n, groups)


def _to_others(texts: Sequence[Sequence[str]]) -> list[float]:
    """For each text the mean cosine to the others."""
    n = len(texts)
    counts = [Counter(text) for text in texts]
    texts_with = Counter(word for one in counts for word in one)
    weight = {word: log((1 + n) / (1 + times)) + 1 for word, times in texts_with.items()}
    total: defaultdict[str, float] = defaultdict(float)
    vectors = []
    for one in counts:
        raw = {word: times * weight[word] for word, times in one.items()}
        length = sqrt(fsum(value * value for value in raw.values()))
        vector = {word: value / length for word, value in raw.items()}
        vectors.append(vector)
        for word, value in vector.items():
            total[word] += value
    return [
        min(1.0, max(0.0, (fsum(value * total[word] for word, value in one.items()) - 1) / (n - 1)))
        for one in vectors
    ]
