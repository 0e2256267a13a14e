"""How many labels of each hardness there are, attribute by attribute (the paper's Figs. 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.plots.scales import Scale, step_of
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import breadth, shortened

Counts = Mapping[str, Sequence[int]]
_STEPS = 5


def label_counts(
    rows: Counts, *, title: str = "", theme: str = "light", width: str = "wide", caption: str = ""
) -> bytes:
    """Labels of profiles: a bar an attribute, a segment a hardness from 1 to 5, its count within.

    `rows` maps an attribute's label to its five counts; a bar's order is that of `rows`. Raises ValueError
    where a row has no five counts, or one below 0.
    """
    return _counts(rows, "Labels of profiles", title=title, theme=theme, width=width, caption=caption)


def comment_counts(
    rows: Counts, *, title: str = "", theme: str = "light", width: str = "wide", caption: str = ""
) -> bytes:
    """The same of labels of single comments."""
    return _counts(rows, "Labels of comments", title=title, theme=theme, width=width, caption=caption)


def _counts(rows: Counts, what: str, *, title: str, theme: str, width: str, caption: str) -> bytes:
    said = "; ".join(f"{name} {', '.join(map(str, counts))}" for name, counts in rows.items())
    look = Look(
        theme,
        width,
        name=title or f"{what} by attribute and hardness",
        description=f"{what} of hardness 1 to 5. {said or 'There are none'}.",
        title=title,
        caption=caption,
    )
    return draw(rows, what, look)


def draw(rows: Counts, what: str, look: Look) -> bytes:
    """The figure; `what` is counted in words. Raises ValueError as `label_counts` does."""
    for name, counts in rows.items():
        if len(counts) != _STEPS or min(counts) < 0:
            raise ValueError(f"{name}: {list(counts)} are not five counts")
    row = 44.0 if look.is_narrow else 28.0
    return drawn(look, 44 + row * max(1, len(rows)) + 48, lambda sheet: _paint(sheet, rows, what, row))


def _paint(sheet: Sheet, rows: Counts, what: str, row: float) -> None:
    look, colours = sheet.look, sheet.theme
    left = 8.0 if look.is_narrow else 140.0
    sums = [sum(counts) for counts in rows.values()]
    most = max([1, *sums])
    step = max(1.0, step_of(most, 4 if look.is_narrow else 6))
    scale = Scale(0, max(most, step), left, sheet.width - (16 if look.is_narrow else 64))
    _legend(sheet, left)
    top = sheet.top + 44
    bottom = top + row * max(1, len(rows))
    ticks = [tick for tick in scale.ticks(4 if look.is_narrow else 6) if tick == round(tick)]
    for tick in ticks:
        x = scale.at(tick)
        sheet.line([x, x], [top, bottom], colours.hair)
        sheet.write(x, bottom + 12, f"{tick:.0f}", size=look.small, colour=colours.ink_3, side="center")
    axis = f"{what} (all: n {sum(sums)})"
    sheet.write((scale.start + scale.end) / 2, bottom + 32, axis, colour=colours.ink_2, side="center")
    if not rows:
        sheet.write(left, top + row / 2, "There are no labels.", colour=colours.ink_2)
    for place, (name, counts) in enumerate(rows.items()):
        y = top + row * (place + 0.5)
        if look.is_narrow:
            sheet.write(left, y - 12, shortened(name, 220, look.size))
            total = f"n {sum(counts)}"
            sheet.write(sheet.width - 8, y - 12, total, size=look.small, colour=colours.ink_2, side="right")
            y += 8
        else:
            sheet.write(left - 10, y, shortened(name, left - 18, look.size), side="right")
            x = scale.at(sum(counts)) + 8
            sheet.write(x, y, f"n {sum(counts)}", size=look.small, colour=colours.ink_2)
        _bar(sheet, scale, counts, y)


def _bar(sheet: Sheet, scale: Scale, counts: Sequence[int], y: float) -> None:
    size = sheet.look.small
    before = 0
    for step, count in enumerate(counts):
        start, end = scale.at(before), scale.at(before + count)
        before += count
        if not count:
            continue
        gap = 1.0 if end - start > 3 else 0.0
        sheet.box(start, y - 9, max(end - start - gap, 0.75), 18, sheet.theme.ramp[step])
        if breadth(str(count), size) + 5 <= end - start:
            middle = (start + end) / 2
            sheet.write(middle, y, str(count), size=size, colour=sheet.theme.on_ramp[step], side="center")


def _legend(sheet: Sheet, left: float) -> None:
    """The five steps with their numbers, in a row over the bars."""
    y, size = sheet.top + 22, sheet.look.small
    sheet.write(left, y, "Hardness", size=size, colour=sheet.theme.ink_2)
    x = left + breadth("Hardness", size) + 6
    for step in range(_STEPS):
        sheet.box(x, y - 9, 26, 18, sheet.theme.ramp[step])
        colour = sheet.theme.on_ramp[step]
        sheet.write(x + 13, y, str(step + 1), size=size, colour=colour, side="center")
        x += 28
