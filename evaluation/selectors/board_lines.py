"""A counted leaderboard as its pages show it: lines in order, places in the plot, shades, grids by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from evaluation.domain.boards import GROUPED, Board, Both, Cell, Entry, Measure
from evaluation.domain.verdicts import Rung
from evaluation.selectors.board_words import NONE, percent, span
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS

FEW = 30
"""A share of fewer items is marked: read it as a hint."""
PROVISIONAL = 0.02
"""With a larger share of its items open, a model has no rank."""
ENOUGH = 0.5
"""Asked for a smaller share of the labels that the board keeps, a model has no rank."""
SHADES = 7
OWN_LEFT_OUT = (
    "Each author’s own label is left out of the count: it can fall below chance where values are balanced."
)
SCALES = {"by_hardness": HARDNESS, "by_certainty": CERTAINTY}
RUNG_WORDS = {
    Rung.EXACT: "same words",
    Rung.RULE: "rule",
    Rung.SIMILARITY: "similarity",
    Rung.JUDGE: "judge",
    Rung.PERSON: "person",
    Rung.RECORDED: "as recorded",
    "": "nobody yet",
}


@dataclass(frozen=True)
class Said:
    """A cell in words, with its place in a ramp of seven shades (1 to 7; 0: no value)."""

    cell: Cell
    shade: int = 0

    @property
    def value(self) -> str:
        return percent(self.cell.value)

    @property
    def interval(self) -> str:
        return span(self.cell.low, self.cell.high)

    @property
    def is_few(self) -> bool:
        return 0 < self.cell.n < FEW

    @property
    def between(self) -> str:
        """What the share can become, in words; empty where nothing is open or an old board does not say."""
        one = self.cell
        if not one.open or one.least is None or one.most is None:
            return ""
        still = f"{one.open} open ones are" if one.open > 1 else "open one is"
        return f"between {percent(one.least)} and {percent(one.most)} % once the {still} settled"

    @property
    def bounds(self) -> str:
        """The same as a span of percent."""
        return span(self.cell.least, self.cell.most)

    @property
    def right(self) -> str:
        """How many count as right: whole, or with a half."""
        return NONE if self.cell.right is None else f"{self.cell.right:g}"


@dataclass(frozen=True)
class Axis:
    """The stretch of shares that a plot shows, with its ticks."""

    low: float
    high: float

    def at(self, share: float) -> str:
        """Where a share lies, in percent of the width."""
        return f"{100 * (share - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(place, words); the outermost are left out, where their words would not fit."""
        step = 10 if self.high - self.low <= 0.65 else 20
        first = step * ceil(100 * self.low / step)
        marks = range(first, round(100 * self.high) + 1, step)
        inner = [mark for mark in marks if self.low + 0.02 < mark / 100 < self.high - 0.02]
        return [(self.at(mark / 100), f"{mark}%") for mark in inner]


@dataclass(frozen=True)
class Plot:
    """Places of a point and its interval in a plot."""

    point: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Segment:
    """How many first guesses one rung has decided, as a part of a bar."""

    words: str
    n: int
    start: str
    width: str
    shade: int


@dataclass(frozen=True)
class Line:
    """One model of the ranking. `rank` is None for a baseline, where there is no number, where too much is
    open (`is_provisional`), and where it was asked for too little (`is_partial`). `open` is by the measure;
    `labels` are those that the board keeps."""

    entry: Entry
    rank: int | None
    asked: Said
    answered: Said
    plot: Plot | None
    rungs: Sequence[Segment]
    open: int = 0
    labels: int = 0

    @property
    def n_asked(self) -> int:
        return self.asked.cell.n + self.open

    @property
    def is_provisional(self) -> bool:
        return self.open > PROVISIONAL * self.n_asked

    @property
    def is_partial(self) -> bool:
        return self.n_asked < ENOUGH * self.labels

    @property
    def unranked(self) -> str:
        """Why a model has no rank; empty where it has one, and for baselines."""
        if self.rank is not None or self.entry.is_baseline:
            return ""
        why = (self.asked_for, "provisional" if self.is_provisional else "")
        return ", ".join(filter(None, why))

    @property
    def asked_for(self) -> str:
        """Of how few labels, where they are too few for a rank."""
        return f"asked for {self.n_asked} of {self.labels}" if self.is_partial else ""

    @property
    def is_small(self) -> bool:
        return self.asked.is_few

    @property
    def notes(self) -> str:
        """What else is to be known of its number."""
        return " ".join(filter(None, (self.asked.cell.words, self._not_asked, self._base)))

    @property
    def _not_asked(self) -> str:
        n = self.entry.outcomes.get("not_asked", 0)
        if self.asked_for and not self.entry.is_baseline:
            return f"A{self.asked_for[1:]} labels: no rank."
        return f"Not asked for {n}." if n else ""

    @property
    def _base(self) -> str:
        return OWN_LEFT_OUT if self.entry.is_baseline else ""


@dataclass(frozen=True)
class Ranking:
    """All lines, best first by the measure, baselines last; the best baseline is drawn through the plot."""

    lines: Sequence[Line]
    axis: Axis
    baseline: Line | None

    @property
    def models(self) -> list[Line]:
        return [line for line in self.lines if not line.entry.is_baseline]

    @property
    def deciders(self) -> list[tuple[str, int]]:
        """(words, shade) of the rungs that have decided anything, in the ladder's order."""
        found = {part.shade: part.words for line in self.lines for part in line.rungs}
        return [(found[shade], shade) for shade in sorted(found)]

    @property
    def decided(self) -> list[tuple[Line, list[tuple[str, int]]]]:
        """Each line with (words, first guesses decided) for each of the deciders."""
        found = []
        for line in self.lines:
            known = {part.shade: part.n for part in line.rungs}
            found.append((line, [(words, known.get(shade, 0)) for words, shade in self.deciders]))
        return found

    @property
    def has_open(self) -> bool:
        return any(line.open for line in self.lines)

    @property
    def provisional(self) -> list[Line]:
        """Models of which so much is open that they have no rank."""
        return [line for line in self.models if line.is_provisional]

    @property
    def has_few(self) -> bool:
        return any(line.is_small for line in self.lines)

    @property
    def has_cost(self) -> bool:
        return any(line.entry.cost is not None for line in self.lines)


def ranking(board: Board, measure: Measure, also: Iterable[float] = ()) -> Ranking:
    """The board's lines by `measure`; the axis spans their intervals and the shares `also`."""
    entries = in_order(board.entries, measure)
    axis = _axis([_both(one, measure).asked for one in entries], also)
    lines: list[Line] = []
    for entry in entries:
        both = _both(entry, measure)
        asked, answered = Said(both.asked), Said(both.answered)
        still = both.asked.open or (entry.open if measure is not Measure.TOP3 else 0)
        plot = _plot(both.asked, axis)
        line = Line(entry, None, asked, answered, plot, _rungs(entry), still, board.labels)
        if not (entry.is_baseline or both.asked.value is None or line.is_provisional or line.is_partial):
            line = replace(line, rank=sum(one.rank is not None for one in lines) + 1)
        lines.append(line)
    baseline = next((line for line in lines if line.entry.is_baseline and line.plot), None)
    return Ranking(lines, axis, baseline)


def in_order(entries: Sequence[Entry], measure: Measure) -> list[Entry]:
    """Best first by `measure` over all that was asked, then those without a number, baselines last."""

    def place(entry: Entry) -> tuple[bool, bool, float]:
        value = _both(entry, measure).asked.value
        return entry.is_baseline, value is None, -(value or 0.0)

    return sorted(entries, key=place)


def _both(entry: Entry, measure: Measure) -> Both:
    return entry.overall.get(measure.value) or Both()


def _axis(cells: Iterable[Cell], also: Iterable[float]) -> Axis:
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None] + [*also]
    low = max(0, floor(10 * min(ends, default=0.0) - 0.3)) / 10
    high = min(10, ceil(10 * max(ends, default=1.0) + 0.3)) / 10
    return Axis(min(low, high - 0.2), high) if high >= 0.2 else Axis(0.0, 0.2)


def _plot(cell: Cell, axis: Axis) -> Plot | None:
    if cell.value is None:
        return None
    if cell.low is None or cell.high is None:
        return Plot(axis.at(cell.value))
    return Plot(axis.at(cell.value), axis.at(cell.low), axis.at(cell.high))


def _rungs(entry: Entry) -> list[Segment]:
    """In the ladder's order; nobody last."""
    whole = sum(entry.rungs.values())
    found, start = [], 0.0
    for shade, (rung, words) in enumerate(RUNG_WORDS.items(), start=1):
        if n := entry.rungs.get(rung, 0):
            width = 100 * n / whole
            found.append(Segment(words, n, f"{start:.2f}%", f"{width:.2f}%", shade))
            start += width
    return found


@dataclass(frozen=True)
class Row:
    """One group of labels: its name, how many labels the set has of it, and a cell for each model."""

    key: str
    label: str
    labels: int
    cells: Sequence[Said]


@dataclass(frozen=True)
class Grid:
    """Shares by group and model, shaded from `low` to `high` (shares)."""

    title: str
    what: str
    table: str
    columns: Sequence[Entry]
    rows: Sequence[Row]
    low: float
    high: float

    @property
    def ends(self) -> tuple[int, int]:
        """Of the ramp, in percent."""
        return round(100 * self.low), round(100 * self.high)


def grids(board: Board, measure: Measure) -> list[Grid]:
    """By attribute, hardness and certainty; of top-1 for measures that are not given by group."""
    name = (measure if measure in GROUPED else Measure.TOP1).value
    entries = in_order(board.entries, measure)
    parts = (
        ("By attribute", "Attribute", "attributes", "by_attribute", list(CATALOGUE)),
        ("By hardness", "Hardness", "hardness", "by_hardness", list("12345")),
        ("By certainty", "Certainty", "certainty", "by_certainty", list("12345")),
    )
    return [
        _grid(title, what, table, entries, name, field, getattr(board, field), order)
        for title, what, table, field, order in parts
    ]


def _grid(
    title: str,
    what: str,
    table: str,
    entries: Sequence[Entry],
    measure: str,
    field: str,
    labels: Mapping[str, int],
    order: Sequence[str],
) -> Grid:
    groups = [getattr(entry, field).get(measure, {}) for entry in entries]
    found = set(labels).union(*groups)
    keys = [key for key in order if key in found] + sorted(found.difference(order))
    if field == "by_attribute":
        keys.sort(key=lambda key: -labels.get(key, 0))
    values = [cell.value for group in groups for cell in group.values() if cell.value is not None]
    low, high = floor(10 * min(values, default=0)) / 10, ceil(10 * max(values, default=1)) / 10
    high = max(high, low + 0.1)
    return Grid(
        title,
        what,
        table,
        entries,
        [
            Row(
                key,
                label_of(field, key),
                labels.get(key, 0),
                [_said(one.get(key), low, high) for one in groups],
            )
            for key in keys
        ],
        low,
        high,
    )


def _said(cell: Cell | None, low: float, high: float) -> Said:
    if cell is None or cell.value is None:
        return Said(cell or Cell())
    return Said(cell, shade(cell.value, low, high))


def shade(value: float, low: float, high: float) -> int:
    """Which of seven shades a value between `low` and `high` has; 1 is the lightest."""
    return min(SHADES, max(1, 1 + floor(SHADES * (value - low) / (high - low))))


def label_of(field: str, key: str) -> str:
    """What a group is called: an attribute's label, or the number of a scale with its word."""
    if field == "by_attribute":
        return CATALOGUE[key].label if key in CATALOGUE else key
    words = {str(mark.number): mark.word for mark in SCALES[field]}
    return f"{key} {words.get(key, '')}".strip()
