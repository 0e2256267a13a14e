"""Accuracy over the size of the model, a line a family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evaluation.domain.boards import Board, Cell, Entry, Measure
from evaluation.plots.entries import axis_of, ranked, share_of
from evaluation.plots.scales import Scale, shares_around
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.themes import MARKERS
from evaluation.plots.wordwise import breadth, counted, shortened, wrapped

UNSAID = "no family named"


@dataclass(frozen=True)
class Spot:
    """A model's place in the figure, in pixels."""

    entry: Entry
    cell: Cell
    x: float
    y: float
    family: int


def sized(board: Board, measure: str) -> tuple[list[Entry], list[Entry]]:
    """Models with a share whose size is known, smallest first; those whose size is not, best first."""
    known = [
        one
        for one in ranked(board, measure)
        if not one.is_baseline and share_of(one, measure).value is not None
    ]
    small = [one for one in known if one.parameters]
    return sorted(small, key=lambda one: one.parameters or 0), [one for one in known if not one.parameters]


def scaling(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """Points over billions of parameters (logarithmic) with 95 % intervals; a colour, a marker and a line a
    family. Models without a known size stand beside the axis, best first; baselines are dashed lines."""
    small, beside = sized(board, measure)
    families = sorted({one.family for one in (*small, *beside)}, key=lambda name: (not name, name.casefold()))
    legend = _legend(look, families)
    head = 14.0 + 20 * (1 + max((line for _, line, _ in legend), default=0))
    tall = 320.0 if look.is_narrow else 380.0
    ns = [share_of(one, measure).n for one in (*small, *beside)]
    axis = f"Size, billions of parameters, logarithmic ({counted(ns)}; bars: 95 % intervals)"
    labels = wrapped(axis, look.pixels - 60, look.size)

    def paint(sheet: Sheet) -> None:
        for name, line, x in legend:
            place = families.index(name)
            y = sheet.top + 16 + 20 * line
            sheet.dot(x + 6, y, _colour(sheet, place), marker=_marker(place), size=_size(place))
            words = shortened(name or UNSAID, 170, look.small)
            sheet.write(x + 17, y, words, size=look.small, colour=sheet.theme.ink_2)
        top = sheet.top + head + 24
        _plot(sheet, board, measure, families, (top, top + tall))
        for place, words in enumerate(labels):
            y = top + tall + 34 + 18 * place
            sheet.write(sheet.width / 2, y, words, colour=sheet.theme.ink_2, side="center")

    return drawn(look, head + 24 + tall + 30 + 18 * len(labels) + 8, paint)


def _legend(look: Look, families: Sequence[str]) -> list[tuple[str, int, float]]:
    """(family, line, pixel) of each family's key, in as many lines as they need."""
    found, line, x = [], 0, 8.0
    for name in families:
        needs = 17 + breadth(shortened(name or UNSAID, 170, look.small), look.small) + 14
        if x + needs > look.pixels and x > 8:
            line, x = line + 1, 8.0
        found.append((name, line, x))
        x += needs
    return found


def _colour(sheet: Sheet, family: int) -> str:
    return sheet.theme.series[family % len(sheet.theme.series)]


def _marker(family: int) -> str:
    return MARKERS[(family + family // len(MARKERS)) % len(MARKERS)]


def _size(family: int) -> float:
    """Stars and crosses are drawn larger: they have less of a surface."""
    return {"*": 13.0, "P": 10.5, "X": 10.5}.get(_marker(family), 9.0)


def _plot(
    sheet: Sheet, board: Board, measure: str, families: Sequence[str], place: tuple[float, float]
) -> None:
    look, colours, (top, bottom) = sheet.look, sheet.theme, place
    small, beside = sized(board, measure)
    right = sheet.width - 16
    strip = min(36.0 + 16 * len(beside), 100.0 if look.is_narrow else 240.0) if beside else 0.0
    end = right - strip - (14 if strip else 0)
    bases = [(one, share_of(one, measure)) for one in board.entries if one.is_baseline]
    cells = [share_of(one, measure) for one in (*small, *beside)] + [cell for _, cell in bases]
    up = shares_up(sheet, cells, measure, place)
    sizes = [one.parameters or 1.0 for one in small]
    low, high = (min(sizes) / 1.4, max(sizes) * 1.6) if sizes else (1.0, 100.0)
    across = Scale(low, high, 44, end, log=True)
    size_ticks(sheet, across, bottom)
    if not small:
        sheet.write(52, (top + bottom) / 2, "No size is known.", colour=colours.ink_2)
    spots = [_spot(sheet, one, measure, across.at(one.parameters or 1.0), up, families) for one in small]
    if beside:
        sheet.line([end + 7, end + 7], [top, bottom], colours.edge, dashes=(2, 3))
        sheet.write(
            right - strip / 2, bottom + 13, "not known", size=look.small, colour=colours.ink_3, side="center"
        )
        gap = strip / (len(beside) + 1)
        spots += [
            _spot(sheet, one, measure, right - strip + gap * (at + 1), up, families)
            for at, one in enumerate(beside)
        ]
    baselines(sheet, bases, up)
    _draw(sheet, spots, len(small))
    taken = [box for spot in spots for box in around(spot, up)]
    for spot in spots:
        name_beside(sheet, spot, taken, (44, right, top - 8, bottom))


def shares_up(sheet: Sheet, cells: Iterable[Cell], measure: str, place: tuple[float, float]) -> Scale:
    """The axis of shares around these and their intervals, drawn within `place` (top, bottom)."""
    look, colours, (top, bottom) = sheet.look, sheet.theme, place
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    up = Scale(*shares_around(ends), bottom, top)
    sheet.write(8, top - 20, axis_of(measure), size=look.small, colour=colours.ink_2)
    for tick in up.ticks(8):
        y = up.at(tick)
        sheet.line([44, sheet.width - 16], [y, y], colours.hair)
        sheet.write(36, y, f"{100 * tick:.0f}", size=look.small, colour=colours.ink_3, side="right")
    return up


def baselines(sheet: Sheet, bases: Sequence[tuple[Entry, Cell]], up: Scale) -> None:
    """A dashed line with its name for each baseline that has a share."""
    look, colours = sheet.look, sheet.theme
    for one, cell in bases:
        if cell.value is not None:
            y = up.at(cell.value)
            sheet.line([44, sheet.width - 16], [y, y], colours.base, width=1.3, dashes=(3, 3))
            name = shortened(one.name, 200, look.small)
            sheet.write(50, y - 10, name, size=look.small, colour=colours.base)


def size_ticks(
    sheet: Sheet, across: Scale, bottom: float, said: Callable[[float], str] = "{:g}".format
) -> None:
    """The sizes under the axis, as far as they have room, from the right: the largest are of most use.
    `said` puts one in words."""
    before = across.end + 30
    for tick in reversed(across.ticks()):
        x, words = across.at(tick), said(tick)
        room = breadth(words, sheet.look.small) + 8
        sheet.line([x, x], [bottom, bottom + 4], sheet.theme.edge)
        if x + room / 2 <= before:
            sheet.write(x, bottom + 13, words, size=sheet.look.small, colour=sheet.theme.ink_3, side="center")
            before = x - room / 2


def _spot(sheet: Sheet, entry: Entry, measure: str, x: float, up: Scale, families: Sequence[str]) -> Spot:
    cell = share_of(entry, measure)
    spot = Spot(entry, cell, x, up.at(cell.value or 0.0), families.index(entry.family))
    if cell.low is not None and cell.high is not None:
        sheet.line([x, x], [up.at(cell.low), up.at(cell.high)], _colour(sheet, spot.family), width=1.1)
    return spot


def _draw(sheet: Sheet, spots: Sequence[Spot], sized_ones: int) -> None:
    """Lines of families of two sizes and more, then all markers."""
    for family in sorted({spot.family for spot in spots}):
        own = [spot for spot in spots[:sized_ones] if spot.family == family and spot.entry.family]
        if len(own) > 1:
            colour = _colour(sheet, family)
            sheet.line([one.x for one in own], [one.y for one in own], colour, width=1.4)
    for spot in spots:
        sheet.dot(
            spot.x, spot.y, _colour(sheet, spot.family), marker=_marker(spot.family), size=_size(spot.family)
        )


Box = tuple[float, float, float, float]


def around(spot: Spot, up: Scale) -> list[Box]:
    """What a name must not cover: the marker, and the interval where there is one."""
    found = [(spot.x - 6, spot.x + 6, spot.y - 6, spot.y + 6)]
    if spot.cell.low is not None and spot.cell.high is not None:
        found.append((spot.x - 1, spot.x + 1, up.at(spot.cell.high), up.at(spot.cell.low)))
    return found


def name_beside(sheet: Sheet, spot: Spot, taken: list[Box], within: Box) -> None:
    """The model's name beside its marker, where there is room for it; who has none is in the table."""
    size = sheet.look.small - 0.5
    words = shortened(spot.entry.name, 120 if sheet.look.is_narrow else 150, size)
    wide = breadth(words, size)
    for side, dx, dy in _SIDES:
        left = spot.x + dx if side == "left" else spot.x + dx - (wide if side == "right" else wide / 2)
        box = (left - 1, left + wide + 1, spot.y + dy - 7, spot.y + dy + 7)
        fits = (
            within[0] <= box[0] and box[1] <= within[1] + 10 and within[2] <= box[2] and box[3] <= within[3]
        )
        if fits and not any(_meet(box, other) for other in taken):
            taken.append(box)
            sheet.box(box[0], box[2], wide + 2, 14, sheet.theme.ground)
            sheet.write(spot.x + dx, spot.y + dy, words, size=size, colour=sheet.theme.ink_2, side=side)
            return


_SIDES = (
    ("left", 10, 0),
    ("right", -10, 0),
    ("left", 8, -11),
    ("left", 8, 11),
    ("right", -8, -11),
    ("right", -8, 11),
    ("center", 0, -15),
    ("center", 0, 15),
)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
