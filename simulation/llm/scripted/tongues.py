"""The languages other than English that the scripted model reads: what tells them, what their prompts say.

One file `bank.<language>.toml` in `data` is one language; code knows none of them by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simulation.domain.attributes import CATALOGUE
from simulation.domain.normalise import vocabulary_form
from simulation.llm.scripted.bank import data
from simulation.llm.scripted.facts import Person

FIELDS = {
    "sex": "sex",
    "city_country": "home",
    "birth_city_country": "birthplace",
    "education": "education",
    "occupation": "occupation",
    "income": "income",
    "income_level": "income_level",
    "relationship_status": "relationship",
}
"""Part of a persona prompt -> field of a person. Whatever else a persona says is one of the `others`."""


@dataclass(frozen=True)
class Tongue:
    """How the prompts of one language read."""

    language: str
    bank: Mapping[str, Any]

    def speaks(self, text: str) -> bool:
        return any(mark in text for mark in self.bank["marks"])

    def person(self, text: str) -> Person:
        """The facts that the lines of a persona state, in the words of the catalogue where it has some."""
        found: dict[str, Any] = {}
        others: list[tuple[str, str]] = []
        for line in text.splitlines():
            self._read(line.strip().rstrip("."), found, others)
        return Person(**found, others=tuple(others))

    def _read(self, line: str, found: dict[str, Any], others: list[tuple[str, str]]) -> None:
        lines = self.bank["persona"]
        if years := re.fullmatch(lines["age"], line):
            found["age"] = int(years[1])
            return
        for key, field in FIELDS.items():
            if field not in found and (said := re.fullmatch(lines[key], line)):
                found[field] = meant(key, said[1])
                return
        if said := re.fullmatch(lines["other"], line):
            labels = {one.in_language(self.language).label: one.key for one in CATALOGUE.values()}
            if (named := labels.get(said[1])) is not None:
                others.append((named, meant(named, said[2])))


def meant(key: str, words: str) -> str:
    """The catalogue's value for words of any of its languages, else the words."""
    attribute = CATALOGUE.get(key)
    return (vocabulary_form(attribute, words) if attribute else None) or words


@cache
def tongues() -> tuple[Tongue, ...]:
    files = sorted((Path(__file__).parent / "data").glob("bank.*.toml"))
    return tuple(Tongue(file.name.split(".")[1], data(file.stem)) for file in files)


def tongue_of(frame: str) -> Tongue | None:
    """The language of a prompt whose quoted content has been taken out; None for English."""
    return next((one for one in tongues() if one.speaks(frame)), None)
