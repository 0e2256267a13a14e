"""The areas of one comparison beside the one of all: by grouping, fold and thread; the ROC curves."""

from __future__ import annotations

from dataclasses import dataclass

FEW = 30
"""Texts below which an area is marked as resting on few."""
AUTHORS, THREADS = "authors", "threads"
DEFINITION = (
    "Area under the ROC curve: the probability that one of these comments scores higher than one of the "
    "other texts, by a model that saw neither. Folds are made of whole authors, and once more of whole "
    "threads: then no thread is on both sides of a fold, though authors are. Each thread's comments are put "
    "beside the other texts of their fold; one with fewer than 5 is too few. Intervals: bootstrap of the "
    "authors in a thread or fold and of the other side's authors or threads, widened as above."
)
CURVE = (
    "From scores out of fold. Across: of the other texts, the share taken for comments of this corpus; up: "
    "of these comments, the share found. The diagonal is guessing. M. S. Pepe and T. Cai (2004), Biometrics "
    "60, 528-535."
)


@dataclass(frozen=True)
class Area:
    """How well the comments of one thread, or of one fold, are told from the other texts. `words` says why
    a number is missing."""

    name: str
    texts: int
    authors: int
    auc: float | None
    low: float | None
    high: float | None
    words: str = ""

    @property
    def is_few(self) -> bool:
        """Whether the area rests on few comments."""
        return self.texts < FEW


@dataclass(frozen=True)
class Grouping:
    """One cross-validation by folds of whole authors or of whole threads (`unit`): how many of them each side
    has, the area of all texts, of each fold, and the curve from (0, 0) to (1, 1)."""

    unit: str
    ours: int
    theirs: int
    auc: float | None
    low: float | None
    high: float | None
    words: str = ""
    folds: tuple[Area, ...] = ()
    curve: tuple[tuple[float, float], ...] = ()

    @property
    def name(self) -> str:
        """As a row is called."""
        return f"Folds of whole {self.unit}"
