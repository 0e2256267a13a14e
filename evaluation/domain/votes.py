"""Several votes of one judge on one question: the verdict that they make together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

VOTES = (1, 3, 5)
"""How often a judge may be asked about a question within a run; odd, so that two camps are never equal."""


def enough(readable: int, votes: int) -> bool:
    """Whether so many `readable` votes of all `votes` that were asked for decide: more than half of them."""
    return 2 * readable > votes


def decided(votes: Sequence[float | None]) -> float | None:
    """The verdict given most often: 1, 0.5 or 0; of several given as often the least favourable.

    `votes` are all that were asked for, None: one that failed or could not be read. None where no more than
    half could be read. With three verdicts the most frequent one need not be that of more than half. The rule
    for ties is ours: a guess is not right on a word that was given no more often than another.
    """
    counted = Counter(vote for vote in votes if vote is not None)
    if not enough(counted.total(), len(votes)):
        return None
    most = max(counted.values())
    return min(score for score, times in counted.items() if times == most)


def is_split(votes: Sequence[float | None]) -> bool:
    """Whether the votes that could be read are not all the same."""
    return len({vote for vote in votes if vote is not None}) > 1
