"""Privacy against utility: how right models still are over how like their originals masked texts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.domain.boards import Cell
from evaluation.plots.entries import FEW
from evaluation.plots.scales import Scale, shares_around
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.themes import MARKERS
from evaluation.plots.wordwise import breadth, counted, shortened, wrapped

_KEY = (
    "Filled: masked text, a colour a model. Hollow, at 100: the same model on plain text. Lower is more "
    "private, further right more useful. Bars: 95 % intervals, dashed where fewer than 30 items."
)

GAP = 40.0
"""Pixels over the plot for what its axis and its columns are called."""
APART, MOST_APART = 4.0, 6
"""Pixels by which models of one masking stand apart, where they are not too many for it."""


@dataclass(frozen=True)
class Point:
    """One model asked about texts of one masking. `similarity` is the mean edit similarity, 0 to 1."""

    model: str
    masking: str
    similarity: float
    plain: Cell
    masked: Cell


def privacy_utility(points: Sequence[Point], look: Look) -> bytes:
    """A point a masking and model; points without a share are left out. Both axes are percentages."""
    shown = [one for one in points if one.masked.value is not None and one.plain.value is not None]
    models = sorted({one.model for one in shown})
    keys = wrapped(_KEY, look.pixels - 16, look.small)
    legend = _legend(look, models)
    head = 14.0 + 16 * len(keys) + 20 * (1 + max((row for _, row, _ in legend), default=-1))
    tall = 240.0 if look.is_narrow else 300.0
    numbers = counted([one.masked.n for one in shown])
    label = wrapped(f"Similarity to the original, % of characters ({numbers})", look.pixels - 60, look.size)

    def paint(sheet: Sheet) -> None:
        for place, line in enumerate(keys):
            y = sheet.top + 14 + 16 * place
            sheet.write(8, y, line, size=look.small, colour=sheet.theme.ink_2)
        for name, row, x in legend:
            place = models.index(name)
            y = sheet.top + 18 + 16 * len(keys) + 20 * row
            sheet.dot(x + 6, y, _colour(sheet, place), marker=MARKERS[place % len(MARKERS)], size=9)
            called = shortened(name, 180, look.small)
            sheet.write(x + 17, y, called, size=look.small, colour=sheet.theme.ink_2)
        top = sheet.top + head + GAP
        if shown:
            _plot(sheet, shown, models, (top, top + tall))
        else:
            words = wrapped(
                "No run on masked text is scored beside one on plain text.", look.pixels - 32, look.size
            )
            for place, line in enumerate(words):
                sheet.write(16, top + 20 + 18 * place, line, colour=sheet.theme.ink_2)
        for place, line in enumerate(label if shown else ()):
            y = top + tall + 34 + 18 * place
            sheet.write(sheet.width / 2, y, line, colour=sheet.theme.ink_2, side="center")

    return drawn(look, head + GAP + (tall + 30 + 18 * len(label) + 8 if shown else 48), paint)


def _legend(look: Look, models: Sequence[str]) -> list[tuple[str, int, float]]:
    """(model, line, pixel) of each model's key, in as many lines as they need."""
    found, line, x = [], 0, 8.0
    for name in models:
        needs = 17 + breadth(shortened(name, 180, look.small), look.small) + 14
        if x + needs > look.pixels and x > 8:
            line, x = line + 1, 8.0
        found.append((name, line, x))
        x += needs
    return found


def _colour(sheet: Sheet, place: int) -> str:
    return sheet.theme.series[place % len(sheet.theme.series)]


def _plot(sheet: Sheet, shown: Sequence[Point], models: Sequence[str], place: tuple[float, float]) -> None:
    look, colours, (top, bottom) = sheet.look, sheet.theme, place
    cells = [cell for one in shown for cell in (one.plain, one.masked)]
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    up = Scale(*shares_around(ends), bottom, top)
    low, _ = shares_around([*(one.similarity for one in shown), 1.0])
    across = Scale(low, 1.0, 48, sheet.width - 24)
    sheet.write(8, top - 30, "First guess right, % of all asked", size=look.small, colour=colours.ink_2)
    for tick in up.ticks(7):
        y = up.at(tick)
        sheet.line([44, sheet.width - 16], [y, y], colours.hair)
        sheet.write(36, y, f"{100 * tick:.0f}", size=look.small, colour=colours.ink_3, side="right")
    for tick in across.ticks(5):
        x = across.at(tick)
        sheet.line([x, x], [bottom, bottom + 4], colours.edge)
        sheet.write(x, bottom + 13, f"{100 * tick:.0f}", size=look.small, colour=colours.ink_3, side="center")
    for one in shown:
        at = models.index(one.model)
        aside = APART * (at - (len(models) - 1) / 2) if len(models) <= MOST_APART else 0.0
        xs = across.at(one.similarity) + aside, across.at(1.0) + aside
        ys = up.at(one.masked.value or 0.0), up.at(one.plain.value or 0.0)
        sheet.line(xs, ys, colours.faint, width=1.2)
        _bar(sheet, one.masked, xs[0], up, at)
        marker = MARKERS[at % len(MARKERS)]
        sheet.dot(xs[1], ys[1], _colour(sheet, at), marker=marker, size=8, hollow=True)
        sheet.dot(xs[0], ys[0], _colour(sheet, at), marker=marker, size=9)
    _names(sheet, shown, across, top)


def _bar(sheet: Sheet, cell: Cell, x: float, up: Scale, place: int) -> None:
    if cell.low is None or cell.high is None:
        return
    dashes = (2.2, 1.6) if cell.n < FEW else None
    sheet.line([x, x], [up.at(cell.low), up.at(cell.high)], _colour(sheet, place), width=1.2, dashes=dashes)


def _names(sheet: Sheet, shown: Sequence[Point], across: Scale, top: float) -> None:
    """The maskings over the plot, at their similarity; those without room are in the table."""
    taken = -1.0
    for similarity, name in sorted({(one.similarity, one.masking) for one in shown}):
        words = shortened(name, 140, sheet.look.small)
        wide = breadth(words, sheet.look.small)
        left = min(max(8.0, across.at(similarity) - wide / 2), sheet.width - 16 - wide)
        if left > taken:
            sheet.write(left, top - 11, words, size=sheet.look.small, colour=sheet.theme.ink_3)
            taken = left + wide + 10
