"""The numbers of a figure as a table, for its page and as CSV: the very numbers that are drawn.

Shares are in percent and differences in percentage points, with four decimals in the file and one on the
page. What cannot be said stays empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.exchange.tables import Table
from evaluation.domain.boards import Board, Cell, Entry
from evaluation.plots.costs import cost_of, costed, said_dollars
from evaluation.plots.entries import (
    FEW,
    STEPS,
    attributes_of,
    cell_of,
    label_of,
    masked_order,
    ranked,
    share_of,
    to_best,
)
from evaluation.plots.reference import beside
from evaluation.plots.scaling import sized
from evaluation.plots.wordwise import percent, points
from evaluation.selectors.figures import Subject
from simulation.domain.attributes import HARDNESS
from simulation.domain.money import dollars


@dataclass(frozen=True)
class Column:
    """`key` names it in the file, `head` on the page. Kinds: text, percent and points (of shares from 0 to
    1), n, number, usd, p, yes."""

    key: str
    head: str
    kind: str = "text"

    @property
    def is_number(self) -> bool:
        """Whether it is set right."""
        return self.kind not in ("text", "yes")

    def said(self, value: Any) -> str:
        """A cell as the page says it."""
        if value is None or value == "":
            return "–" if self.is_number else ""
        if self.kind in _SAID:
            return _SAID[self.kind](value)
        return str(value)

    def written(self, value: Any) -> Any:
        """A cell as the file says it."""
        return round(100 * value, 4) if self.kind in ("percent", "points") and value is not None else value


def _n(value: int) -> str:
    return f"{value} (few)" if 0 < value < FEW else str(value)


_SAID: dict[str, Callable[[Any], str]] = {
    "percent": percent,
    "points": points,
    "n": _n,
    "number": lambda value: f"{value:g}",
    "usd": said_dollars,
    "p": lambda value: "<0.001" if value < 0.001 else f"{value:.3f}",
    "yes": lambda value: "yes" if value else "no",
}


@dataclass(frozen=True)
class FigureTable:
    """Rows of raw values, in the order of `columns`."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    @property
    def lines(self) -> list[list[tuple[Column, str]]]:
        """The rows in words."""
        return [
            [(column, column.said(value)) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def as_table(self) -> Table:
        """As a file has it."""
        return Table(
            [column.key for column in self.columns],
            [
                [column.written(value) for column, value in zip(self.columns, row, strict=True)]
                for row in self.rows
            ],
        )


MODEL = (Column("model", "Model"), Column("scoring", ""))
SHARE = (
    Column("right_percent", "Right, %", "percent"),
    Column("low_95_percent", "95 % from", "percent"),
    Column("high_95_percent", "to", "percent"),
    Column("n", "n", "n"),
    Column("profiles", "profiles", "number"),
)
GAP = (
    Column("difference_points", "Difference", "points"),
    Column("low_95_points", "95 % from", "points"),
    Column("high_95_points", "to", "points"),
    Column("n", "n", "n"),
)
NOTE = Column("note", "Note")


def table_of(one: Subject) -> FigureTable:
    """The numbers of a figure; no rows where there is nothing to draw."""
    if one.definition.key == "labels":
        return _labels(one)
    if one.board is None or one.missing:
        return FigureTable((), ())
    return _TABLES[one.definition.key](one, one.board)


def _share(cell: Cell) -> tuple[Any, ...]:
    return cell.value, cell.low, cell.high, cell.n, cell.clusters


def _model(entry: Entry) -> tuple[str, str]:
    return entry.name, entry.scoring


def _ranking(one: Subject, board: Board) -> FigureTable:
    columns = (
        *MODEL,
        Column("baseline", "Baseline", "yes"),
        *SHARE,
        Column("right_of_answered_percent", "Of answered, %", "percent"),
        Column("answered", "answered", "n"),
        NOTE,
    )
    rows = []
    for entry in ranked(board, one.measure):
        both = entry.overall.get(one.measure)
        asked = share_of(entry, one.measure)
        of = (both.answered.value, both.answered.n) if both else (None, None)
        rows.append((*_model(entry), entry.is_baseline, *_share(asked), *of, asked.words))
    return FigureTable(columns, rows)


def _differences(one: Subject, board: Board) -> FigureTable:
    columns = (
        Column("best", "Best"),
        *MODEL,
        *GAP,
        Column("profiles", "profiles", "number"),
        Column("p", "p", "p"),
        Column("p_holm", "p, Holm", "p"),
        Column("excludes_zero", "Excludes zero", "yes"),
        NOTE,
    )
    best, gaps = to_best(board, one.measure)
    rows: list[Sequence[Any]] = []
    for gap in gaps:
        name, pair = best.name if best else "", gap.pair
        if pair is None:
            rows.append((name, *_model(gap.entry), *[None] * 8, "not compared"))
            continue
        numbers = (pair.value, pair.low, pair.high, pair.n, pair.clusters, pair.p, pair.holm)
        rows.append((name, *_model(gap.entry), *numbers, pair.excludes_zero, pair.words))
    return FigureTable(columns, rows)


def _scaling(one: Subject, board: Board) -> FigureTable:
    size = Column("parameters_billions", "Billions", "number")
    columns = (*MODEL, Column("family", "Family"), size, *SHARE)
    small, others = sized(board, one.measure)
    bases = [entry for entry in ranked(board, one.measure) if entry.is_baseline]
    rows = [
        (*_model(entry), entry.family, entry.parameters, *_share(share_of(entry, one.measure)))
        for entry in (*small, *others, *bases)
    ]
    return FigureTable(columns, rows)


def _costs(one: Subject, board: Board) -> FigureTable:
    columns = (
        *MODEL,
        Column("text", "Text"),
        Column("cost_usd_a_profile", "USD a profile", "usd"),
        Column("cost_usd", "USD in all", "usd"),
        Column("profiles_asked", "profiles asked", "number"),
        *SHARE,
        Column("not_beaten", "No other beats", "yes"),
        NOTE,
    )
    found = costed(board, one.measure)
    rows = [
        (
            *(*_model(entry), entry.text, cost_of(entry)),
            *(None if entry.cost is None else float(dollars(entry.cost)), entry.profiles),
            *(*_share(share_of(entry, one.measure)), entry in found.best, found.note(entry)),
        )
        for entry in (*found.drawn, *found.free, *found.unknown, *found.unscored)
    ]
    return FigureTable(columns, rows)


def _attributes(one: Subject, board: Board) -> FigureTable:
    rows = []
    for key in attributes_of(board):
        for entry in ranked(board, one.measure):
            cell = cell_of(entry.by_attribute, one.measure, key)
            rows.append((label_of(key), *_model(entry), *_share(cell), cell.words))
    return FigureTable((Column("attribute", "Attribute"), *MODEL, *SHARE, NOTE), rows)


def _steps(one: Subject, board: Board) -> FigureTable:
    what = one.definition.key
    rows = []
    for entry in ranked(board, one.measure):
        groups = entry.by_hardness if what == "hardness" else entry.by_certainty
        for step in STEPS:
            cell = cell_of(groups, one.measure, step)
            rows.append((*_model(entry), int(step), *_share(cell), cell.words))
    return FigureTable((*MODEL, Column(what, what.capitalize(), "number"), *SHARE, NOTE), rows)


def _anonymised(one: Subject, board: Board) -> FigureTable:
    columns = (
        Column("model", "Model"),
        Column("attribute", "Attribute"),
        Column("plain_percent", "Plain, %", "percent"),
        Column("plain_n", "n", "n"),
        Column("anonymised_percent", "Anonymised, %", "percent"),
        Column("anonymised_n", "n", "n"),
        *GAP[:3],
        Column("n", "n of both", "n"),
        Column("excludes_zero", "Excludes zero", "yes"),
    )
    rows = []
    for masked in board.masked:
        for key in masked_order(masked):
            plain, hidden, pair = masked.rows[key]
            shares = (plain.value, plain.n, hidden.value, hidden.n)
            gap = (pair.value, pair.low, pair.high, pair.n, pair.excludes_zero)
            rows.append((masked.model, label_of(key), *shares, *gap))
    return FigureTable(columns, rows)


def _reference(one: Subject, board: Board) -> FigureTable:
    columns = (
        Column("attribute", "Attribute"),
        *MODEL,
        *SHARE,
        Column("reference_percent", "Reference, %", "percent"),
        Column("reference_n", "its n", "n"),
        Column("difference_points", "Difference", "points"),
    )
    rows: list[Sequence[Any]] = []
    if one.entry and one.reference:
        for key, cell, value in beside(board, one.entry, one.reference.values):
            gap = None if cell.value is None else cell.value - value
            n = one.reference.values[key].get("n")
            rows.append((label_of(key), *_model(one.entry), *_share(cell), value, n, gap))
    return FigureTable(columns, rows)


def _labels(one: Subject) -> FigureTable:
    steps = [Column(f"hardness_{mark.number}", f"{mark.number} {mark.word}", "number") for mark in HARDNESS]
    columns = (Column("attribute", "Attribute"), *steps, Column("all", "All", "n"))
    rows = [(name, *counts, sum(counts)) for name, counts in one.counts.items()]
    if rows:
        whole = [sum(column) for column in zip(*one.counts.values(), strict=True)]
        rows.append(("All attributes", *whole, sum(whole)))
    return FigureTable(columns, rows)


_TABLES: dict[str, Callable[[Subject, Board], FigureTable]] = {
    "ranking": _ranking,
    "differences": _differences,
    "scaling": _scaling,
    "costs": _costs,
    "attributes": _attributes,
    "hardness": _steps,
    "certainty": _steps,
    "anonymised": _anonymised,
    "reference": _reference,
}
