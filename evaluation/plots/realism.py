"""ROC curves: what is found over what is taken for it, with the diagonal of guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.plots.scales import Scale
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import wrapped

NOTHING = "No curve was kept."
ACROSS = "Other texts taken for this corpus’ comments, %"
UP = "This corpus’ comments found, %"
_LINES: tuple[tuple[float, float] | None, ...] = (None, (6, 3))
"""Curves differ by their dashes as well as their colour; the diagonal has dots."""


@dataclass(frozen=True)
class Curve:
    """Points (share of false alarms, share found) from (0, 0) to (1, 1); the name says the area."""

    name: str
    points: Sequence[tuple[float, float]]


def roc(curves: Sequence[Curve], look: Look) -> bytes:
    """The figure, one or two curves in a square. Raises ValueError for more."""
    if len(curves) > len(_LINES):
        raise ValueError("at most two curves")
    names = [wrapped(one.name, look.pixels - 56, look.small) for one in curves]
    head = 8.0 + 16 * sum(map(len, names)) + 6 * len(names) + 22
    side = look.pixels - 16 - 44.0 if look.is_narrow else 360.0

    def paint(sheet: Sheet) -> None:
        y = sheet.top + 14
        for place, lines in enumerate(names):
            sheet.line([8, 36], [y, y], _colour(sheet, place), width=2.2, dashes=_LINES[place])
            for line in lines:
                sheet.write(44, y, line, size=look.small, colour=sheet.theme.ink_2)
                y += 16
            y += 6
        _plot(sheet, curves, (sheet.top + head, side))

    return drawn(look, head + side + 48, paint)


def _colour(sheet: Sheet, place: int) -> str:
    return sheet.theme.series[place]


def _plot(sheet: Sheet, curves: Sequence[Curve], place: tuple[float, float]) -> None:
    look, colours, (top, side) = sheet.look, sheet.theme, place
    left = 44.0
    across, up = Scale(0.0, 1.0, left, left + side), Scale(0.0, 1.0, top + side, top)
    sheet.write(8, top - 14, UP, size=look.small, colour=colours.ink_2)
    for tick in up.ticks(5):
        x, y = across.at(tick), up.at(tick)
        sheet.line([left, left + side], [y, y], colours.hair)
        sheet.line([x, x], [top, top + side], colours.hair)
        said = f"{100 * tick:.0f}"
        sheet.write(left - 8, y, said, size=look.small, colour=colours.ink_3, side="right")
        sheet.write(x, top + side + 13, said, size=look.small, colour=colours.ink_3, side="center")
    sheet.line([left, left + side], [top + side, top], colours.base, width=1.3, dashes=(1.5, 3))
    for at, one in enumerate(curves):
        xs, ys = [across.at(x) for x, _ in one.points], [up.at(y) for _, y in one.points]
        sheet.line(xs, ys, _colour(sheet, at), width=2.2, dashes=_LINES[at])
    middle = left + side / 2
    if not curves:
        sheet.write(middle, top + side / 3, NOTHING, colour=colours.ink_2, side="center")
    sheet.write(middle, top + side + 36, ACROSS, size=look.small, colour=colours.ink_2, side="center")
