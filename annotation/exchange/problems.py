"""What is wrong with a file: where, in which field, and what to do about it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SHOWN = 100
NOT_GIVEN = "(not given)"
"""Key in an `extra` under which stand the fields that a file left out although the layout has them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a file from being imported. `line` is None where a file is one value (a tree);
    `field` then begins with the node's place in the tree, as `node 0.2.1, guesses[0].hardness`."""

    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        where = [self.file, f"line {self.line}" if self.line else "", self.field]
        return f"{', '.join(part for part in where if part)}: {self.message}"


class Problems:
    """Collects the problems of one file: the first hundred in full, the rest counted."""

    def __init__(self, file: str, each: Callable[[Problem], None] | None = None) -> None:
        self.file = file
        self._each = each
        """Is told of every problem."""
        self.shown: list[Problem] = []
        self.total = 0
        self.invalid: Counter[str] = Counter()
        """How many objects of each kind have a problem."""
        self.warnings: Counter[str] = Counter()

    def add(self, line: int | None, field: str, message: str) -> None:
        self.total += 1
        if len(self.shown) >= SHOWN and self._each is None:
            return
        problem = Problem(self.file, line, field, message)
        if len(self.shown) < SHOWN:
            self.shown.append(problem)
        if self._each:
            self._each(problem)


class Enough(Exception):
    """A first look has seen too many problems to go on."""


class Glance(Problems):
    """For a first look at a file, which must not become a reading of the whole: raises Enough in time."""

    def add(self, line: int | None, field: str, message: str) -> None:
        super().add(line, field, message)
        if self.total >= SHOWN:
            raise Enough


@dataclass(slots=True)
class Place:
    """One object of a file on its way in: where it stands, and the address of its problems."""

    problems: Problems
    line: int | None = None
    prefix: str = ""
    """Stands before every field: `node 0.2.1, ` or `pers12.`"""

    def problem(self, field: str, message: str) -> None:
        self.problems.add(self.line, f"{self.prefix}{field}" if field else self.prefix.rstrip("., "), message)

    def inside(self, field: str) -> Place:
        return Place(self.problems, self.line, f"{self.prefix}{field}.")

    def warn(self, kind: str) -> None:
        self.problems.warnings[kind] += 1

    @property
    def total(self) -> int:
        return self.problems.total

    def refuse_reserved(self, source: dict[str, Any]) -> None:
        """Unknown fields are kept beside a mark of our own, and may not have its name."""
        if NOT_GIVEN in source:
            self.problem(NOT_GIVEN, "is no possible name for a field; rename it")

    def text(self, source: dict[str, Any], key: str, limit: int, *, needed: bool = True) -> str:
        """The text under `key`, with at most `limit` characters; "" where it is missing or refused."""
        value = source.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str):
            said = "is missing" if value is None else f"must be text in quotes, not {brief(value)}"
            self.problem(key, said)
            return ""
        if needed and not value.strip():
            self.problem(key, "is empty; give it a value")
        elif len(value) > limit:
            self.problem(key, f"has {len(value)} characters; at most {limit} are possible")
        else:
            return value
        return ""


@dataclass(slots=True)
class NamedPlace(Place):
    """A place in a file whose fields have other names than ours: problems are said in the file's own."""

    names: Callable[[str], str] = str

    def problem(self, field: str, message: str) -> None:
        where = f"{self.prefix}{field}" if field else self.prefix.rstrip("., ")
        self.problems.add(self.line, self.names(where), message)

    def inside(self, field: str) -> Place:
        return NamedPlace(self.problems, self.line, f"{self.prefix}{field}.", self.names)


def brief(value: object) -> str:
    """A value as a message shows it: as in the file, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
