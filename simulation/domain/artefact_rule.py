"""What a rule for artefacts is: a name, a sentence that says why, a function that finds places in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Span = tuple[int, int]
"""Code points of a text: [start, end)."""


class Kind(StrEnum):
    LEFT_BEHIND = "left behind"
    """Debris of the generator: no person would have written it."""
    GIVES_AWAY = "gives itself away"
    """A fine sentence that plainly says who the author is, which makes guessing pointless."""


@dataclass(frozen=True)
class Written:
    """A comment as the rules see it."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The author's own, by catalogue keys; empty where they are not known."""
    username: str = ""


@dataclass(frozen=True)
class Rule:
    key: str
    name: str
    why: str
    """One sentence for the person who decides."""
    find: Callable[[Written], Iterable[Span]]
    kind: Kind = Kind.LEFT_BEHIND


@dataclass(frozen=True, order=True)
class Found:
    """One place of a text that one rule found suspicious."""

    start: int
    end: int
    rule: str


def joined(spans: Iterable[Span], gap: int = 3) -> list[Span]:
    """In order, without empty ones; those at most `gap` signs apart made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
