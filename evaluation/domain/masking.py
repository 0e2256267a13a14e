"""Parts of a text that may give its author away, put out of sight: spans, how they are merged, two styles.

The categories are those that were removed from the published comments (SynthPAI, section 5: an entity
recogniser's categories; of quantities only age, currency and number), and the length-preserving style is the
published one. Which spans there are is a masker's word: see `masking_rules` and `masking_presidio`.

Places are code points of the text as it stands, as Python counts them; a caller whose text may come in
different Unicode forms normalises it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

LEAST = 0.4
"""Confidence from which a span was removed in the published run."""
SIGN = "*"


class Category(StrEnum):
    """What a span says. The values are the published names; age, currency and number are their Quantity."""

    PERSON = "Person"
    PERSON_TYPE = "PersonType"
    LOCATION = "Location"
    ORGANIZATION = "Organization"
    EVENT = "Event"
    ADDRESS = "Address"
    PHONE_NUMBER = "PhoneNumber"
    EMAIL = "Email"
    URL = "URL"
    IP = "IP"
    DATE_TIME = "DateTime"
    AGE = "Age"
    CURRENCY = "Currency"
    NUMBER = "Number"


_ORDER = {category: place for place, category in enumerate(Category)}
PLACEHOLDER = re.compile(rf"<(?:{'|'.join(one.name for one in Category)})>|\*+")
"""What masking leaves behind; maskers do not look into it."""


EVERY = tuple(Category)


class Style(StrEnum):
    """What stands in the place of a span."""

    STARS = "stars"
    """As many asterisks as the span has characters, so that all else keeps its place."""
    CATEGORY = "category"
    """The name of the category in angle brackets, such as <LOCATION>."""


class BadSpan(ValueError):
    """A span that no text or not this text can have; the message says which and why."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters from `start` up to, not including, `end`. `confidence` is 0 to 1: the masker's own word, and
    no probability unless the masker says so. Raises BadSpan for an empty span or a confidence outside."""

    start: int
    end: int
    category: Category
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise BadSpan(f"a span from {self.start} to {self.end} holds no character")
        if not 0 <= self.confidence <= 1:
            raise BadSpan(f"confidence {self.confidence} is not within 0 and 1")


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked text. `spans` are places in the text before, merged and in order; `marks` are the same in
    `text`, so a page can point at them. In the style of stars both are equal."""

    text: str
    spans: tuple[Span, ...]
    marks: tuple[Span, ...]

    @property
    def characters(self) -> int:
        """Characters of the text before that were put out of sight."""
        return sum(one.end - one.start for one in self.spans)


class Masker(Protocol):
    """Finds what to mask. The same name and version give the same spans for the same text."""

    @property
    def name(self) -> str:
        """Stands in the record of what masked a corpus."""

    @property
    def version(self) -> str:
        """Changes whenever any text may get other spans."""

    def spans(self, text: str) -> list[Span]:
        """What was found, in any order; spans may overlap."""


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, none overlapping another: the rule of the widest reach and the surest name.

    Spans that share a character become one from the first start to the last end, so that nothing that a
    masker pointed at stays in sight. It is called by the surest of them; of equally sure ones by the longest,
    then the first in the text, then the first in the list of categories. Spans that only touch stay two.
    """
    found: list[Span] = []
    group: list[Span] = []
    end = 0
    for one in sorted(spans):
        if group and one.start >= end:
            found.append(_joined(group))
            group = []
        group.append(one)
        end = max(end, one.end) if len(group) > 1 else one.end
    if group:
        found.append(_joined(group))
    return tuple(found)


def _joined(group: Sequence[Span]) -> Span:
    best = min(group, key=lambda one: (-one.confidence, one.start - one.end, one.start, _ORDER[one.category]))
    return replace(best, start=group[0].start, end=max(one.end for one in group))


def apply(text: str, spans: Iterable[Span], style: Style = Style.STARS) -> Masked:
    """The text with the merged spans masked; every other character stays as it is.

    With stars the length stays too, blanks and line breaks inside a span included. Raises BadSpan where a
    span reaches beyond the text.
    """
    merged = merge(spans)
    if merged and merged[-1].end > len(text):
        raise BadSpan(f"a span ends at {merged[-1].end}, but the text has {len(text)} characters")
    pieces: list[str] = []
    marks: list[Span] = []
    done = length = 0
    for one in merged:
        shown = SIGN * (one.end - one.start) if style is Style.STARS else f"<{one.category.name}>"
        pieces += (text[done : one.start], shown)
        length += one.start - done
        marks.append(replace(one, start=length, end=length + len(shown)))
        length, done = length + len(shown), one.end
    pieces.append(text[done:])
    return Masked("".join(pieces), merged, tuple(marks))


def mask(
    text: str,
    masker: Masker,
    *,
    style: Style = Style.STARS,
    least: float = LEAST,
    categories: Iterable[Category] = EVERY,
) -> Masked:
    """The text as a masker would have it: spans of these categories with a confidence of at least `least`."""
    wanted = frozenset(categories)
    found = (one for one in masker.spans(text) if one.confidence >= least and one.category in wanted)
    return apply(text, found, style)
