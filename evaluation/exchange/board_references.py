"""Accuracies from elsewhere out of a small table: `attribute,percent[,n]` as CSV, or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simulation.domain.attributes import CATALOGUE

ALL = "all"
MOST_BYTES = 100_000
MOST_PROBLEMS = 20
MOST_DIGITS = 20
Values = dict[str, dict[str, Any]]
"""As `Reference.values`: attribute key, or "" for all -> {"value": share, "n": items or None}."""


@dataclass(frozen=True)
class BadLine:
    """What is wrong, where: the line of the text (JSON: of the value, by its name) and the field."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Unreadable(ValueError):
    """The table cannot be taken; `problems` say line, field and what to do."""

    def __init__(self, problems: list[BadLine]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def read(text: str) -> Values:
    """The values of a pasted or uploaded table. Raises Unreadable with all that is wrong.

    An attribute is named by its key or label, all of them by “all”. Percents are from 0 to 100, n is a whole
    number from 1 on or left out.
    """
    text = text.removeprefix("\ufeff")
    given = list(_json_rows(text) if text.lstrip()[:1] in "{[" and text.strip() else _csv_rows(text))
    if not given:
        raise Unreadable([BadLine("line 1", "the table is empty: give lines such as “age,72.5,40”")])
    values: Values = {}
    problems: list[BadLine] = []
    small: list[BadLine] = []
    for where, name, value, n in given:
        try:
            key = key_of(name)
            if key in values:
                raise ValueError(f"attribute: “{_brief(name)}” is there twice")
            values[key] = {"value": share(value), "n": items(n)}
            if 0 < values[key]["value"] < 0.01 and "%" not in str(value):
                said = f"percent: {_brief(value)} stands beside values above 1"
                small.append(BadLine(where, f"{said}: write 50 for 50 %, “0.5 %” for half a percent"))
        except ValueError as error:
            problems.append(BadLine(where, str(error)))
    if not problems and all(0 < one["value"] <= 0.01 for one in values.values()):
        problems.append(BadLine("percent", "no value is above 1: write 78 for 78 %, not 0.78"))
    if problems or small:
        problems = problems or small
        raise Unreadable(problems[:MOST_PROBLEMS])
    return values


def key_of(name: object) -> str:
    """The key of an attribute by its key or label; "" for all. Raises ValueError."""
    said = str(name).strip().casefold()
    if said in ("", ALL):
        return ""
    for key, attribute in CATALOGUE.items():
        if said in (key.casefold(), attribute.label.casefold()):
            return key
    known = ", ".join([*CATALOGUE, ALL])
    raise ValueError(f"attribute: “{_brief(name)}” is not known; write one of {known}")


def share(percent: object) -> float:
    """A share from 0 to 1 of a percentage, with or without its sign. Raises ValueError."""
    said = str(percent).strip().removesuffix("%").strip()
    try:
        if isinstance(percent, bool):
            raise ValueError
        value = float(said)
    except ValueError:
        raise ValueError(f"percent: must be a number such as 78.5, not “{_brief(percent)}”") from None
    if not 0 <= value <= 100:
        raise ValueError(f"percent: must lie within 0 and 100, not {_brief(percent)}")
    return value / 100


def items(n: object) -> int | None:
    """A number of items, None where it is left out. Raises ValueError."""
    said = "" if n is None else str(n).strip()
    if not said:
        return None
    if not (said.isascii() and said.isdecimal() and 0 < int(said[:12]) <= 10**9 and len(said) < 11):
        raise ValueError(f"n: must be a whole number from 1 on, not “{_brief(n)}”")
    return int(said)


Given = tuple[str, object, object, object]


def _csv_rows(text: str) -> Iterator[Given]:
    """(where, attribute, percent, n); a line of names at the top and blank lines are passed over."""
    delimiter = "\t" if "\t" in text.strip().partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    begun = False
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise Unreadable(
                [BadLine(f"line {reader.line_num}", f"cannot be read as CSV: {error}")]
            ) from None
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        where = f"line {reader.line_num}"
        is_head = not begun and row[0].strip().casefold() == "attribute"
        begun = True
        if is_head:
            continue
        if len(row) not in (2, 3):
            said = f"must have 2 or 3 cells (attribute, percent, n), not {len(row)}"
            raise Unreadable([BadLine(where, f"{said}; decimals are written with a point")])
        yield where, row[0], row[1], row[2] if len(row) == 3 else None


def _json_rows(text: str) -> Iterator[Given]:
    """Of {"age": 72.5}, {"age": {"percent": 72.5, "n": 40}} or [{"attribute": "age", "percent": …}]."""
    try:
        given = json.loads(text, object_pairs_hook=_once, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise Unreadable([BadLine(f"line {error.lineno}", f"cannot be read as JSON: {error.msg}")]) from None
    except RecursionError:
        raise Unreadable([BadLine("line 1", "is nested too deeply")]) from None
    except ValueError as error:
        raise Unreadable([BadLine("JSON", str(error))]) from None
    if isinstance(given, list):
        for place, one in enumerate(given, start=1):
            if not isinstance(one, dict) or not {"attribute", "percent"} <= set(one):
                raise Unreadable([BadLine(f"entry {place}", "must be an object with attribute and percent")])
            yield f"entry {place}", one["attribute"], one["percent"], one.get("n")
        return
    for name, one in given.items():
        where = f"“{_brief(name)}”"
        if not isinstance(one, dict):
            yield where, name, one, None
        elif "percent" in one:
            yield where, name, one["percent"], one.get("n")
        else:
            raise Unreadable([BadLine(where, "percent: is missing")])


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits: at most {MOST_DIGITS} are possible")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"“{_brief(name)}” is there twice")
    return dict(pairs)


def _brief(said: object) -> str:
    text = str(said).strip()
    return text if len(text) <= 40 else text[:39] + "…"
