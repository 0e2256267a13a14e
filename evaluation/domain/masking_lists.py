"""The word lists of the rules masker, from its file and from the project's own catalogues, by their words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.domain.masking import Category
from simulation.domain.attributes import CATALOGUE
from simulation.domain.gazetteer import fold
from simulation.domain.occupations import jobs

LONGEST = 5
"""Words of the longest phrase that is looked for."""
SURE, ORIGIN, AFTER, WEAK = 0.8, 0.5, 0.6, 0.3
"""Confidence of words of the lists; weak ones are below what the published run removed."""
NO_OCCUPATIONS = frozenset({"none", "it", "academic", "military", "army", "admin", "maid"})
"""Names in the list of occupations that say something else in a text, or stand in our own lists."""


class Needs(StrEnum):
    """What has to stand beside a phrase, or how it is written, before it counts."""

    NOTHING = "nothing"
    ARTICLE = "article"
    COPULA = "copula"
    CAPITAL = "capital"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase says, how surely, and under which condition."""

    category: Category
    confidence: float
    needs: Needs = Needs.NOTHING


@dataclass(frozen=True)
class Lists:
    """`phrases` by their folded words; the sets hold folded words."""

    phrases: Mapping[tuple[str, ...], Entry]
    beginnings: Mapping[str, int]
    """First word of a phrase -> words of the longest one that begins so."""
    context: Mapping[str, frozenset[str]]
    modifiers: frozenset[tuple[str, ...]]


@dataclass
class _Building:
    phrases: dict[tuple[str, ...], Entry] = field(default_factory=dict)

    def put(self, texts: Iterable[str], entry: Entry) -> None:
        """The first that names a phrase keeps it."""
        for text in texts:
            words = tuple(fold(text).split())
            if 0 < len(words) <= LONGEST:
                self.phrases.setdefault(words, entry)


@cache
def lists() -> Lists:
    """Reads the lists, once a process. Raises ValueError for a section that is no category."""
    raw = tomllib.loads(Path(__file__).with_name("masking_words.toml").read_text(encoding="utf-8"))
    context = raw.pop("context")
    modifiers = frozenset(tuple(fold(text).split()) for text in context.pop("modifiers"))
    building = _Building()
    person = raw["PERSON_TYPE"]
    building.put(person["after"], Entry(Category.PERSON_TYPE, AFTER, Needs.ARTICLE))
    building.put(person["said_of_oneself"], Entry(Category.PERSON_TYPE, AFTER, Needs.COPULA))
    building.put(_relationship_words(), Entry(Category.PERSON_TYPE, AFTER, Needs.COPULA))
    building.put(raw["PERSON"]["sure"], Entry(Category.PERSON, SURE, Needs.CAPITAL))
    for name, section in raw.items():
        _put_section(building, name, section)
    building.put(person["origins"], Entry(Category.PERSON_TYPE, ORIGIN))
    spoken = (text for text, _ in jobs().texts if text not in NO_OCCUPATIONS)
    building.put(spoken, Entry(Category.PERSON_TYPE, SURE))
    beginnings: dict[str, int] = {}
    for words in building.phrases:
        beginnings[words[0]] = max(len(words), beginnings.get(words[0], 0))
    return Lists(
        phrases=building.phrases,
        beginnings=beginnings,
        context={key: frozenset(fold(word) for word in words) for key, words in context.items()},
        modifiers=modifiers,
    )


def _put_section(building: _Building, name: str, section: Mapping[str, Any]) -> None:
    if name not in Category.__members__:
        raise ValueError(f"masking_words.toml: [{name}] is no category")
    building.put(section["sure"], Entry(Category[name], SURE))
    building.put(section["weak"], Entry(Category[name], WEAK))


def _relationship_words() -> Iterator[str]:
    attribute = CATALOGUE.get("relationship_status")
    if attribute:
        yield from attribute.values
        yield from attribute.synonyms or {}


def singular(word: str) -> Iterator[str]:
    """What a folded word may be the plural of, likeliest first; the word itself stands first."""
    yield word
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        if word.endswith("ies"):
            yield word[:-3] + "y"
        yield word[:-1]
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield word[:-2]
        if word.endswith("ves"):
            yield word[:-3] + "f"
