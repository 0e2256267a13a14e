"""The parameters of Algorithm 1, with the values of the published runs and the ranges allowed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

WHOLE = {
    "rounds": (1, 50),
    "actions": (1, 50),
    "start_weight": (1, 10),
    "profiles_asked": (1, 100_000),
    "sampled": (1, 1_000),
    "max_depth": (1, 100),
    "max_children": (1, 1_000),
}
"""Whole numbers: lowest and highest value allowed, both included."""

SHARES = ("p_critic", "p_short")
"""Numbers from 0 to 1."""

WORDS = ("short_words", "long_words")
"""Pairs of whole numbers, least and most words."""

MOST_WORDS = 1_000

MODES = ("top", "random")
"""Ways to draw the comment that is answered."""


@dataclass(frozen=True)
class Parameters:
    """What a run of Algorithm 1 may vary. A value out of range is a ValueError that names field and range."""

    rounds: int = 2
    """Rounds in a thread."""
    actions: int = 3
    """Most actions of an agent in a round; the number is drawn from 1 to this."""
    start_weight: int = 7
    """Weight, of 10, of writing rather than abstaining in the first round; one less in each later round."""
    profiles_asked: int = 35
    """How many profiles are asked whether the thread interests them."""
    sampled: int = 10
    """How many of the best scored comments the target is drawn from."""
    max_depth: int = 5
    """Most comments from root to target, both counted: the reply then stands this deep, the root at 0."""
    max_children: int = 3
    """A comment with this many replies gets no further one while there are `sampled` others."""
    p_critic: float = 0.4
    """Draws of critics in a round, as a share of the profiles asked."""
    p_short: float = 0.7
    """Chance that a comment is asked to be short."""
    short_words: tuple[int, int] = (1, 10)
    """Least and most words asked of a short comment."""
    long_words: tuple[int, int] = (10, 50)
    """Least and most words asked of a long comment."""
    mode: str = "top"
    """How the target is drawn: among the best scored (top), or among a sample of all (random)."""

    def __post_init__(self) -> None:
        for name, (low, high) in WHOLE.items():
            value = getattr(self, name)
            if not _whole(value) or not low <= value <= high:
                raise ValueError(f"{name}: must be a whole number from {low} to {high}")
        for name in SHARES:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ValueError(f"{name}: must be a number from 0 to 1")
        if self.mode not in MODES:
            raise ValueError(f"mode: must be one of {', '.join(MODES)}")
        for name in WORDS:
            if not _span(getattr(self, name)):
                raise ValueError(
                    f"{name}: must be two whole numbers from 1 to {MOST_WORDS}, the least words and the most"
                )

    def as_dict(self) -> dict[str, Any]:
        """All parameters as JSON can hold them; `from_dict` reads them back."""
        return asdict(self) | {name: list(getattr(self, name)) for name in WORDS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Parameters:
        """Parameters from JSON. What is not given has the published value; an unknown key is a ValueError."""
        unknown = [str(key) for key in values if key not in {field.name for field in fields(cls)}]
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: not a parameter of the algorithm")
        pairs = {name: tuple(values[name]) for name in WORDS if isinstance(values.get(name), list)}
        return cls(**{**values, **pairs})


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _span(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 2 or not all(_whole(bound) for bound in value):
        return False
    least, most = value
    return bool(1 <= least <= most <= MOST_WORDS)
