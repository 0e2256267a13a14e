"""What the released files say, in types. Readers of files make them; the counting modules take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HUMAN = "human"
REVISED = "human_evaluated"
"""Labels of people that agree with the profile at least in part, and the scores against them."""
AGAINST_TRUTH = "ground_truth"
EDUCATION_CATEGORY = "education_category"
"""Stands beside the attributes in the files and is none: the education label once more, as a degree."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A label of one attribute of one profile. Hardness and certainty 0 to 5, 0 where nothing was inferred.

    `truth` is the score of the label against the profile (0, 0.5, 1; `acc_gt` in the files), None where the
    file does not say it.
    """

    value: str
    hardness: int
    certainty: int
    truth: float | None = None


@dataclass(frozen=True, slots=True)
class Guessed:
    """What a model guessed for one attribute, best first, and the degrees its education guesses stand for."""

    guesses: tuple[str, ...]
    categories: tuple[str, ...] = ()


Scores = Mapping[str, tuple[float, ...]]
"""Attribute -> one score a guess: 0, 0.5 or 1."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file of labels or predictions: one profile.

    `reviews` maps reviewer and attribute to a label; `predictions` model and attribute to guesses;
    `evaluations` model and kind of label to scores. The kind is "" where the file names none.
    """

    line: int
    username: str
    comments: tuple[str, ...] = ()
    reviews: Mapping[str, Mapping[str, Mark]] = field(default_factory=dict)
    predictions: Mapping[str, Mapping[str, Guessed]] = field(default_factory=dict)
    evaluations: Mapping[str, Mapping[str, Scores]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FullAnswer:
    """The raw answer of a model about one profile."""

    line: int
    username: str
    model: str
    text: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """The subreddits that a thread was given, as written. `root`: the id of its post, where it is said."""

    line: int
    thread: str
    topics: tuple[str, ...]
    root: str = ""


@dataclass(frozen=True, slots=True)
class Tag:
    """A suggestion of the tagging model. `hardness` is its word, `scores` those of the check (0, 0.5, 1)."""

    attribute: str
    guesses: tuple[str, ...]
    hardness: str
    certainty: int | None
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A comment of a tree. `text` has no white space around it; `depth` is 0 for the root."""

    key: str
    parent: str | None
    author: str
    username: str
    text: str
    depth: int
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """A tree, its root first and every comment before its replies."""

    name: str
    nodes: tuple[Node, ...]
