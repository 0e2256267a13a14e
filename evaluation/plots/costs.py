"""Accuracy over what a run cost for each profile, with the line of those that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluation.domain.boards import Board, Entry, Measure
from evaluation.domain.pareto import front
from evaluation.plots.entries import ranked, share_of
from evaluation.plots.scales import Scale
from evaluation.plots.scaling import Spot, around, baselines, name_beside, shares_up, size_ticks
from evaluation.plots.sheet import Look, Sheet, drawn
from evaluation.plots.wordwise import counted, plain, wrapped
from simulation.domain.money import NANO

ANONYMISED = "anonymised"
NOTHING = "No run has a known cost above zero."
NAMED = 12
"""Runs that a sentence names before it counts the others."""


@dataclass(frozen=True)
class Costed:
    """The runs of a board by what is known of their cost; baselines, which ask nobody, are in none.

    `drawn` have a share and a cost above zero, cheapest first; `best` are those of them that no other beats.
    `free` cost nothing, `unknown` have no known cost for each profile, `unscored` have no share; best first.
    """

    drawn: tuple[Entry, ...]
    best: tuple[Entry, ...]
    free: tuple[Entry, ...]
    unknown: tuple[Entry, ...]
    unscored: tuple[Entry, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences about the runs that are not drawn; none where all are."""
        reasons = (
            ("cost not known", self.unknown),
            ("cost zero, which a logarithmic axis does not have", self.free),
            ("no accuracy yet", self.unscored),
        )
        return tuple(f"Not drawn ({why}): {_names(ones)}." for why, ones in reasons if ones)

    def note(self, entry: Entry) -> str:
        """Why a run is not drawn, in a few words; empty where it is."""
        if entry in self.unscored:
            return "no accuracy yet"
        if entry in self.unknown:
            return "cost not known"
        return "cost zero" if entry in self.free else ""


def cost_of(entry: Entry) -> float | None:
    """US dollars of the run for each profile that it asked about, 0 or more; None where that is not known:
    imported runs, and boards that were counted before profiles were."""
    if entry.cost is None or not entry.profiles:
        return None
    return entry.cost / NANO / entry.profiles


def costed(board: Board, measure: str = Measure.TOP1) -> Costed:
    """The runs of a board as the figure shows them."""
    models = [one for one in ranked(board, measure) if not one.is_baseline]
    known = [one for one in models if share_of(one, measure).value is not None]
    priced = sorted((one for one in known if cost_of(one)), key=lambda one: cost_of(one) or 0.0)
    points = [(cost_of(one) or 0.0, share_of(one, measure).value or 0.0) for one in priced]
    return Costed(
        tuple(priced),
        tuple(priced[place] for place in front(points)),
        tuple(one for one in known if cost_of(one) == 0),
        tuple(one for one in known if cost_of(one) is None),
        tuple(one for one in models if one not in known),
    )


def said_dollars(amount: float) -> str:
    """Dollars without a sign: cents from one dollar on, three digits below, never with an exponent."""
    return f"{amount:.2f}" if amount >= 1 else f"{Decimal(f'{amount:.3g}'):f}"


def _names(entries: Sequence[Entry]) -> str:
    names = [plain(one.name).strip() or "without a name" for one in entries[:NAMED]]
    more = len(entries) - NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def costs(board: Board, look: Look, *, measure: str = Measure.TOP1) -> bytes:
    """Points over US dollars for each profile (logarithmic) with 95 % intervals, filled for plain text and
    hollow for anonymised; a line joins the runs that no other beats. Runs that are not drawn are named below
    with the reason; baselines are dashed lines."""
    found = costed(board, measure)
    tall = 320.0 if look.is_narrow else 380.0
    ns = [share_of(one, measure).n for one in found.drawn]
    axis = f"US dollars a profile, logarithmic ({counted(ns)}; bars: 95 % intervals)"
    labels = wrapped(axis, look.pixels - 60, look.size)
    notes = [line for words in found.words for line in wrapped(words, look.pixels - 24, look.small)]
    below = 34 + 18 * len(labels)

    def paint(sheet: Sheet) -> None:
        _key(sheet, sheet.top + 16)
        top = sheet.top + 62
        _plot(sheet, board, measure, found, (top, top + tall))
        for place, words in enumerate(labels):
            y = top + tall + 34 + 18 * place
            sheet.write(sheet.width / 2, y, words, colour=sheet.theme.ink_2, side="center")
        for place, words in enumerate(notes):
            y = top + tall + below + 8 + 16 * place
            sheet.write(8, y, words, size=look.small, colour=sheet.theme.ink_2)

    return drawn(look, 62 + tall + below + 16 * len(notes) + 8, paint)


def _key(sheet: Sheet, y: float) -> None:
    size, colours = sheet.look.small, sheet.theme
    sheet.dot(14, y, colours.accent, size=8.5)
    sheet.write(24, y, "plain", size=size, colour=colours.ink_2)
    sheet.dot(72, y, colours.accent, size=8.5, hollow=True)
    sheet.write(82, y, ANONYMISED, size=size, colour=colours.ink_2)
    sheet.line([172, 194], [y, y], colours.edge, width=1.4)
    sheet.write(200, y, "no other beats", size=size, colour=colours.ink_2)


def _plot(sheet: Sheet, board: Board, measure: str, found: Costed, place: tuple[float, float]) -> None:
    colours, (top, bottom) = sheet.theme, place
    right = sheet.width - 16
    bases = [(one, share_of(one, measure)) for one in board.entries if one.is_baseline]
    cells = [share_of(one, measure) for one in found.drawn] + [cell for _, cell in bases]
    up = shares_up(sheet, cells, measure, place)
    amounts = [cost_of(one) or 1.0 for one in found.drawn]
    low, high = (min(amounts) / 1.6, max(amounts) * 1.6) if amounts else (0.001, 1.0)
    across = Scale(low, high, 44, right, log=True)
    size_ticks(sheet, across, bottom, said_dollars)
    if not amounts:
        sheet.write(52, (top + bottom) / 2, NOTHING, colour=colours.ink_2)
    baselines(sheet, bases, up)
    spots = [
        Spot(one, cell, across.at(cost_of(one) or 1.0), up.at(cell.value or 0.0), 0)
        for one, cell in zip(found.drawn, cells, strict=False)
    ]
    _marks(sheet, spots, found, up)
    taken = [box for spot in spots for box in around(spot, up)]
    taken += [
        (44, 260, up.at(cell.value) - 18, up.at(cell.value)) for _, cell in bases if cell.value is not None
    ]
    for spot in spots:
        name_beside(sheet, spot, taken, (44, right, top - 8, bottom))


def _marks(sheet: Sheet, spots: Sequence[Spot], found: Costed, up: Scale) -> None:
    """The line of the best, then intervals, then points."""
    colours = sheet.theme
    best = [spot for spot in spots if spot.entry in found.best]
    if len(best) > 1:
        sheet.line([one.x for one in best], [one.y for one in best], colours.edge, width=1.4)
    for spot in spots:
        if spot.cell.low is not None and spot.cell.high is not None:
            ends = [up.at(spot.cell.low), up.at(spot.cell.high)]
            sheet.line([spot.x, spot.x], ends, colours.accent, width=1.1)
    for spot in spots:
        sheet.dot(spot.x, spot.y, colours.accent, size=8.5, hollow=spot.entry.text == ANONYMISED)
