"""The figures of diversity: which there are, what they are called, their bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evaluation.domain.corpus_diversity import FEW, SHAPES, Counted, Groups
from evaluation.plots.diversity import Bar, Mark
from evaluation.selectors.diversity_page import NAMES, Pair, named, order_of, rows_of

KEYS = (*SHAPES, "overlap", "targets", *NAMES)
"""Figures that can be asked for."""


def name_of(key: str) -> str:
    """What a figure shows, in a few words."""
    names = {shape: name for shape, (name, _) in SHAPES.items()} | NAMES
    return {**names, "overlap": "Facts that two profiles share", "targets": "Threads by target"}[key]


def axis_of(key: str, pair: Pair) -> str:
    """What the axis of a figure says, with how many are behind it."""
    units = {shape: unit for shape, (_, unit) in SHAPES.items()}
    unit = {**units, "overlap": "pairs of profiles", "targets": "threads"}.get(key, "profiles")
    wholes = [_whole(key, one.counted) for one in pair]
    ns = [f"{n:,}{' (few)' if n < FEW else ''}" for n in wholes if n]
    return f"Share of {unit} in percent{': n ' if ns else ''}{' and '.join(ns)}"


def _whole(key: str, one: Counted | None) -> int:
    if one is None:
        return 0
    if key in SHAPES or key == "overlap":
        return sum(getattr(one, key).values())
    table = one.targets if key == "targets" else one.groups.get(key)
    return table.n if table else 0


def rows(key: str, pair: Pair) -> list[Bar]:
    """The bars of a figure; none where nothing was counted. Raises KeyError for an unknown figure."""
    if key in SHAPES or key == "overlap":
        return _bars(pair, key)
    of = (lambda one: one.targets) if key == "targets" else (lambda one: one.groups.get(key))
    if key not in NAMES and key != "targets":
        raise KeyError(key)
    tables = [of(one.counted) if one.counted else None for one in pair]
    return [
        Bar(
            named(name) if key == "targets" else name,
            tuple(_mark(table, names) for table in tables),
            is_rest=len(names) > 1,
        )
        for name, names in rows_of(tables, order_of(key))
    ]


def _mark(table: Groups | None, names: Sequence[str]) -> Mark | None:
    if table is None or not table.n:
        return None
    found = [one for one in table.groups if one.name in names]
    count = sum(one.count for one in found)
    if len(names) == 1 and found:
        return Mark(found[0].share, count, found[0].low, found[0].high)
    return Mark(count / table.n, count)


def _bars(pair: Pair, key: str) -> list[Bar]:
    counts: list[Mapping[str, int] | None] = [
        getattr(one.counted, key) if one.counted else None for one in pair
    ]
    known = {int(number) for one in counts if one for number in one}
    if not known:
        return []
    return [
        Bar(str(number), tuple(_counted_mark(one, number) for one in counts))
        for number in range(min(known), max(known) + 1)
    ]


def _counted_mark(counts: Mapping[str, int] | None, number: int) -> Mark | None:
    whole = sum(counts.values()) if counts else 0
    if not counts or not whole:
        return None
    count = counts.get(str(number), 0)
    return Mark(count / whole, count)


def described(rows: Iterable[Bar]) -> str:
    """The bars as a sentence, for who does not see them."""
    parts = [
        f"{row.name} {' and '.join(f'{100 * one.share:.1f} %' if one else 'none' for one in row.marks)}"
        for row in rows
    ]
    return f"{'; '.join(parts)}." if parts else "There is nothing to show."
