"""How much harder anonymised text is for the same model (the paper's Fig. 5)."""

from __future__ import annotations

from evaluation.domain.boards import Board, Masked
from evaluation.plots.entries import FEW, label_of, masked_order
from evaluation.plots.rows import draw_grid, draw_interval, said_n
from evaluation.plots.scales import Scale, differences_around
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import breadth, points, shortened, wrapped

_KEY = (
    "Filled: plain text. Hollow square: anonymised text. Number: plain less anonymised, in points, bold "
    "where it holds after Holm’s correction over the attributes."
)
_PLOT = (150.0, 372.0)
_GAPS = (404.0, 556.0)


def anonymised(board: Board, look: Look) -> bytes:
    """A block a model, a line an attribute, all attributes first: top-1 on plain and on anonymised text, and
    the paired difference with its 95 % interval (wide: drawn, narrow: written)."""
    keys = wrapped(_KEY, look.pixels - 16, look.small)
    step = 46.0 if look.is_narrow else 28.0
    heights = [30 + step * len(one.rows) + 48 for one in board.masked]
    head = 10.0 + 16 * len(keys) + 4

    def paint(sheet: Sheet) -> None:
        for place, line in enumerate(keys):
            y = sheet.top + 14 + 16 * place
            sheet.write(8, y, line, size=look.small, colour=sheet.theme.ink_2)
        top = sheet.top + head
        if not board.masked:
            words = wrapped("No run on anonymised text is scored.", look.pixels - 32, look.size)
            sheet.write(16, top + 20, words[0], colour=sheet.theme.ink_2)
        for masked, height in zip(board.masked, heights, strict=True):
            _block(sheet, masked, top, step)
            top += height

    return drawn(look, head + (sum(heights) or 48.0), paint)


def _block(sheet: Sheet, masked: Masked, top: float, step: float) -> None:
    look, colours = sheet.look, sheet.theme
    left = 16.0 if look.is_narrow else 8.0
    sheet.write(
        left,
        top + 14,
        shortened(masked.model, look.pixels - 32, look.size + 1),
        size=look.size + 1,
        bold=True,
    )
    order = masked_order(masked)
    first, last = top + 30, top + 30 + step * len(order)
    shares = Scale(0, 1, 16, sheet.width - 16) if look.is_narrow else Scale(0, 1, *_PLOT)
    bands = [(first, last)]
    if look.is_narrow:
        bands = [(first + step * at + 23, first + step * at + 41) for at in range(len(order))]
    draw_grid(sheet, shares, bands, last, most=5)
    middle = (shares.start + shares.end) / 2
    sheet.write(
        middle,
        last + 30,
        "First guess right, % of all asked",
        size=look.small,
        colour=colours.ink_2,
        side="center",
    )
    if look.is_narrow:
        for at, key in enumerate(order):
            _narrow_row(sheet, masked, key, shares, first + step * at)
        return
    pairs = [masked.rows[key][2] for key in order]
    ends = [end for pair in pairs for end in (pair.value, pair.low, pair.high) if end is not None]
    gaps = Scale(*differences_around(ends), *_GAPS)
    draw_grid(sheet, gaps, bands, last, signed=True, most=4)
    sheet.line([gaps.at(0)] * 2, [first, last], colours.edge, width=1.2)
    middle = (gaps.start + gaps.end) / 2
    sheet.write(middle, last + 30, "Difference, points", size=look.small, colour=colours.ink_2, side="center")
    for at, key in enumerate(order):
        _wide_row(sheet, masked, key, (shares, gaps), first + step * (at + 0.5))


def _pair_of_marks(sheet: Sheet, masked: Masked, key: str, shares: Scale, y: float) -> None:
    plain, hidden, _ = masked.rows[key]
    if plain.value is None or hidden.value is None:
        sheet.write(shares.start + 4, y, "no items", size=sheet.look.small, colour=sheet.theme.ink_3)
        return
    xs = shares.at(plain.value), shares.at(hidden.value)
    sheet.line(xs, [y, y], sheet.theme.edge, width=1.6)
    sheet.dot(xs[1], y, sheet.theme.base, marker="s", size=8.0, hollow=True)
    sheet.dot(xs[0], y, sheet.theme.accent, size=8.5)


def _wide_row(sheet: Sheet, masked: Masked, key: str, scales: tuple[Scale, Scale], y: float) -> None:
    look, pair = sheet.look, masked.rows[key][2]
    shares, gaps = scales
    sheet.write(_PLOT[0] - 14, y, shortened(label_of(key), 128, look.size), bold=not key, side="right")
    _pair_of_marks(sheet, masked, key, shares, y)
    if pair.value is not None:
        if pair.low is not None and pair.high is not None:
            ends = gaps.at(pair.low), gaps.at(pair.high)
            draw_interval(sheet, ends, y, sheet.theme.ink_2, few=pair.n < FEW)
        sheet.dot(gaps.at(pair.value), y, sheet.theme.accent, size=8.0, hollow=not pair.excludes_zero)
    sheet.write(_GAPS[1] + 62, y, points(pair.value), bold=pair.excludes_zero, side="right")
    n = said_n(pair.n)
    sheet.write(sheet.width - 8, y, n, size=look.small, colour=sheet.theme.ink_3, side="right")


def _narrow_row(sheet: Sheet, masked: Masked, key: str, shares: Scale, y: float) -> None:
    look, pair = sheet.look, masked.rows[key][2]
    right, n = sheet.width - 16, said_n(pair.n)
    sheet.write(right, y + 14, n, size=look.small, colour=sheet.theme.ink_3, side="right")
    right -= breadth(n, look.small) + 8
    said = points(pair.value)
    if pair.low is not None and pair.high is not None:
        said += f" [{points(pair.low)}, {points(pair.high)}]"
    sheet.write(right, y + 14, said, size=look.small, bold=pair.excludes_zero, side="right")
    right -= breadth(said, look.small) * 1.05 + 8
    sheet.write(16, y + 14, shortened(label_of(key), right - 16, look.size), bold=not key)
    _pair_of_marks(sheet, masked, key, shares, y + 32)
