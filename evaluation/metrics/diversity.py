"""How diverse a corpus is, in one pass: lengths, threads, richness of words, likeness of texts.

Table 1 of the paper and the trees of appendix A.2 come out by the same definitions for any corpus: lengths
are characters of the text as it stands, deviations those of a sample, medians of an even number the mean of
the middle two. The groups of profiles and topics are in `diversity_groups`.

Memory does not grow with the number of texts: tallies of lengths, one count an author, the bounded counters
of `diversity_words` and one sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from evaluation.domain.paper.records import Thread
from evaluation.domain.paper.summaries import summary
from evaluation.domain.paper.trees import TreeTally
from evaluation.metrics.diversity_likeness import SAMPLE, Likeness, LikenessTally
from evaluation.metrics.diversity_words import KEPT, WINDOW, Richness, RichnessTally
from evaluation.metrics.utility import words

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Spread:
    """Mean, sample deviation, ends and quantiles of n numbers; all None for none, the deviation 0 for one."""

    n: int
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    quantiles: dict[float, float]

    @property
    def median(self) -> float | None:
        """The middle number, or the mean of the middle two."""
        return self.quantiles.get(0.5)


def spread(tally: Counter[float]) -> Spread:
    """Sums up tallied numbers. Quantile q lies at place q (n - 1) of the ordered numbers, between two of
    them in proportion (R. J. Hyndman and Y. Fan (1996), American Statistician 50, 361-365, type 7)."""
    found = summary(tally)
    if not found:
        return Spread(0, None, None, None, None, {})
    n = int(found["n"])
    places = {q: q * (n - 1) for q in QUANTILES}
    wanted = sorted({step for place in places.values() for step in (floor(place), ceil(place))})
    at = _at(tally, wanted)
    quantiles = {
        q: at[floor(place)] + (place - floor(place)) * (at[ceil(place)] - at[floor(place)])
        for q, place in places.items()
    }
    return Spread(n, found["mean"], found["std"], found["min"], found["max"], quantiles)


def _at(tally: Counter[float], places: list[int]) -> dict[int, float]:
    """The numbers at ascending places, from 0, of all in order."""
    found: dict[int, float] = {}
    passed, waiting = 0, iter(places)
    place = next(waiting, None)
    for value in sorted(tally):
        passed += tally[value]
        while place is not None and place < passed:
            found[place] = value
            place = next(waiting, None)
    return found


@dataclass(frozen=True)
class Diversity:
    """What was found of `texts` texts. `trees` holds the numbers of the threads by the names of the paper's
    tally (empty where no threads were taken)."""

    texts: int
    characters: Spread
    words: Spread
    per_author: Spread
    richness: Richness
    likeness: Likeness
    authors_per_thread: Spread
    texts_per_thread: Spread
    depths: dict[int, int]
    trees: dict[str, Any]


class DiversityTally:
    """Takes threads, or single texts where there are no threads; not both for the same text."""

    def __init__(self, *, seed: int, window: int = WINDOW, kept: int = KEPT, sample: int = SAMPLE) -> None:
        self._characters: Counter[float] = Counter()
        self._words: Counter[float] = Counter()
        self._authors: Counter[Hashable] = Counter()
        self._richness = RichnessTally(window=window, most=kept)
        self._likeness = LikenessTally(seed=seed, size=sample)
        self._trees = TreeTally()
        self._thread_authors: Counter[float] = Counter()
        self._thread_texts: Counter[float] = Counter()
        self._depths: Counter[int] = Counter()

    def take_text(self, text: str, author: Hashable) -> None:
        """Counts one text of one author."""
        counted = words(text)
        self._characters[len(text)] += 1
        self._words[len(counted)] += 1
        self._authors[author] += 1
        self._richness.take(counted)
        self._likeness.take(counted, author)

    def take_thread(self, thread: Thread) -> None:
        """Counts a thread with all its texts; one without comments is none."""
        if not thread.nodes:
            return
        authors = [node.author or node.username for node in thread.nodes]
        for node, author in zip(thread.nodes, authors, strict=True):
            self.take_text(node.text, author)
            self._depths[node.depth] += 1
        self._trees.take(thread)
        self._thread_authors[len(set(authors))] += 1
        self._thread_texts[len(authors)] += 1

    def diversity(self) -> Diversity:
        """The numbers of what was taken so far."""
        return Diversity(
            texts=sum(self._characters.values()),
            characters=spread(self._characters),
            words=spread(self._words),
            per_author=spread(Counter[float](self._authors.values())),
            richness=self._richness.richness(),
            likeness=self._likeness.likeness(),
            authors_per_thread=spread(self._thread_authors),
            texts_per_thread=spread(self._thread_texts),
            depths=dict(sorted(self._depths.items())),
            trees=self._trees.numbers() if self._trees.threads else {},
        )
