"""What a file says, in types: between the parsers of the layouts and the rows of the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from annotation.exchange.problems import NamedPlace, Place, Problems

TAGGER = "imported"
"""Whose suggestions are that name no model."""


class Given(NamedTuple):
    """What a file says of one comment, and where; `names` turns our fields' names into the file's."""

    line: int
    value: Any
    names: Callable[[str], str] | None = None

    def place(self, problems: Problems) -> Place:
        if self.names is None:
            return Place(problems, self.line)
        return NamedPlace(problems, self.line, "", self.names)


@dataclass(slots=True)
class ProfileRecord:
    external_id: str
    username: str
    facts: dict[str, Any]
    style: str
    extra: dict[str, Any]
    place: Place


@dataclass(slots=True)
class ThreadRecord:
    """`target_phrase` is None where the file does not say it."""

    external_id: str
    source: str
    target_phrase: str | None = None


class SuggestionRecord(NamedTuple):
    attribute: str
    position: int
    guesses: list[Any]
    hardness_word: str
    hardness: int | None
    certainty: int | None
    model_eval: Any
    extra: dict[str, Any]
    tagger: str = TAGGER


class LabelRecord(NamedTuple):
    attribute: str
    state: str
    value: str
    hardness: int | None
    certainty: int | None


@dataclass(slots=True)
class AnnotationRecord:
    """`submitted_at` is None where the file has no timestamp."""

    reviewer: str
    submitted_at: datetime | None
    active_ms: int
    extra: dict[str, Any]
    labels: list[LabelRecord]


@dataclass(slots=True)
class CommentRecord:
    """`profile` is None where the row carries none; `suggestions` is None where it does not speak of them.

    `parent` is an external id in the file or the corpus, or None; `position` is None where the file does
    not fix the place among the siblings.
    """

    external_id: str
    thread: str
    author: str
    username: str
    text: str
    place: Place
    parent: str | None = None
    depth: int = 0
    position: int | None = None
    profile: dict[str, Any] | None = None
    suggestions: list[SuggestionRecord] | None = None
    annotations: list[AnnotationRecord] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
