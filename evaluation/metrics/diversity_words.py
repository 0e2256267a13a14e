"""How rich the language of a corpus is: different words and n-grams, in one pass and bounded memory.

- distinct-n: different n-grams / n-grams, n = 1, 2, 3, within texts. J. Li and others (2016), A
  Diversity-Promoting Objective Function for Neural Conversation Models, NAACL, 110-119. It falls as a corpus
  grows; compare corpora at the same number of words only.
- MATTR: the mean, over all windows of so many words, of different words / words. M. A. Covington and
  J. D. McFall (2010), Cutting the Gordian Knot: The Moving-Average Type-Token Ratio, Journal of Quantitative
  Linguistics 17, 94-100. It does not depend on length. The texts are read as one stream in the order given,
  since single comments are mostly shorter than the window.

Different things are counted exactly up to a bound; beyond, by the k smallest hashes with a relative error of
about 1 / √k. Z. Bar-Yossef and others (2002), Counting Distinct Elements in a Data Stream, RANDOM, 1-10;
unbiased form (k - 1) / h_k: K. Beyer and others (2007), SIGMOD, 199-210.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

WINDOW = 50
KEPT = 250_000
"""Hashes kept for each n: exact up to so many different n-grams, then with an error of 0.2 %."""
LONGEST = 3
_SPACE = 2**64


class Distinct:
    """Counts different strings: exactly up to `most`, by an estimate beyond."""

    def __init__(self, most: int = KEPT) -> None:
        if most < 2:
            raise ValueError("at least 2 hashes have to be kept")
        self._most = most
        self._hashes: set[int] = set()
        self._below = _SPACE
        self.is_exact = True

    def add(self, thing: str) -> None:
        """Takes one string, whether seen before or not."""
        number = int.from_bytes(
            blake2b(thing.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
        )
        if number >= self._below:
            return
        self._hashes.add(number)
        if len(self._hashes) > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        self._hashes = set(heapq.nsmallest(self._most, self._hashes))
        self._below = max(self._hashes) + 1
        self.is_exact = False

    def count(self) -> float:
        """How many different strings there were: a whole number while `is_exact`."""
        if self.is_exact:
            return float(len(self._hashes))
        smallest = heapq.nsmallest(self._most, self._hashes)
        return (self._most - 1) * _SPACE / (smallest[-1] + 1)


class Mattr:
    """The moving-average type-token ratio of a stream of words."""

    def __init__(self, window: int = WINDOW) -> None:
        if window < 1:
            raise ValueError("a window has at least one word")
        self._window = window
        self._words: deque[str] = deque()
        self._counts: Counter[str] = Counter()
        self._sum = self._windows = 0

    def add(self, word: str) -> None:
        """Takes the next word."""
        self._words.append(word)
        self._counts[word] += 1
        if len(self._words) > self._window:
            gone = self._words.popleft()
            self._counts[gone] -= 1
            if not self._counts[gone]:
                del self._counts[gone]
        if len(self._words) == self._window:
            self._sum += len(self._counts)
            self._windows += 1

    def value(self) -> float | None:
        """Above 0, up to 1; None while there are fewer words than the window has."""
        return self._sum / (self._windows * self._window) if self._windows else None


@dataclass(frozen=True)
class Richness:
    """`distinct` maps n to distinct-n; `types` are different words. `is_exact` is False where `types` or a
    distinct-n is an estimate. Shares are None where there is nothing to count."""

    words: int
    types: float
    distinct: dict[int, float | None]
    mattr: float | None
    window: int
    is_exact: bool

    @property
    def type_token_ratio(self) -> float | None:
        """Different words / words, which is distinct-1. It falls with length."""
        return self.distinct[1]


class RichnessTally:
    """Takes texts in words one by one. Memory: the kept hashes and one window."""

    def __init__(self, *, window: int = WINDOW, most: int = KEPT) -> None:
        self._window = window
        self._mattr = Mattr(window)
        self._distinct = {n: Distinct(most) for n in range(1, LONGEST + 1)}
        self._grams: Counter[int] = Counter()
        self._words = 0

    def take(self, text: Sequence[str]) -> None:
        """Counts one text in words; no n-gram reaches from one text into the next."""
        self._words += len(text)
        for word in text:
            self._mattr.add(word)
        for n, distinct in self._distinct.items():
            for place in range(len(text) - n + 1):
                distinct.add(" ".join(text[place : place + n]))
            self._grams[n] += max(0, len(text) - n + 1)

    def richness(self) -> Richness:
        """The numbers of what was taken so far."""
        return Richness(
            words=self._words,
            types=self._distinct[1].count(),
            distinct={
                n: min(1.0, one.count() / self._grams[n]) if self._grams[n] else None
                for n, one in self._distinct.items()
            },
            mattr=self._mattr.value(),
            window=self._window,
            is_exact=all(one.is_exact for one in self._distinct.values()),
        )
