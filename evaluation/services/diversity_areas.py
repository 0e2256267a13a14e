"""The areas of a comparison by grouping, fold and thread, as its report keeps them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from evaluation.domain.realism_areas import AUTHORS, THREADS, Area, Grouping
from evaluation.metrics.realism import Realism, Text, realism
from evaluation.metrics.realism_areas import Area as Measured
from evaluation.metrics.realism_areas import Scored, areas, roc

DECIMALS = 4
"""Of points of a curve: more than a figure shows."""


class Said(NamedTuple):
    """A text of either side; threads are empty where the source names none."""

    text: str
    is_synthetic: bool
    author: str
    thread: str

    @property
    def writer(self) -> Hashable:
        """Authors of the two sides are others, whatever they are called."""
        return self.is_synthetic, self.author

    @property
    def by_author(self) -> Text:
        """For folds of whole authors."""
        return Text(self.text, self.is_synthetic, self.writer)

    @property
    def by_thread(self) -> Text:
        """For folds of whole threads; where there is none, of whole authors."""
        group = (self.is_synthetic, "in", self.thread) if self.thread else self.writer
        return Text(self.text, self.is_synthetic, group)


def areas_of(
    said: Sequence[Said], by_authors: Realism, *, seed: int
) -> tuple[tuple[Grouping, ...], tuple[Area, ...]]:
    """The comparison by folds of authors, as it was measured, and by folds of threads; the areas of the
    corpus's threads by the latter, best told first. Measures once more."""
    by_threads = realism([one.by_thread for one in said], seed=seed, unit=THREADS, features=0)
    groupings = (
        _grouping(AUTHORS, by_authors, said, seed),
        _grouping(THREADS, by_threads, said, seed),
    )
    if by_threads.scored is None:
        return groupings, ()
    found = _areas(by_threads.scored, [one.thread for one in said], said, seed)
    ranked = sorted(found, key=lambda one: (one.auc is None, -(one.auc or 0.0), -one.texts, one.name))
    return groupings, tuple(one for one in ranked if one.name)


def in_words(said: str) -> str:
    """Why nothing was measured, in the words of the page."""
    return said.replace("real texts", "the other texts").replace("synthetic texts", "this corpus’ comments")


def _grouping(unit: str, made: Realism, said: Sequence[Said], seed: int) -> Grouping:
    folds: tuple[Area, ...] = ()
    curve: tuple[tuple[float, float], ...] = ()
    if made.scored is not None:
        folds = tuple(_areas(made.scored, (made.scored.parts + 1).tolist(), said, seed))
        curve = tuple((round(x, DECIMALS), round(y, DECIMALS)) for x, y in roc(made.scored))
    return Grouping(
        unit=unit,
        ours=made.synthetic_groups,
        theirs=made.real_groups,
        auc=made.auc,
        low=made.low,
        high=made.high,
        words=in_words(made.words),
        folds=tuple(sorted(folds, key=lambda one: int(one.name))),
        curve=curve,
    )


def _areas(scored: Scored, names: Sequence[Hashable], said: Sequence[Said], seed: int) -> list[Area]:
    return [_kept(one) for one in areas(scored, names, [one.writer for one in said], seed=seed)]


def _kept(one: Measured) -> Area:
    return Area(str(one.name), one.texts, one.units, one.auc, one.low, one.high, one.words)
