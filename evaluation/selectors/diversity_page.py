"""What the page of diversity says of one report, or of two side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.domain.corpus_diversity import (
    BIRTH,
    FEW,
    LENGTHS,
    ODDITIES,
    QUANTILES,
    SHAPES,
    Counted,
    Groups,
)
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, Kind
from simulation.domain.profile_groups import EDUCATION, data

MOST_GROUPS = 10
"""Groups that a figure and its table show; the rest is one line."""
OTHERS = "other groups"
NAMES = {key: CATALOGUE[key].label for key in TARGET_KEYS} | {BIRTH: "Country of birth"}


class Shown(NamedTuple):
    """A corpus or run by name, and what was counted of it; None where nothing was yet."""

    name: str
    counted: Counted | None


Pair = Sequence[Shown]
"""One or two, the page's own first."""


@dataclass(frozen=True)
class Value:
    """A number as it is said; `text` is empty where there is none, and `words` then say why."""

    text: str = ""
    interval: str = ""
    of: str = ""
    few: bool = False
    words: str = ""


@dataclass(frozen=True)
class Line:
    """A row: its name, a value for each corpus."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Part:
    """A figure with its table. `figure` is its key; `note` is said under it."""

    figure: str
    name: str
    lines: list[Line]
    note: str = ""


def _line(name: str, pair: Pair, say: Callable[[Counted], Value]) -> Line:
    return Line(name, tuple(say(one.counted) if one.counted else Value() for one in pair))


def _whole(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def size(pair: Pair) -> list[Line]:
    """Table 1 of the paper: how much there is."""
    said: dict[str, Callable[[Counted], str]] = {
        "Threads": lambda one: _whole(one.threads),
        "Comments": lambda one: _whole(one.comments),
        "Withdrawn, not counted": lambda one: _whole(one.withdrawn),
        "Authors": lambda one: _whole(one.authors),
        "Profiles": lambda one: _whole(one.profiles),
        "Profiles that wrote a comment": lambda one: _whole(one.writing),
        "Words": lambda one: _whole(one.words),
        "Different words": lambda one: f"{'' if one.is_exact else 'about '}{one.types:,.0f}",
    }
    return [_line(name, pair, lambda one, say=say: Value(say(one))) for name, say in said.items()]  # type: ignore[misc]


@dataclass(frozen=True)
class Numbers:
    """A row of the table of lengths: cells in its order, as text."""

    name: str
    of: str
    n: int
    few: bool
    cells: tuple[tuple[str, str], ...]


def lengths(pair: Pair) -> list[Numbers]:
    """A row for each measure and corpus."""
    found = []
    for key, name in LENGTHS.items():
        for one in pair:
            if one.counted is None or not (spread := one.counted.lengths[key]).n:
                continue
            cells = [("mean", f"{spread.mean:,.1f}"), ("deviation", f"{spread.std:,.1f}")]
            cells.append(("least", _end(spread.low)))
            cells += [
                (f"{100 * float(q):.0f} %", f"{spread.quantiles[q]:,.1f}" if q in spread.quantiles else "–")
                for q in QUANTILES
            ]
            cells.append(("most", _end(spread.high)))
            whose = one.name if len(pair) > 1 else ""
            found.append(Numbers(name, whose, spread.n, spread.n < FEW, tuple(cells)))
    return found


def _end(number: float | None) -> str:
    """A whole number without decimals, any other with one."""
    if number is None:
        return "–"
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def words(pair: Pair) -> list[Line]:
    """Distinct-n, MATTR, likeness, spread of embeddings."""
    lines = [
        _line(f"Distinct-{n}" + (" (type/token)" if n == "1" else ""), pair, _distinct(n)) for n in "123"
    ]
    lines += [_line("MATTR", pair, _mattr), _line("Likeness of comments", pair, _likeness)]
    return [*lines, *_embedded(pair)]


def _distinct(n: str) -> Callable[[Counted], Value]:
    def say(one: Counted) -> Value:
        share = one.distinct[n]
        if share is None:
            return Value(words="There are no comments with as many words.")
        about = "" if one.is_exact else "about "
        return Value(f"{about}{share:.3f}", of=f"{one.words:,} words", few=one.words < FEW)

    return say


def _mattr(one: Counted) -> Value:
    if one.mattr is None:
        return Value(words=f"There are fewer than {one.window} words.")
    return Value(f"{one.mattr:.3f}", of=f"{max(0, one.words - one.window + 1):,} windows")


def _likeness(one: Counted) -> Value:
    found = one.likeness
    if found.value is None:
        return Value(words=found.words)
    by = f"{found.authors:,} author{'s' * (found.authors != 1)}"
    of = f"{found.sampled:,} of {found.texts:,} comments by {by}"
    ends = f"{found.low:.3f} to {found.high:.3f}" if found.low is not None else ""
    return Value(f"{found.value:.3f}", ends, of, found.authors < FEW, found.words)


def _embedded(pair: Pair) -> list[Line]:
    """The embedder, and its numbers where any report has one."""
    embedder = _line("Embedder", pair, lambda one: Value(one.embedded.called, words=one.embedded.words))
    if not any(one.counted and one.counted.embedded.called for one in pair):
        return [embedder]

    def say(one: Counted, number: float | None) -> Value:
        found = one.embedded
        if number is None:
            return Value(words=found.words)
        zeros = f", {found.zeros:,} without a direction left out" if found.zeros else ""
        return Value(f"{number:.3f}", of=f"{found.n:,} comments{zeros}", few=found.n < FEW)

    return [
        embedder,
        _line("Spread, between pairs", pair, lambda one: say(one, one.embedded.pairs)),
        _line("Spread, to the centre", pair, lambda one: say(one, one.embedded.centre)),
    ]


def oddities(pair: Pair) -> list[Line]:
    """What the algorithm of the paper rules out."""
    return [
        _line(name, pair, lambda one, key=key: Value(_whole(one.oddities[key])))  # type: ignore[misc]
        for key, name in ODDITIES.items()
    ]


def shapes(pair: Pair) -> list[Part]:
    """Depths, chains and replies."""
    return [
        Part(key, name, _histogram(pair, lambda one, key=key: getattr(one, key), unit))  # type: ignore[misc]
        for key, (name, unit) in SHAPES.items()
    ]


def overlap(pair: Pair) -> Part:
    """Fig. 3."""
    compared = [
        f"{one.counted.compared:,} of {one.counted.profiles:,} profiles"
        for one in pair
        if one.counted and one.counted.compared < one.counted.profiles
    ]
    note = f"Pairs of {' and '.join(compared)}, drawn by a fixed seed." if compared else ""
    return Part("overlap", "Facts in common", _histogram(pair, lambda one: one.overlap, "pairs"), note)


def _histogram(pair: Pair, of: Callable[[Counted], Mapping[str, int]], unit: str) -> list[Line]:
    known = {int(number) for one in pair if one.counted for number in of(one.counted)}
    if not known:
        return []

    def say(number: int) -> Callable[[Counted], Value]:
        def inner(one: Counted) -> Value:
            counts = of(one)
            n, whole = counts.get(str(number), 0), sum(counts.values())
            return _share(n, whole, unit)

        return inner

    return [_line(str(number), pair, say(number)) for number in range(min(known), max(known) + 1)]


def _share(count: int, whole: int, unit: str, ends: tuple[float, float] | None = None) -> Value:
    if not whole:
        return Value(words="none")
    interval = f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}" if ends else ""
    return Value(f"{100 * count / whole:.1f} %", interval, f"{count:,} of {whole:,} {unit}", whole < FEW)


def attributes(pair: Pair) -> list[Part]:
    """Profiles by each attribute."""
    found = []
    for key, name in NAMES.items():
        tables = [one.counted.groups.get(key) if one.counted else None for one in pair]
        lines = _lines(tables, "profiles", order_of(key))
        missing = max((one.missing for one in tables if one), default=0)
        note = f"{missing:,} profile{'s' * (missing != 1)} without it." if missing and len(pair) == 1 else ""
        if lines:
            found.append(Part(key, name, lines, note))
    return found


def targets(pair: Pair) -> Part:
    """Threads by what their post asks about."""
    tables = [one.counted.targets if one.counted else None for one in pair]
    missing = sum(one.missing for one in tables if one)
    note = f"Of {missing:,} thread{'s' * (missing != 1)} nothing says it." if missing else ""
    lines = [Line(named(line.name), line.values) for line in _lines(tables, "threads", ())]
    return Part("targets", "Threads by target", lines, note)


def topics(pair: Pair) -> list[Part]:
    """Topics of each target, where threads name any."""
    keys = sorted({key for one in pair if one.counted for key in one.counted.topics})
    return [
        Part(
            "",
            named(key),
            _lines([one.counted.topics.get(key) if one.counted else None for one in pair], "namings", ()),
        )
        for key in keys
    ]


def named(key: str) -> str:
    """An attribute by its label; what is none stands as it is."""
    return CATALOGUE[key].label if key in CATALOGUE else key


def order_of(key: str) -> tuple[str, ...]:
    """The order of the groups of an attribute; empty where they have none, or are many."""
    one = CATALOGUE.get(key)
    known = tuple(data()["targets"].get(key, ()))
    has_order = one is not None and (one.kind is Kind.AGE or one.ordered or key == EDUCATION)
    return known if has_order and len(known) <= MOST_GROUPS else ()


def _lines(tables: Sequence[Groups | None], unit: str, order: Sequence[str]) -> list[Line]:
    return [
        Line(name, tuple(_value(table, names, unit) for table in tables))
        for name, names in rows_of(tables, order)
    ]


def _value(table: Groups | None, names: Sequence[str], unit: str) -> Value:
    if table is None:
        return Value()
    found = [one for one in table.groups if one.name in names]
    ends = (found[0].low, found[0].high) if len(names) == 1 and found else None
    return _share(sum(one.count for one in found), table.n, unit, ends)


def rows_of(tables: Sequence[Groups | None], order: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Name of a line -> the groups in it: the first `MOST_GROUPS`, then the others together."""
    known = list(dict.fromkeys(one.name for table in tables if table for one in table.groups))
    if order:
        places = {name: place for place, name in enumerate(order)}
        known.sort(key=lambda name: places.get(name, len(places)))
    if len(known) <= MOST_GROUPS + 1:
        return [(name, [name]) for name in known]
    rest = known[MOST_GROUPS:]
    return [*((name, [name]) for name in known[:MOST_GROUPS]), (f"{len(rest)} {OTHERS}", rest)]


@dataclass(frozen=True)
class Even:
    """A row of the table of evenness, as text."""

    name: str
    of: str
    n: int
    few: bool
    cells: tuple[tuple[str, str], ...]


def evenness(pair: Pair) -> list[Even]:
    """A row for each attribute and corpus."""
    found = []
    for key, name in NAMES.items():
        for one in pair:
            table = one.counted.groups.get(key) if one.counted else None
            if table is None or not table.n:
                continue
            cells = (
                ("groups", str(len(table.groups))),
                ("different values", "–" if table.different is None else f"{table.different:,}"),
                ("entropy", _number(table.entropy, 2)),
                ("evenness", _number(table.evenness, 2)),
                ("Simpson", _number(table.simpson, 2)),
                ("effective groups", _number(table.effective, 1)),
            )
            whose = one.name if len(pair) > 1 else ""
            found.append(Even(name, whose, table.n, table.n < FEW, cells))
    return found


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
