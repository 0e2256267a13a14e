"""Which profiles a run draws its agents from: a pure question to a profile's facts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.normalise import squeeze, vocabulary_form

NUMBER = re.compile(r"\d{1,3}")

CHOSEN = tuple(one for one in CATALOGUE.values() if one.target and one.kind is Kind.CHOICE)
"""Attributes of which some values may be chosen."""
WORDED = tuple(one for one in CATALOGUE.values() if one.target and one.kind is Kind.CHOICE_OR_TEXT)
"""Attributes whose words may be searched."""
AGED = tuple(one for one in CATALOGUE.values() if one.target and one.kind is Kind.AGE)
"""Attributes with a lowest and a highest number."""


@dataclass(frozen=True)
class Span:
    """Numbers from `least` to `most`, both included; None leaves a side open."""

    least: int | None = None
    most: int | None = None

    @property
    def is_open(self) -> bool:
        return self.least is None and self.most is None

    def holds(self, number: int) -> bool:
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)


@dataclass(frozen=True)
class ProfileFilter:
    """What a profile must be; every map is by attribute key, and nothing in it means: any.

    `values` are spelled as in the catalogue. `words` must all be in the fact's text. A fact that is missing
    or cannot be read fails a condition on it.
    """

    values: Mapping[str, Collection[str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[str, Span] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not any(self.values.values()) and not any(self.words.values()) and self._all_open()

    def _all_open(self) -> bool:
        return all(span.is_open for span in self.spans.values())

    def matches(self, facts: Mapping[str, Any]) -> bool:
        return (
            all(_is_one_of(CATALOGUE[key], facts, values) for key, values in self.values.items() if values)
            and all(_has_words(facts.get(key), words) for key, words in self.words.items())
            and all(_is_within(facts.get(key), span) for key, span in self.spans.items())
        )


def _is_one_of(attribute: Attribute, facts: Mapping[str, Any], values: Collection[str]) -> bool:
    return vocabulary_form(attribute, str(facts.get(attribute.key) or "")) in values


def _has_words(fact: Any, words: str) -> bool:
    text = squeeze(str(fact or "")).casefold()
    return all(word in text for word in squeeze(words).casefold().split())


def _is_within(fact: Any, span: Span) -> bool:
    """Of an age that is a range its first number counts."""
    if span.is_open:
        return True
    found = NUMBER.search(str(fact if fact is not None else ""))
    return found is not None and span.holds(int(found[0]))
