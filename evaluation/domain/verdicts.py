"""What a score is made of: the label, the verdict on one guess, the rung of the ladder that gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulation.domain.attributes import CATALOGUE, Attribute, Kind

RIGHT, HALF, WRONG = 1.0, 0.5, 0.0


class Rung(StrEnum):
    """Who decided. The ladder is climbed in this order and left at the first rung that knows."""

    EXACT = "exact"
    RULE = "rule"
    SIMILARITY = "similarity"
    JUDGE = "judge"
    PERSON = "person"
    RECORDED = "recorded"
    """Taken from the scores of an imported file, which do not say who decided."""


class Mode(StrEnum):
    """Which rules decide."""

    COMPATIBLE = "compatible"
    """The published rules with all their faults, to reproduce published numbers."""
    DEFAULT = "default"
    """The same ladder without the known faults; what a rule cannot know stays open."""


@dataclass(frozen=True)
class Label:
    """What a guess is scored against.

    `category` is the education category where the label has one, else empty. `truth_score` is how the label
    itself scored against the persona's truth (the published `acc_gt`: 0, 0.5, 1); None where not known.
    """

    attribute: str
    value: str
    category: str = ""
    truth_score: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What the ladder says of one guess: 1 right, 0.5 right in part, 0 wrong, None left open.

    `rung` is the one that decided, None where none did; `reason` says why in a few words, always.
    """

    score: float | None
    rung: Rung | None
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether a judge or a person has to decide."""
        return self.score is None


def by_rule(score: float, reason: str) -> Verdict:
    """A verdict of the rung `rule`."""
    return Verdict(score, Rung.RULE, reason)


def left_open(reason: str) -> Verdict:
    """A verdict that no rung up to here can give."""
    return Verdict(None, None, reason)


def joined(parts: Sequence[Verdict]) -> Verdict:
    """The verdict on a guess that names several values: they agree, or one of them is right, which is half.

    Open where one of them is open, or where one is right in part and another wrong: no rule says what that
    is worth. `parts` must not be empty.
    """
    first = parts[0]
    if len({one.score for one in parts}) == 1:
        return first
    if any(one.is_open for one in parts):
        return left_open("names several values, not all of which a rule can tell")
    if any(one.score == RIGHT for one in parts):
        return by_rule(HALF, "names several values, one of which is right")
    return left_open("names several values, one of which is right in part")


def attribute_of(key: str) -> Attribute:
    """The catalogue's attribute; one of free words where the catalogue has none of this name."""
    known = CATALOGUE.get(key)
    return known if known is not None else Attribute(key, key, Kind.TEXT, ask="", topic=key)
