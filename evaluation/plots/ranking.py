"""Which model is right how often, and by how much the best is ahead (the paper's Fig. 4)."""

from __future__ import annotations

from evaluation.domain.boards import Board, Entry, Measure
from evaluation.plots.entries import Gap, axis_of, ranked, share_of, to_best
from evaluation.plots.rows import Axis, Row, draw_rows
from evaluation.plots.scales import differences_around, shares_around
from evaluation.plots.sheet import Look
from evaluation.plots.wordwise import percent, plain, points

NOTHING = "There are no models to show."


def ranking(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """A point a model with its 95 % interval, best first; baselines hollow and last, the best of them as a
    dashed line. Models without a share are named with the reason."""
    entries = ranked(board, measure)
    cells = [share_of(one, measure) for one in entries]
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    low, high = shares_around(ends)
    label = f"{axis_of(measure)} (lines: 95 % intervals, clustered by profile)"
    axis = Axis(low, high, label, rule=_base(entries, measure))
    rows = [
        Row(
            one.name,
            cell.value,
            cell.low,
            cell.high,
            percent(cell.value),
            cell.n,
            hollow=one.is_baseline,
            is_base=one.is_baseline,
            words=cell.words,
        )
        for one, cell in zip(entries, cells, strict=True)
    ]
    return draw_rows(rows, axis, look, nothing=NOTHING, key="Dashed: the best baseline." if axis.rule else "")


def _base(entries: list[Entry], measure: str) -> float | None:
    values = [share_of(one, measure).value for one in entries if one.is_baseline]
    known = [value for value in values if value is not None]
    return max(known) if known else None


def differences(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """The best model less each other one, on the items that both have, with 95 % intervals; filled where
    the difference holds after Holm's correction over all pairs of the board."""
    best, gaps = to_best(board, measure)
    pairs = [gap.pair for gap in gaps if gap.pair]
    ends = [end for one in pairs for end in (one.value, one.low, one.high) if end is not None]
    low, high = differences_around(ends)
    name = plain(best.name) if best else "the best model"
    axis = Axis(low, high, "Difference, percentage points (lines: 95 % intervals)", zero=0.0, signed=True)
    key = f"{name} less each other. Filled: excludes zero after Holm’s correction. Hollow: it does not."
    return draw_rows(
        [_gap(one) for one in gaps], axis, look, nothing="There are not two to compare.", key=key
    )


def _gap(gap: Gap) -> Row:
    pair = gap.pair
    if pair is None:
        return Row(gap.entry.name, None, None, None, "–", 0, words="not compared")
    return Row(
        gap.entry.name,
        pair.value,
        pair.low,
        pair.high,
        points(pair.value),
        pair.n,
        hollow=not pair.excludes_zero,
        is_base=gap.entry.is_baseline,
        words=pair.words,
    )
