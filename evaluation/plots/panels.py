"""Figures of many small panels that share their axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from evaluation.domain.boards import Board, Cell, Entry, Measure
from evaluation.plots.entries import FEW, STEPS, attributes_of, axis_of, cell_of, label_of, ranked
from evaluation.plots.rows import draw_grid, draw_interval
from evaluation.plots.scales import Scale
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import brief, counted, shortened, wrapped

NOTHING = "There are no models to show."


def attributes(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """A panel an attribute, a line a model, best first: points with 95 % intervals, baselines hollow."""
    entries, keys = ranked(board, measure), attributes_of(board)
    across = 2 if look.is_narrow else 4
    lines = [keys[start : start + across] for start in range(0, len(keys), across)]
    if not entries or not lines:
        return _nothing(look)
    step = 21.0 if look.is_narrow else 20.0
    block = 46 + step * len(entries) + 34
    key = wrapped(
        f"{axis_of(measure)}; lines: 95 % intervals, clustered by profile; dashed and “few”: fewer than 30 "
        "items; hollow: a baseline.",
        look.pixels - 16,
        look.small,
    )

    def paint(sheet: Sheet) -> None:
        _foot(sheet, key, sheet.top + block * len(lines) + 4)
        for place, line in enumerate(lines):
            _block(sheet, entries, line, measure, (sheet.top + block * place, step))

    return drawn(look, block * len(lines) + 12 + 16 * len(key), paint)


def _block(
    sheet: Sheet, entries: Sequence[Entry], keys: Sequence[str], measure: str, place: tuple[float, float]
) -> None:
    look, colours = sheet.look, sheet.theme
    top, step = place
    across = 2 if look.is_narrow else 4
    names = 116.0 if look.is_narrow else 158.0
    gap = 24.0
    breadth = (sheet.width - names - 14 - gap * (across - 1)) / across
    first, last = top + 46, top + 46 + step * len(entries)
    for at, entry in enumerate(entries):
        name = shortened(entry.name, names - 18, look.small)
        sheet.write(names - 10, first + step * (at + 0.5), name, size=look.small, side="right")
    for column, key in enumerate(keys):
        left = names + column * (breadth + gap)
        scale = Scale(0, 1, left, left + breadth)
        cells = [cell_of(one.by_attribute, measure, key) for one in entries]
        ns = [cell.n for cell in cells if cell.n]
        few = " (few)" if ns and min(ns) < FEW else ""
        sheet.write(left, top + 16, shortened(label_of(key), breadth + gap - 6, look.size), bold=True)
        sheet.write(left, top + 33, counted(ns) + few, size=look.small, colour=colours.ink_3)
        draw_grid(sheet, scale, [(first, last)], last, most=2)
        for at, (entry, cell) in enumerate(zip(entries, cells, strict=True)):
            _point(sheet, scale, cell, first + step * (at + 0.5), entry)


def _point(sheet: Sheet, scale: Scale, cell: Cell, y: float, entry: Entry) -> None:
    colours = sheet.theme
    if cell.value is None:
        sheet.write(scale.at(0.5), y, "–", size=sheet.look.small, colour=colours.ink_3, side="center")
        return
    if cell.low is not None and cell.high is not None:
        draw_interval(
            sheet, (scale.at(cell.low), scale.at(cell.high)), y, colours.edge, few=cell.n < FEW, cap=0
        )
    colour = colours.ink_2 if entry.is_baseline else colours.accent
    sheet.dot(scale.at(cell.value), y, colour, size=7.0, hollow=entry.is_baseline)


def hardness(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """A panel a model, best first: the share that is right of labels of hardness 1 to 5, with 95 %
    intervals; hollow where fewer than 30 items are behind it; the other models faint behind it."""
    return _steps(board, look, measure, "hardness")


def certainty(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """The same by the certainty of the label."""
    return _steps(board, look, measure, "certainty")


def _steps(board: Board, look: Look, measure: str, what: str) -> bytes:
    entries = ranked(board, measure)
    lines = [
        [
            cell_of(one.by_hardness if what == "hardness" else one.by_certainty, measure, step)
            for step in STEPS
        ]
        for one in entries
    ]
    if not entries:
        return _nothing(look)
    across = 2 if look.is_narrow else 4
    high = 168.0
    down = -(-len(entries) // across)
    key = wrapped(
        f"{axis_of(measure)}, by {what} of the label from 1 to 5, with n under it; bars: "
        "95 % intervals, clustered by profile; hollow: fewer than 30 items; faint: the other models.",
        look.pixels - 16,
        look.small,
    )

    def paint(sheet: Sheet) -> None:
        _foot(sheet, key, sheet.top + high * down + 4)
        breadth = (sheet.width - 34 - 8) / across
        for place, entry in enumerate(entries):
            row, column = divmod(place, across)
            corner = (34 + column * breadth, sheet.top + high * row)
            _panel(sheet, entry, lines, place, corner, breadth - 16)

    return drawn(look, high * down + 12 + 16 * len(key), paint)


def _panel(
    sheet: Sheet,
    entry: Entry,
    lines: Sequence[Sequence[Cell]],
    own: int,
    corner: tuple[float, float],
    breadth: float,
) -> None:
    look, colours = sheet.look, sheet.theme
    left, top = corner
    y = Scale(0, 1, top + 122, top + 30)
    xs = [left + breadth * (place + 0.5) / len(STEPS) for place in range(len(STEPS))]
    sheet.write(left, top + 14, shortened(entry.name, breadth + 10, look.small), size=look.small, bold=True)
    for tick in (0.0, 0.5, 1.0):
        sheet.line([left, left + breadth], [y.at(tick)] * 2, colours.hair)
        if left < 40:
            said = f"{100 * tick:.0f}"
            sheet.write(left - 6, y.at(tick), said, size=look.small - 1, colour=colours.ink_3, side="right")
    _joined(sheet, [*lines[:own], *lines[own + 1 :]], xs, y, colours.faint, 1.0)
    cells = lines[own]
    colour = colours.ink_2 if entry.is_baseline else colours.accent
    _joined(sheet, [cells], xs, y, colour, 1.8)
    for x, step, cell in zip(xs, STEPS, cells, strict=True):
        sheet.write(x, top + 134, step, size=look.small, colour=colours.ink_2, side="center")
        sheet.write(x, top + 149, brief(cell.n), size=look.small - 1, colour=colours.ink_3, side="center")
        if cell.value is None:
            continue
        if cell.low is not None and cell.high is not None:
            sheet.line([x, x], [y.at(cell.low), y.at(cell.high)], colour, width=1.1)
        sheet.dot(x, y.at(cell.value), colour, size=7.0, hollow=cell.n < FEW)
    if left < 40:
        sheet.write(left - 6, top + 149, "n", size=look.small - 1, colour=colours.ink_3, side="right")


def _joined(
    sheet: Sheet, lines: Sequence[Sequence[Cell]], xs: Sequence[float], y: Scale, colour: str, width: float
) -> None:
    """Each line through the cells that have a share; all of them as one path."""
    path: list[tuple[float, float]] = []
    for cells in lines:
        known = [(x, y.at(cell.value)) for x, cell in zip(xs, cells, strict=True) if cell.value is not None]
        if len(known) > 1:
            path += [*known, (nan, nan)]
    if path:
        sheet.line([x for x, _ in path], [at for _, at in path], colour, width=width)


def _foot(sheet: Sheet, lines: Sequence[str], y: float) -> None:
    for place, line in enumerate(lines):
        sheet.write(8, y + 8 + 16 * place, line, size=sheet.look.small, colour=sheet.theme.ink_2)


def _nothing(look: Look) -> bytes:
    return drawn(look, 48, lambda sheet: sheet.write(16, sheet.top + 24, NOTHING, colour=sheet.theme.ink_2))
