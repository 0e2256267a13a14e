"""Rows of a foreign table as rows of the flat layout, by a mapping of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.domain.column_mapping import CONSTANT, PARTS, faults, propose
from annotation.exchange import decoding, reading
from annotation.exchange.comments import COMMON, SOURCE, WHEN
from annotation.exchange.csv_rows import OURS
from annotation.exchange.flat import FIELDS
from annotation.exchange.layouts import Layout
from annotation.exchange.plain_rows import ACTIVE, DERIVED, check_optional
from annotation.exchange.problems import NOT_GIVEN, Problems
from annotation.exchange.profiles import AGES
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import Given
from annotation.exchange.tables_in import digest, opened, table
from simulation.domain.attributes import CATALOGUE

TAKEN = frozenset({*FIELDS, *COMMON, NOT_GIVEN, WHEN, SOURCE})
"""Names of ours, which a column that stands for nothing may have as well; it is then kept under another."""
TEXTS = ("text", "username", "author", "external_id", "thread_id", "parent_id")
LONGEST_NUMBER = 9
ASK = "Say it by a mapping: on the page of the import, or with --mapping (--columns proposes one)"


class Mapped:
    """A foreign table with the meaning of its columns; called, it gives its rows in our fields.

    Without a mapping the columns' names decide, where they can be nothing else than ours. Raises Unreadable
    where they do not, or the mapping does not fit the table.
    """

    def __init__(self, path: Path, layout: Layout, mapping: Mapping[str, Any] | None) -> None:
        self._table = table(path, layout)
        columns = self._table.columns
        if mapping is None:
            proposal = propose(columns, thread=reading.stem(path.name))
            if not proposal.sure:
                raise Unreadable(None, "", f"what do its columns stand for? It has {_listed(columns)}. {ASK}")
            mapping = proposal.mapping
        if wrong := faults(mapping, columns):
            said = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in wrong)
            raise Unreadable(None, "", f"the mapping of columns does not fit: {said}")
        derived = {*DERIVED, "state"} if set(columns) >= OURS else set()
        self._reader = _Reader(mapping, "" if "external_id" in mapping else digest(path), derived)

    def __call__(self, problems: Problems) -> Iterator[Given]:
        for number, one in enumerate(self._table.rows(problems), start=1):
            given = self._reader.read(one, number)
            check_optional(given.value, given.place(problems))
            yield given


def _listed(columns: list[str]) -> str:
    shown = ", ".join(columns[:20])
    return shown if len(columns) <= 20 else f"{shown} and {len(columns) - 20} more"


class _Reader:
    def __init__(self, mapping: Mapping[str, Any], digest: str, derived: set[str]) -> None:
        self._mapping, self._digest = mapping, digest
        self._derived = derived
        """Columns of our own tables that need not be kept: the rows themselves say as much."""
        self._columns = {given for given in mapping.values() if isinstance(given, str)}
        self._facts = {
            name.removeprefix("profile."): given
            for name, given in mapping.items()
            if name.startswith("profile.")
        }
        self._guessed = [key for key in CATALOGUE if any(f"guess.{key}.{part}" in mapping for part in PARTS)]

    def read(self, one: Given, number: int) -> Given:
        cells = opened(one.value)
        row = dict(self._others(one.value))
        for name in TEXTS:
            value = self._cell(name, cells)
            row["id" if name == "external_id" else name] = _text(value, keep=name == "text")
        if "external_id" not in self._mapping:
            row["id"] = f"{self._digest}:{number}"
        row["username"] = row["username"] or row["author"]
        for name in (WHEN, SOURCE):
            value = self._cell(name, cells)
            row[name] = value.strip().lower() if name == SOURCE and isinstance(value, str) else _text(value)
        row["profile"] = self._profile(cells)
        row["guesses"], places = self._guesses(cells)
        for name in ("author", "parent_id", WHEN, SOURCE, "profile"):
            if row[name] in (None, "", {}):
                del row[name]
        return Given(one.line, row, _names(self._mapping, places))

    def _others(self, row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The columns that stand for nothing here; an empty cell is nothing to keep."""
        for name, value in row.items():
            if name in self._columns or value in (None, ""):
                continue
            if name not in self._derived or (name == "state" and value != ACTIVE):
                yield f"{name} (column)" if name in TAKEN else name, value

    def _cell(self, name: str, cells: dict[str, Any]) -> Any:
        given = self._mapping.get(name)
        return cells.get(given) if isinstance(given, str) else given and given[CONSTANT]

    def _profile(self, cells: dict[str, Any]) -> Any:
        whole = self._cell("profile", cells)
        if whole not in (None, "") and not self._facts:
            return whole  # the reader of profiles takes objects and JSON in text, and says what is wrong
        facts = dict(whole) if isinstance(whole, dict) else {}
        for key, column in self._facts.items():
            value = cells.get(column) if isinstance(column, str) else column[CONSTANT]
            if value not in (None, ""):
                facts[key] = _number(value) if key in AGES else value if key == "style" else _worded(value)
        return facts

    def _guesses(self, cells: dict[str, Any]) -> tuple[Any, list[str]]:
        """The guesses of a row, and the attribute of each."""
        whole = self._cell("guesses", cells)
        if whole not in (None, ""):
            return _unpacked(whole), []
        made, places = [], []
        for key in self._guessed:
            parts = {part: self._cell(f"guess.{key}.{part}", cells) for part in PARTS}
            values = [value for part in PARTS[:3] if (value := parts[part]) not in (None, "")]
            if not values:
                continue
            places.append(key)
            made.append(
                {
                    "feature": key,
                    "guesses": values,
                    "hardness": _hardness(parts["hardness"]),
                    "certainty": _number(parts["certainty"]) if parts["certainty"] != "" else None,
                }
            )
        return made or None, places


def _names(mapping: Mapping[str, Any], places: list[str]) -> Callable[[str], str]:
    """The column of a field: that of `guesses[0].certainty` is the one for the first guessed attribute."""

    def named(field: str) -> str:
        ours = "external_id" if field == "id" else field
        if ours.startswith("guesses[") and places:
            index, _, rest = ours.removeprefix("guesses[").partition("]")
            part = rest.strip(".")
            if part.startswith("guesses["):
                part = str(int(part[len("guesses[") : -1]) + 1)
            ours = f"guess.{places[int(index)]}.{part if part in PARTS else '1'}"
        column = mapping.get(ours)
        if column is None:
            column = mapping.get("author" if ours == "username" else ours.partition(".")[0])
        return column if isinstance(column, str) else field

    return named


def _text(value: Any, *, keep: bool = False) -> Any:
    """A cell as text: numbers as they are written. `keep`: an empty text is a text."""
    if value is None or (value == "" and not keep):
        return None
    if isinstance(value, bool | dict | list):
        return value  # the reader of comments says what is wrong with it
    return str(value)


def _worded(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """A whole number that came as text or as 30.0; anything else as it is."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) <= LONGEST_NUMBER:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _hardness(value: Any) -> Any:
    """The scale's word; a number stands for itself, as text."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return decoding.decode(value)
        except ValueError:
            return value
    return value
