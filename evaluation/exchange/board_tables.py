"""The tables of a leaderboard as CSV, with the very numbers of its pages: shares in percent, differences in
percentage points, p-values as they are. What cannot be said stays empty.
"""

from __future__ import annotations

from collections.abc import Callable

from annotation.exchange.tables import Row, Table
from evaluation.domain.boards import Board, Cell, Entry, Measure
from evaluation.selectors.board_lines import RUNG_WORDS, Grid, grids, ranking
from evaluation.selectors.board_pairs import differences, masked_rows
from evaluation.selectors.board_references import Beside
from simulation.domain.money import dollars

PLACES = 4
CELL = ("percent", "low_95", "high_95", "n", "profiles")


def _hundred(share: float | None) -> float | None:
    return None if share is None else round(100 * share, PLACES)


def _cell(cell: Cell) -> Row:
    return (_hundred(cell.value), _hundred(cell.low), _hundred(cell.high), cell.n, cell.clusters)


def _settled(cell: Cell) -> Row:
    """What the share can become once what is open is settled; the same twice where nothing is."""
    return (_hundred(cell.least), _hundred(cell.most))


def _who(entry: Entry) -> Row:
    return (entry.name, entry.model, entry.scoring)


WHO = ("name", "model", "scoring")


def lines(board: Board, measure: Measure) -> Table:
    """The ranking: a row for each model, baselines last and without a rank."""
    rungs = {rung: "decided_" + (words.replace(" ", "_")) for rung, words in RUNG_WORDS.items()}
    outcomes = ("refused", "unparsed", "error", "not_asked")
    columns = (
        *("rank", *WHO, "family", "parameters_billions", "origin", "text", "measure"),
        *(f"asked_{name}" for name in CELL),
        *("asked_right", "settled_least_percent", "settled_most_percent"),
        *(f"answered_{name}" for name in CELL),
        *(*outcomes, "open", *rungs.values(), "cost_usd", "note"),
    )
    rows: list[Row] = []
    for line in ranking(board, measure).lines:
        one = line.entry
        rows.append(
            (
                *(line.rank, *_who(one), one.family, one.parameters, one.origin, one.text, measure.value),
                *_cell(line.asked.cell),
                *(line.asked.cell.right, *_settled(line.asked.cell)),
                *_cell(line.answered.cell),
                *(one.outcomes.get(name, 0) for name in outcomes),
                line.open,
                *(one.rungs.get(rung, 0) for rung in rungs),
                None if one.cost is None else dollars(one.cost),
                line.notes,
            )
        )
    return Table(columns, rows)


def _grid(name: str) -> Callable[[Board, Measure], Table]:
    def table(board: Board, measure: Measure) -> Table:
        found: Grid = next(one for one in grids(board, measure) if one.table == name)
        columns = (found.what.lower(), "labels", *WHO, *CELL, "right", "open", "note")
        rows = [
            (
                *(row.key, row.labels, *_who(entry), *_cell(said.cell)),
                *(said.cell.right, said.cell.open, said.cell.words),
            )
            for row in found.rows
            for entry, said in zip(found.columns, row.cells, strict=True)
        ]
        return Table(columns, rows)

    return table


def pairs(board: Board, measure: Measure) -> Table:
    """A row for each pair, the better-placed model first."""
    found = differences(board, measure)
    columns = (
        *("first", "second", "measure", "difference_points", "low_95", "high_95", "p", "p_holm"),
        *("excludes_zero", "n", "profiles", "only_first_right", "only_second_right", "p_mcnemar", "note"),
    )
    rows: list[Row] = []
    for gap in found.gaps:
        one = gap.pair
        ends = (_hundred(one.value), _hundred(one.low), _hundred(one.high))
        rows.append(
            (
                *(gap.first.name, gap.second.name, found.measure.value, *ends, one.p, one.holm),
                *(one.excludes_zero, one.n, one.clusters, one.only_first, one.only_second, one.mcnemar),
                one.words,
            )
        )
    return Table(columns, rows)


def anonymised(board: Board, measure: Measure) -> Table:
    """A row for each model that was shown both texts and each attribute, top-1 whatever the measure."""
    columns = (
        *("model", "attribute", *(f"plain_{name}" for name in CELL)),
        *(f"anonymised_{name}" for name in CELL),
        *("difference_points", "low_95", "high_95", "p", "p_holm", "excludes_zero", "n", "profiles", "note"),
    )
    rows: list[Row] = []
    for row in masked_rows(board):
        gap = row.gap
        ends = (_hundred(gap.value), _hundred(gap.low), _hundred(gap.high))
        rows.append(
            (
                *(row.model, row.label or "all", *_cell(row.plain.cell), *_cell(row.anonymised.cell), *ends),
                *(gap.p, gap.holm, gap.excludes_zero, gap.n, gap.clusters, gap.words),
            )
        )
    return Table(columns, rows)


def reference(name: str, entry: Entry, rows: list[Beside]) -> Table:
    """A model beside a reference: a row for each attribute, and one for all."""
    columns = (
        *("attribute", "reference", "reference_percent", "reference_n", *WHO, *CELL),
        *("delta_points", "interval_holds_reference"),
    )
    return Table(
        columns,
        [
            (
                *(one.key or "all", name, _hundred(one.reference), one.n, *_who(entry)),
                *(*_cell(one.ours.cell), _hundred(one.delta), one.holds),
            )
            for one in rows
        ],
    )


TABLES: dict[str, Callable[[Board, Measure], Table]] = {
    "ranking": lines,
    "attributes": _grid("attributes"),
    "hardness": _grid("hardness"),
    "certainty": _grid("certainty"),
    "pairs": pairs,
    "anonymised": anonymised,
}
