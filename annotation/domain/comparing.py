"""Do two labels of one attribute say the same?"""

from typing import Protocol

from annotation.domain.labels import State
from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match, compare


class Said(Protocol):
    """What the comparison needs of a label: a stored row, a decision or a value object."""

    @property
    def state(self) -> str: ...
    @property
    def value(self) -> str: ...


def compare_labels(attribute: Attribute, one: Said, other: Said) -> Match:
    """Values by the attribute's own rule; "none", "unsure" and "untouched" are equal to themselves only."""
    if one.state == State.VALUE and other.state == State.VALUE:
        return compare(attribute, one.value, other.value)
    return Match.SAME if one.state == other.state else Match.DIFFERENT
