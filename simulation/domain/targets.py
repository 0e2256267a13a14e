"""Which comment an agent answers: the score of Algorithm 1 and the draw by score, in one of two modes.

Nothing here asks what became of a comment's suggestions. In the published runs a comment whose suggestions
could not be read was never answered; here every comment can be, unless it is closed on purpose.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from simulation.domain.parameters import Parameters

ROOT_SCORE = 2
OWN_SCORE = 5
FOREIGN_SCORE = 1

MOST_REDRAWS = 100
"""So often mode random draws anew before the rule of mode top decides."""

NONE: frozenset[str] = frozenset()
"""No comment is closed."""


@dataclass(frozen=True)
class Written:
    """A comment of the thread so far. `depth` is 0 for the root, whose `parent` is None."""

    key: str
    parent: str | None
    author: str
    depth: int


@dataclass(frozen=True)
class Choice:
    """The drawn comment with its score and the probability (0 to 1) that the draw gave it.

    `fallback` says that the limits of depth and replies were dropped for this draw.
    """

    target: str
    score: float
    probability: float
    fallback: bool


@dataclass(frozen=True)
class Candidate:
    """A comment that the agent may answer, its score, and whether it is within depth and replies allowed."""

    key: str
    score: float
    within: bool


def sigma(path_authors_root_first: Sequence[str], agent: str) -> float:
    """How much the last comment of a path concerns an agent, from the authors of root .. comment.

    The mean over the path: the root counts 2 whoever wrote it, a comment of the agent 5, any other 1. A
    reply that the agent wrote itself scores 0. Without a path: ValueError. Source: Algorithm 1 as published.
    """
    length = len(path_authors_root_first)
    if length == 0:
        raise ValueError("path_authors_root_first: must name the author of the root at least")
    if length > 1 and path_authors_root_first[-1] == agent:
        return 0.0
    own = path_authors_root_first.count(agent) - (path_authors_root_first[0] == agent)
    return (ROOT_SCORE + OWN_SCORE * own + FOREIGN_SCORE * (length - 1 - own)) / length


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities in the ratio of e to the power of each score; their sum is 1. No scores, no result."""
    highest = max(scores, default=0.0)
    powers = [math.exp(score - highest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


class Pool:
    """The thread so far as the choice of targets sees it.

    A score is a function of the path from root to comment, which never changes: taking it now is the same as
    taking it when the comment was attached.
    """

    def __init__(self, written: Sequence[Written], *, closed: frozenset[str] = NONE) -> None:
        """`written` is in order of writing, root first. Comments in `closed` are never answered again."""
        if not written or written[0].parent is not None:
            raise ValueError("written: a thread begins with its root")
        self.open = [comment for comment in written if comment.key not in closed]
        self.paths: dict[str, tuple[str, ...]] = {}
        self.replies: Counter[str] = Counter()
        self.answered: dict[str, set[str]] = {}
        for comment in written:
            above: tuple[str, ...] = ()
            if comment.parent is not None:
                above = self.paths[comment.parent]
                self.replies[comment.parent] += 1
                self.answered.setdefault(comment.author, set()).add(comment.parent)
            self.paths[comment.key] = (*above, comment.author)

    def candidates(self, agent: str, parameters: Parameters, *, with_root: bool) -> list[Candidate]:
        """In order of writing: what the agent neither wrote nor answered yet."""
        done = self.answered.get(agent, set())
        found = []
        for comment in self.open:
            if comment.author == agent or comment.key in done or (comment.parent is None and not with_root):
                continue
            path, replies = self.paths[comment.key], self.replies[comment.key]
            within = len(path) <= parameters.max_depth and replies < parameters.max_children
            found.append(Candidate(comment.key, sigma(path, agent), within))
        return found

    def choose(
        self, agent: str, parameters: Parameters, *, with_root: bool, rng: random.Random
    ) -> Choice | None:
        """Draws the comment that the agent answers; None if there is none for it.

        Mode top: with fewer than `sampled` candidates within the limits, the limits do not count. Of the
        best scored `sampled` (the earlier written first if scores tie) one is drawn with the softmax of the
        scores.

        Mode random: `sampled` comments are drawn from all there are, the agent's own and those it answered
        are dropped, and one of the rest is drawn with the softmax of their scores; all of it again until the
        drawn one is within the limits. The published rule never ends where none is. Here mode top decides
        after `MOST_REDRAWS` draws, or at once where no candidate is within the limits.
        """
        everything = self.candidates(agent, parameters, with_root=with_root)
        if parameters.mode == "random":
            pool = [one.key for one in self.open if one.parent is not None or with_root]
            drawn_at_random = _at_random(pool, everything, parameters, rng)
            if drawn_at_random is not None:
                return drawn_at_random
        limited = [candidate for candidate in everything if candidate.within]
        fallback = len(limited) < parameters.sampled
        ranked = sorted(everything if fallback else limited, key=lambda candidate: -candidate.score)
        best = ranked[: parameters.sampled]
        if not best:
            return None
        chances = softmax([candidate.score for candidate in best])
        (drawn,) = rng.choices(range(len(best)), weights=chances)
        return Choice(best[drawn].key, best[drawn].score, chances[drawn], fallback)


def _at_random(
    pool: Sequence[str], candidates: Sequence[Candidate], parameters: Parameters, rng: random.Random
) -> Choice | None:
    """The draw of mode random; None where it came to nothing. The probability is that among its sample."""
    known = {candidate.key: candidate for candidate in candidates}
    if not any(candidate.within for candidate in candidates):
        return None
    for _ in range(MOST_REDRAWS):
        keys = rng.sample(pool, min(parameters.sampled, len(pool)))
        sample = [known[key] for key in keys if key in known]
        if not sample:
            continue
        chances = softmax([candidate.score for candidate in sample])
        (drawn,) = rng.choices(range(len(sample)), weights=chances)
        if sample[drawn].within:
            return Choice(sample[drawn].key, sample[drawn].score, chances[drawn], fallback=False)
    return None
