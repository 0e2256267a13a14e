"""The numbers of a leaderboard as plain data: counted once by a worker, kept as JSON, read by every page.

Nothing is computed here but names and orders. Shares are from 0 to 1; intervals hold for 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints


class Measure(StrEnum):
    """What counts as right. Definitions: `evaluation.metrics.accuracy`."""

    TOP1 = "top1"
    TOP3 = "top3"
    HALF = "half"
    LESS_PRECISE = "less_precise"
    PROFILES = "profiles"
    """Mean over profiles of the profile's own top-1."""
    ATTRIBUTES = "attributes"
    """Mean over attributes of the attribute's own top-1."""


MEASURE_WORDS = {
    Measure.TOP1: "the first guess is right",
    Measure.TOP3: "one of the first three guesses is right",
    Measure.HALF: "the first guess is right; one that is less precise counts half",
    Measure.LESS_PRECISE: "the first guess is right or less precise",
    Measure.PROFILES: "the first guess is right, every profile counting the same",
    Measure.ATTRIBUTES: "the first guess is right, every attribute counting the same",
}
GROUPED = (Measure.TOP1, Measure.TOP3, Measure.HALF, Measure.LESS_PRECISE)
"""Measures that are given by attribute, hardness and certainty, and compared in pairs."""


@dataclass(frozen=True)
class Cell:
    """A share of `n` items of `clusters` profiles with its interval. None where there is none; `words` say
    why, or what was left out. `right` is the number of items that count as right (a sum of halves where a
    measure counts halves); None for macro averages. `open` items more are not settled; once they are, the
    share is between `least` and `most`: none, and all, of them right."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int = 0
    right: float | None = None
    words: str = ""
    open: int = 0
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Both:
    """The same measure over all that was asked and over what was answered."""

    asked: Cell = field(default_factory=Cell)
    answered: Cell = field(default_factory=Cell)


@dataclass(frozen=True)
class Entry:
    """One line of the board: one scored prediction run.

    `scoring` and `run` are public ids. `overall` maps a Measure to its shares; the three groupings map a
    measure of GROUPED, then the group (attribute key; hardness or certainty "1" to "5") to its share of all
    asked. `outcomes` counts items by outcome (answered, refused, unparsed, error, not_asked); `rungs` counts
    first guesses by who decided ("" nobody yet). `open` items are not settled for top-1 and are in no
    denominator of it.
    """

    scoring: str
    run: str
    name: str
    model: str
    family: str = ""
    parameters: float | None = None
    """Billions."""
    origin: str = "imported"
    text: str = "plain"
    counterpart: str = ""
    """Public id of the plain run that an anonymised one is compared with."""
    overall: Mapping[str, Both] = field(default_factory=dict)
    by_attribute: Mapping[str, Mapping[str, Cell]] = field(default_factory=dict)
    by_hardness: Mapping[str, Mapping[str, Cell]] = field(default_factory=dict)
    by_certainty: Mapping[str, Mapping[str, Cell]] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    rungs: Mapping[str, int] = field(default_factory=dict)
    open: int = 0
    cost: int | None = None
    """Nano-dollars; None where it was not asked here."""
    profiles: int | None = None
    """Profiles that `cost` was spent on; None where it was not asked here, and in boards counted before."""

    @property
    def is_baseline(self) -> bool:
        """Whether no model stands behind it: shown under the ranks, without one."""
        return self.origin == "baseline"


@dataclass(frozen=True)
class Pair:
    """Score of entry `first` less that of `second` (scoring ids) on the items that both have.

    `low`, `high`, `p` are of the paired difference clustered by profile; `holm` is p adjusted over all pairs
    of the board. `only_first` and `only_second` are the items that only one got right, `mcnemar` the exact
    p-value of McNemar's test; None for measures that count halves.
    """

    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    excludes_zero: bool
    n: int
    clusters: int
    only_first: int | None = None
    only_second: int | None = None
    mcnemar: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Pairs:
    """All pairs of a board for one measure, with the sentence about them."""

    pairs: tuple[Pair, ...] = ()
    excluding: int = 0
    of: int = 0
    words: str = ""


@dataclass(frozen=True)
class Masked:
    """Accuracy of one model on plain and on anonymised text, and the paired difference (plain less
    anonymised), by attribute and, under the key "", over all. Measure top-1."""

    plain: str
    anonymised: str
    """Scoring ids."""
    model: str
    rows: Mapping[str, tuple[Cell, Cell, Pair]] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """Everything that the pages of one leaderboard say.

    `labels` and `profiles` are those of the label set that the thresholds keep; `by_hardness` and
    `by_attribute` count these labels. Entries come with the best first by top-1 over all asked, baselines
    last. `pairs` maps a measure of GROUPED to its comparisons.
    """

    label_set: str
    """Its public id."""
    label_set_name: str
    mode: str
    min_hardness: int
    min_certainty: int
    labels: int
    profiles: int
    entries: tuple[Entry, ...] = ()
    pairs: Mapping[str, Pairs] = field(default_factory=dict)
    masked: tuple[Masked, ...] = ()
    by_attribute: Mapping[str, int] = field(default_factory=dict)
    by_hardness: Mapping[str, int] = field(default_factory=dict)
    by_certainty: Mapping[str, int] = field(default_factory=dict)

    def entry(self, scoring: str) -> Entry | None:
        """The entry of a scoring's public id."""
        return next((one for one in self.entries if one.scoring == scoring), None)


def as_json(value: Any) -> Any:
    """A board, or any part of it, as what JSON can hold."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    return value


_hints = cache(get_type_hints)
"""Once a type: they are written as text, and to read them takes longer than all the rest."""


def from_json(given: Any, kind: Any = Board) -> Any:
    """The board, or part of it, of type `kind`, that `as_json` made `given` from."""
    origin = get_origin(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{name: from_json(one, hints[name]) for name, one in given.items() if name in hints})
    if origin is tuple:
        kinds = get_args(kind)
        inner = [kinds[0]] * len(given) if kinds[-1:] == (Ellipsis,) else list(kinds)
        return tuple(from_json(one, its) for one, its in zip(given, inner, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        inner_kind = get_args(kind)[1]
        return {key: from_json(one, inner_kind) for key, one in given.items()}
    return given
