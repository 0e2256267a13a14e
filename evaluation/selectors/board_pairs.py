"""Differences of the models of a leaderboard, as a triangle and as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation.domain.boards import GROUPED, Board, Entry, Measure, Pair, Pairs
from evaluation.selectors.board_lines import FEW, Said, in_order, label_of, shade
from evaluation.selectors.board_words import p_words, points, span


@dataclass(frozen=True)
class Gap:
    """One pair with the better-placed model first."""

    first: Entry
    second: Entry
    pair: Pair
    shade: int

    @property
    def is_few(self) -> bool:
        return 0 < self.pair.n < FEW

    @property
    def value(self) -> str:
        return points(self.pair.value)

    @property
    def interval(self) -> str:
        return span(self.pair.low, self.pair.high, signed=True)

    @property
    def p(self) -> str:
        return p_words(self.pair.p)

    @property
    def holm(self) -> str:
        return p_words(self.pair.holm)

    @property
    def mcnemar(self) -> str:
        return p_words(self.pair.mcnemar)


@dataclass(frozen=True)
class Differences:
    """All pairs of a measure. `rows` are the triangle: a model and its gaps to each model placed behind it,
    with None for the places before."""

    measure: Measure
    pairs: Pairs
    columns: Sequence[Entry]
    rows: Sequence[tuple[Entry, Sequence[Gap | None]]]
    gaps: Sequence[Gap]
    most: float
    """The largest difference; the darkest shade."""


def differences(board: Board, measure: Measure) -> Differences:
    """The pairs of `measure`; of top-1 for measures that are not compared."""
    compared = measure if measure in GROUPED else Measure.TOP1
    pairs = board.pairs.get(compared.value) or Pairs()
    entries = [one for one in in_order(board.entries, compared) if not one.is_baseline]
    most = max((abs(one.value) for one in pairs.pairs if one.value is not None), default=0.0) or 1.0
    known = {(one.first, one.second): one for one in pairs.pairs}
    known |= {(one.second, one.first): turned(one) for one in pairs.pairs}
    rows: list[tuple[Entry, list[Gap | None]]] = []
    for place, first in enumerate(entries[:-1]):
        cells: list[Gap | None] = [None] * place
        cells += [_gap(first, second, known, most) for second in entries[place + 1 :]]
        rows.append((first, cells))
    gaps = [gap for _, cells in rows for gap in cells if gap is not None]
    return Differences(compared, pairs, entries[1:], rows, gaps, most)


@dataclass(frozen=True)
class MaskedRow:
    """One model on plain and on anonymised text: over all (`label` is empty) or of one attribute."""

    model: str
    label: str
    plain: Said
    anonymised: Said
    gap: Pair

    @property
    def value(self) -> str:
        return points(self.gap.value)

    @property
    def interval(self) -> str:
        return span(self.gap.low, self.gap.high, signed=True)

    @property
    def holm(self) -> str:
        return p_words(self.gap.holm)

    @property
    def is_few(self) -> bool:
        return 0 < self.gap.n < FEW


def masked_rows(board: Board) -> list[MaskedRow]:
    """All models that were shown both texts, over all and by attribute."""
    return [
        MaskedRow(
            found.model,
            label_of("by_attribute", key) if key else "",
            Said(plain),
            Said(anonymised),
            gap,
        )
        for found in board.masked
        for key, (plain, anonymised, gap) in found.rows.items()
    ]


def turned(pair: Pair) -> Pair:
    """The same difference the other way round."""

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        value=minus(pair.value),
        low=minus(pair.high),
        high=minus(pair.low),
        only_first=pair.only_second,
        only_second=pair.only_first,
    )


def _gap(first: Entry, second: Entry, known: dict[tuple[str, str], Pair], most: float) -> Gap | None:
    pair = known.get((first.scoring, second.scoring))
    if pair is None:
        return None
    return Gap(first, second, pair, 0 if pair.value is None else shade(abs(pair.value), 0.0, most))
