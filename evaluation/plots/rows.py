"""Figures of one line a row: a name, a mark with its interval, the numbers behind it.

Wide, the name stands before the line and the numbers behind it; narrow, both stand above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.plots.entries import FEW
from evaluation.plots.scales import Scale
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import breadth, shortened, wrapped

NAMES = 196.0
"""Where the plot of a wide figure begins."""
NUMBERS = 136.0
"""How much room numbers have behind it."""


@dataclass(frozen=True)
class Row:
    """A line of the figure. `said` is the number that is written, `also` a second share marked by a hollow
    diamond; `words` stand in place of a mark that cannot be."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    said: str
    n: int
    hollow: bool = False
    is_base: bool = False
    also: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Axis:
    """What the horizontal axis says: percent without decimals, or with `fraction` the numbers themselves;
    `rule` is where a dashed line stands (a baseline), `zero` where a solid one does."""

    low: float
    high: float
    label: str
    rule: float | None = None
    zero: float | None = None
    signed: bool = False
    fraction: bool = False


def draw_rows(rows: Sequence[Row], axis: Axis, look: Look, *, nothing: str, key: str = "") -> bytes:
    """The figure. `nothing` stands where there are no rows; `key` explains the marks, above them."""
    step = 46.0 if look.is_narrow else 28.0
    labels = wrapped(axis.label, look.pixels - 16 if look.is_narrow else 480, look.size)
    keys = wrapped(key, look.pixels - 16, look.small)
    head = 10.0 + 16 * len(keys) + (6 if keys else 0)
    height = head + step * max(1, len(rows)) + 26 + 18 * len(labels) + 6

    def paint(sheet: Sheet) -> None:
        for place, line in enumerate(keys):
            y = sheet.top + 14 + 16 * place
            sheet.write(8, y, line, size=look.small, colour=sheet.theme.ink_2)
        _paint(sheet, rows, axis, labels, (sheet.top + head, step), nothing)

    return drawn(look, height, paint)


def _paint(
    sheet: Sheet, rows: Sequence[Row], axis: Axis, labels: list[str], place: tuple[float, float], nothing: str
) -> None:
    look, colours = sheet.look, sheet.theme
    start, end = (16.0, sheet.width - 16) if look.is_narrow else (NAMES, sheet.width - NUMBERS)
    scale = Scale(axis.low, axis.high, start, end)
    top, step = place
    bottom = top + step * max(1, len(rows))
    # Upright lines do not run through the names that stand above the marks.
    bands = [(top, bottom)]
    if look.is_narrow:
        bands = [(top + step * at + 23, top + step * at + 41) for at in range(max(1, len(rows)))]
    draw_grid(sheet, scale, bands, bottom, signed=axis.signed, fraction=axis.fraction)
    for first, last in bands:
        if axis.zero is not None:
            sheet.line([scale.at(axis.zero)] * 2, [first, last], colours.edge, width=1.2)
        if axis.rule is not None:
            sheet.line([scale.at(axis.rule)] * 2, [first, last], colours.base, width=1.3, dashes=(3, 3))
    for at, line in enumerate(labels):
        middle = sheet.width / 2 if look.is_narrow else (start + end) / 2
        sheet.write(middle, bottom + 32 + 18 * at, line, colour=colours.ink_2, side="center")
    if not rows:
        sheet.write(start, top + step / 2, nothing, colour=colours.ink_2)
    for at, row in enumerate(rows):
        y = top + step * at
        if look.is_narrow:
            _words_above(sheet, row, y + 14)
            _mark(sheet, scale, row, y + 32)
        else:
            _words_beside(sheet, row, y + step / 2)
            _mark(sheet, scale, row, y + step / 2)


def draw_grid(
    sheet: Sheet,
    scale: Scale,
    bands: Sequence[tuple[float, float]],
    bottom: float,
    *,
    signed: bool = False,
    most: int = 6,
    fraction: bool = False,
) -> None:
    """Upright hair lines through the bands of height, with percentages, points, fractions under `bottom`."""
    for tick in scale.ticks(4 if sheet.look.is_narrow else most):
        x = scale.at(tick)
        for first, last in bands:
            sheet.line([x, x], [first, last], sheet.theme.hair)
        whole = round(100 * tick)
        sign = "+" if signed and whole > 0 else "−" if whole < 0 else ""
        said = f"{tick:.1f}" if fraction else f"{sign}{abs(whole)}"
        sheet.write(x, bottom + 12, said, size=sheet.look.small, colour=sheet.theme.ink_3, side="center")


def draw_interval(
    sheet: Sheet, ends: tuple[float, float], y: float, colour: str, *, few: bool = False, cap: float = 4.0
) -> None:
    """A line between two pixels with caps; dashed where the items are few."""
    left, right = ends
    sheet.line([left, right], [y, y], colour, width=1.6, dashes=(2.2, 1.6) if few else None)
    for x in ends:
        sheet.line([x, x], [y - cap, y + cap], colour, width=1.6)


def said_n(n: int) -> str:
    """n 207, or n 12 (few)."""
    return f"n {n} (few)" if 0 < n < FEW else f"n {n}"


def _mark(sheet: Sheet, scale: Scale, row: Row, y: float) -> None:
    colours = sheet.theme
    if row.value is None:
        most = scale.end - scale.start
        words = shortened(row.words or "nothing to show", most, sheet.look.small)
        sheet.write(scale.start + 4, y, words, size=sheet.look.small, colour=colours.ink_3)
        return
    colour = colours.ink_2 if row.is_base else colours.accent
    if row.low is not None and row.high is not None:
        ends = scale.at(row.low), scale.at(row.high)
        draw_interval(sheet, ends, y, colours.ink_2, few=row.n < FEW)
    if row.also is not None:
        sheet.dot(scale.at(row.also), y, colours.base, marker="D", size=8.5, hollow=True)
    sheet.dot(scale.at(row.value), y, colour, size=8.5, hollow=row.hollow)


def _words_above(sheet: Sheet, row: Row, y: float) -> None:
    look = sheet.look
    right = sheet.width - 16
    n = said_n(row.n)
    sheet.write(right, y, n, size=look.small, colour=sheet.theme.ink_3, side="right")
    right -= breadth(n, look.small) + 8
    sheet.write(right, y, row.said, bold=True, side="right")
    right -= breadth(row.said, look.size) * 1.05 + 10
    sheet.write(16, y, shortened(row.name, right - 16, look.size))


def _words_beside(sheet: Sheet, row: Row, y: float) -> None:
    look = sheet.look
    sheet.write(NAMES - 12, y, shortened(row.name, NAMES - 20, look.size), side="right")
    sheet.write(sheet.width - NUMBERS + 56, y, row.said, bold=True, side="right")
    right = sheet.width - 8
    sheet.write(right, y, said_n(row.n), size=look.small, colour=sheet.theme.ink_3, side="right")
