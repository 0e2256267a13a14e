"""The tables of diversity as files, with the numbers of the report as they were counted.

A row for each number and corpus; shares are 0 to 1; what cannot be said stays empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from annotation.exchange.tables import Table
from evaluation.domain.corpus_diversity import (
    LENGTHS,
    ODDITIES,
    QUANTILES,
    SHAPES,
    Counted,
    Groups,
    Realism,
)
from evaluation.domain.realism_areas import Area
from evaluation.selectors.diversity_page import Pair

Rows = Iterator[Sequence[Any]]
SHARE = ("share", "low_95", "high_95")


def size(pair: Pair) -> Table:
    """How much there is, and what the paper's algorithm rules out."""
    names = (
        "threads",
        "comments",
        "withdrawn",
        "authors",
        "profiles",
        "writing",
        "words",
        "types",
        "is_exact",
    )

    def rows() -> Rows:
        for name, one in _of(pair):
            yield from ((name, key, getattr(one, key)) for key in names)
            yield from ((name, key, one.oddities[key]) for key in ODDITIES)

    return Table(("corpus", "measure", "value"), list(rows()))


def lengths(pair: Pair) -> Table:
    """A row for each measure."""
    columns = ("corpus", "measure", "n", "mean", "std", "min", *(f"q{q[2:]:0<2}" for q in QUANTILES), "max")

    def rows() -> Rows:
        for name, one in _of(pair):
            for key in LENGTHS:
                spread = one.lengths[key]
                quantiles = [spread.quantiles.get(q) for q in QUANTILES]
                yield name, key, spread.n, spread.mean, spread.std, spread.low, *quantiles, spread.high

    return Table(columns, list(rows()))


def words(pair: Pair) -> Table:
    """Richness, likeness, spread by an embedder if any; n are words, windows or comments."""

    def rows() -> Rows:
        for name, one in _of(pair):
            for n, share in one.distinct.items():
                yield name, f"distinct_{n}", share, None, None, one.words, one.is_exact
            yield name, "mattr", one.mattr, None, None, max(0, one.words - one.window + 1), True
            like = one.likeness
            yield name, "likeness", like.value, like.low, like.high, like.sampled, True
            by = one.embedded
            if by.called:  # the embedder is part of what was measured
                yield name, f"spread_pairs ({by.called})", by.pairs, None, None, by.n, True
                yield name, f"spread_centre ({by.called})", by.centre, None, None, by.n, True

    return Table(("corpus", "measure", "value", "low_95", "high_95", "n", "is_exact"), list(rows()))


def shape(pair: Pair) -> Table:
    """Depths, chains and replies."""
    return _histograms(pair, tuple(SHAPES), ("corpus", "histogram", "number", "count", "share"))


def overlap(pair: Pair) -> Table:
    """Fig. 3."""
    found = _histograms(pair, ("overlap",), ("corpus", "", "attributes_shared", "pairs", "share"))
    return Table([name for name in found.columns if name], [(row[0], *row[2:]) for row in found.rows])


def _histograms(pair: Pair, keys: Sequence[str], columns: Sequence[str]) -> Table:
    def rows() -> Rows:
        for name, one in _of(pair):
            for key in keys:
                counts = getattr(one, key)
                whole = sum(counts.values())
                for number in sorted(counts, key=int):
                    yield name, key, int(number), counts[number], counts[number] / whole

    return Table(columns, list(rows()))


def profiles(pair: Pair) -> Table:
    """Profiles by attribute and group, all groups."""

    def rows() -> Rows:
        for name, one in _of(pair):
            for key, groups in one.groups.items():
                yield from ((name, key, *cells) for cells in _groups(groups))

    return Table(("corpus", "attribute", "group", "profiles", *SHARE, "n", "missing"), list(rows()))


def evenness(pair: Pair) -> Table:
    """How evenly profiles are spread, a row for each attribute."""
    fields = ("n", "missing", "different", "entropy", "evenness", "simpson", "effective")

    def rows() -> Rows:
        for name, one in _of(pair):
            for key, groups in one.groups.items():
                yield name, key, len(groups.groups), *(getattr(groups, field) for field in fields)

    return Table(("corpus", "attribute", "groups", *fields), list(rows()))


def targets(pair: Pair) -> Table:
    """Threads by target."""

    def rows() -> Rows:
        for name, one in _of(pair):
            yield from ((name, *cells) for cells in _groups(one.targets))

    return Table(("corpus", "target", "threads", *SHARE, "n", "missing"), list(rows()))


def topics(pair: Pair) -> Table:
    """Topics by target."""

    def rows() -> Rows:
        for name, one in _of(pair):
            for key, groups in one.topics.items():
                yield from ((name, key, *cells) for cells in _groups(groups))

    return Table(("corpus", "target", "topic", "threads", *SHARE, "n", "missing"), list(rows()))


def _groups(groups: Groups) -> Rows:
    for one in groups.groups:
        yield one.name, one.count, one.share, one.low, one.high, groups.n, groups.missing


def _of(pair: Pair) -> list[tuple[str, Counted]]:
    return [(one.name, one.counted) for one in pair if one.counted]


def telling(found: Realism) -> Table:
    """What tells the comments of a corpus from others; `side` says for which it speaks."""
    sides = (("this corpus", found.our_words), ("other", found.their_words))
    rows = [
        (side, one.kind, one.text, one.ours, one.theirs, one.contribution)
        for side, features in sides
        for one in features
    ]
    return Table(("side", "kind", "feature", "comments_here", "texts_there", "contribution_log_odds"), rows)


def areas(found: Realism) -> Table:
    """The areas under the curve: by grouping, by fold, by thread of this corpus."""
    rows: list[tuple[Any, ...]] = []
    for one in found.groupings:
        numbers = (one.auc, one.low, one.high, one.words)
        rows.append((f"folds of {one.unit}", "", found.ours.drawn, found.ours.drawn_authors, *numbers))
        rows += [_area(f"fold of {one.unit}", fold) for fold in one.folds]
    rows += [_area("thread", one) for one in found.threads]
    return Table(("part", "name", "texts", "authors", "auc", "low_95", "high_95", "words"), rows)


def _area(part: str, one: Area) -> tuple[Any, ...]:
    return part, one.name, one.texts, one.authors, one.auc, one.low, one.high, one.words


def curves(found: Realism) -> Table:
    """The ROC curves, a row for each of their points."""
    rows = [(one.unit, *point) for one in found.groupings for point in one.curve]
    return Table(("folds_of_whole", "false_alarms", "found"), rows)


REALISM: dict[str, Callable[[Realism], Table]] = {"auc": areas, "roc": curves}
TABLES: dict[str, Callable[[Pair], Table]] = {
    "size": size,
    "lengths": lengths,
    "words": words,
    "shape": shape,
    "overlap": overlap,
    "profiles": profiles,
    "evenness": evenness,
    "targets": targets,
    "topics": topics,
}
