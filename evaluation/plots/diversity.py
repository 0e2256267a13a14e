"""Shares of groups as bars, of one corpus or of two: the first bar is thick, the second thin and grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.plots.rows import draw_grid
from evaluation.plots.scales import Scale
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import breadth, shortened, wrapped

NAMES = 176.0
NUMBERS = 124.0
NOTHING = "There is nothing to show."


@dataclass(frozen=True)
class Mark:
    """A bar: its share (0 to 1), how many are behind it, and the ends of its interval where there is one."""

    share: float
    count: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bar:
    """One group: a mark for each series, None where the series has nothing at all. Of what is left over
    (`is_rest`) only the numbers are written: a bar would be longer than all others and say nothing."""

    name: str
    marks: tuple[Mark | None, ...]
    is_rest: bool = False


def bars(rows: Sequence[Bar], series: Sequence[str], label: str, look: Look) -> bytes:
    """The figure; `label` names the axis, in percent. Where there are two series a line above says which is
    which. Raises ValueError where a row has another number of marks than there are series, of which there
    are one or two."""
    if len(series) not in (1, 2) or any(len(row.marks) != len(series) for row in rows):
        raise ValueError("one or two series, and a mark of each in every row")
    key = 24.0 if len(series) > 1 else 6.0
    key = 42.0 if len(series) > 1 and look.is_narrow else key
    step = (22.0 if look.is_narrow else 12.0) + (20.0 if look.is_narrow else 16.0) * len(series)
    labels = wrapped(label, look.pixels - 32 if look.is_narrow else 420, look.size)
    height = key + step * max(1, len(rows)) + 30 + 18 * len(labels)
    return drawn(look, height, lambda sheet: _paint(sheet, rows, series, labels, (key, step)))


def _paint(
    sheet: Sheet,
    rows: Sequence[Bar],
    series: Sequence[str],
    labels: Sequence[str],
    sizes: tuple[float, float],
) -> None:
    look, colours = sheet.look, sheet.theme
    key, step = sizes
    top = sheet.top + key
    bottom = top + step * max(1, len(rows))
    start, end = (16.0, sheet.width - 108) if look.is_narrow else (NAMES, sheet.width - NUMBERS)
    scale = Scale(0.0, _highest(rows), start, end)
    if len(series) > 1:
        _key(sheet, series, start)
    bands = [(top, bottom)]
    if look.is_narrow:
        bands = [(top + step * at + 22, top + step * (at + 1)) for at in range(max(1, len(rows)))]
    draw_grid(sheet, scale, bands, bottom)
    for at, line in enumerate(labels):
        middle = sheet.width / 2 if look.is_narrow else (start + end) / 2
        sheet.write(middle, bottom + 32 + 18 * at, line, colour=colours.ink_2, side="center")
    if not rows:
        sheet.write(start, top + step / 2, NOTHING, colour=colours.ink_2)
    for at, row in enumerate(rows):
        y = top + step * at
        if look.is_narrow:
            sheet.write(16, y + 12, shortened(row.name, sheet.width - 32, look.size))
            first, each = y + 32, 20.0
        else:
            name = shortened(row.name, NAMES - 20, look.size)
            sheet.write(NAMES - 12, y + step / 2, name, side="right")
            first, each = y + 14, 16.0
        for place, mark in enumerate(row.marks):
            _bar(sheet, scale, mark, first + each * place, place, row.is_rest)


def _highest(rows: Sequence[Bar]) -> float:
    """The end of the axis: the largest share or end of an interval, in whole twentieths above it."""
    known = [0.05]
    for row in rows:
        if row.is_rest:
            continue
        known += [max(mark.share, mark.high or 0.0) for mark in row.marks if mark]
    return min(1.0, -(-max(known) * 20 // 1) / 20)


def _bar(sheet: Sheet, scale: Scale, mark: Mark | None, y: float, place: int, is_rest: bool) -> None:
    look, colours = sheet.look, sheet.theme
    if mark is None:
        sheet.write(scale.start + 4, y, "–", size=look.small, colour=colours.ink_3)
        return
    thick = 13.0 if place == 0 else 7.0
    length = scale.at(mark.share) - scale.start
    if mark.count and not is_rest:
        colour = colours.ramp[2] if place == 0 else colours.edge
        sheet.box(scale.start, y - thick / 2, max(length, 1.0), thick, colour)
    if mark.low is not None and mark.high is not None:
        ends = scale.at(mark.low), scale.at(mark.high)
        sheet.line(ends, [y, y], colours.ink_2, width=1.2)
        for x in ends:
            sheet.line([x, x], [y - 3, y + 3], colours.ink_2, width=1.2)
    right = sheet.width - 8
    number = f"{mark.count:,}"
    sheet.write(right, y, number, size=look.small, colour=colours.ink_3, side="right")
    said = f"{100 * mark.share:.1f} %"
    sheet.write(
        right - (46 if look.is_narrow else 62), y, said, size=look.small, side="right", bold=place == 0
    )


def _key(sheet: Sheet, series: Sequence[str], left: float) -> None:
    """Which bar is whose; under each other where the sheet is narrow."""
    size, x, y = sheet.look.small, left, sheet.top + 11
    room = (sheet.width - left - 16) / (1 if sheet.look.is_narrow else 2) - 34
    for place, name in enumerate(series):
        thick = 13.0 if place == 0 else 7.0
        colour = sheet.theme.ramp[2] if place == 0 else sheet.theme.edge
        sheet.box(x, y - thick / 2, 20, thick, colour)
        said = shortened(name, room, size)
        sheet.write(x + 28, y, said, size=size, colour=sheet.theme.ink_2)
        if sheet.look.is_narrow:
            y += 18
        else:
            x += 28 + breadth(said, size) + 28
