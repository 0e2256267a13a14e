"""The shape of threads in numbers: histograms of replies and depths, and how far apart two of them are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from simulation.domain.targets import Written

Histogram = Mapping[int, int]
"""How often each number occurs."""


def children_histogram(threads: Iterable[Sequence[Written]]) -> dict[int, int]:
    """How many replies have 0, 1, 2 .. replies of their own; roots are not counted. No replies: empty."""
    total: Counter[int] = Counter()
    for thread in threads:
        answers = Counter(comment.parent for comment in thread)
        total.update(answers[comment.key] for comment in thread if comment.parent is not None)
    return dict(sorted(total.items()))


def depth_histogram(threads: Iterable[Sequence[Written]]) -> dict[int, int]:
    """How many comments stand at each depth; a root stands at 0. No threads: empty."""
    total = Counter(comment.depth for thread in threads for comment in thread)
    return dict(sorted(total.items()))


def total_variation(one: Histogram, other: Histogram) -> float:
    """Half the sum of the differences of the shares: 0 for equal shares, 1 if nothing is in common.

    Each histogram is first divided by its sum, so they may be of different size. An empty one has no shares:
    ValueError.
    """
    ours, theirs = shares(one), shares(other)
    return sum(abs(ours.get(key, 0.0) - theirs.get(key, 0.0)) for key in ours.keys() | theirs.keys()) / 2


def shares(histogram: Histogram) -> dict[int, float]:
    """The histogram divided by its sum, which must not be 0 (ValueError)."""
    total = sum(histogram.values())
    if total <= 0:
        raise ValueError("histogram: nothing was counted, there are no shares")
    return {key: count / total for key, count in histogram.items()}
