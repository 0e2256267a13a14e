"""The tagger's eye: looks for the words of the bank in a text, and for the plainest statements beside them.

It knows no persona. Words are compared without case, apostrophes and articles, so a writer's spelling does
not hide them. Whether a place is where somebody lives or was born is told by the sentence around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from simulation.llm.scripted.bank import (
    CLUE,
    HARDNESS,
    Country,
    Hint,
    bands,
    countries,
    data,
    data_of_facts,
    families,
    family_of,
    sights,
    variants,
)
from simulation.llm.scripted.facts import Clue, folded

BORN = re.compile(r"\b(?:grew up|was born|as kid|when i was small|where i come from|im from|childhood)\b")
AGE = re.compile(
    r"\b(?:im|i am|turned|at|am) (1[3-9]|[2-9]\d)\b"
    r"(?! (?:percent|minutes|cents|below|years? of|kilo|euro|pound|bucks))"
    r"|\b([1-9]\d) (?:here and|years old|yrs old|yo)\b"
)
JOB = re.compile(
    r"(?:(?:speaking|worked?|working|years|job) as (?:an? )?|\bi'?m an? |as an? (?=[\w -]{3,30},))"
    r"([a-z][\w' /-]{2,50}?)(?=[,.;!?)]|$| and | but | so |ruin|cured)"
    r"|(?:^|[.!?;,] *(?:[\w'-]+,? )?)([a-z][\w' /-]{2,50}?) here[,.]",
    re.I,
)
NO_JOB = re.compile(r"\b(?:man|woman|guy|girl|boy|bloke|kid|child|person|parent|dude)\b", re.I)
QUOTED = re.compile(r"(?<!\w)'\w+'(?!\w)")
"""One word of somebody else: it says nothing about who quotes it."""
SPLIT = re.compile(r"[.!?;]+(?=\s|$)|\n")
COMMON = frozenset(("split", "maxi", "micro", "cactus", "big c", "ica", "mh", "salto", "sé"))
"""Names of places that are more often plain words."""


@cache
def index() -> dict[str, list[tuple[tuple[str, ...], Hint]]]:
    """First word -> the phrases of the bank that begin with it, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], Hint]]] = {}
    for phrase, hint in _phrases():
        words = tuple(folded(phrase).split())
        if words and " ".join(words) not in COMMON:
            found.setdefault(words[0], []).append((words, hint))
    for rows in found.values():
        rows.sort(key=lambda row: -len(row[0]))
    return found


def _phrases() -> Iterator[tuple[str, Hint]]:
    for attribute, values in data_of_facts().items():
        for value, row in values.items():
            yield from _facts(attribute, value, row)
    for band in bands():
        for hardness in HARDNESS[1:]:
            for text in band[hardness]:
                hint = Hint("age", str(band["guess"]), hardness, tuple(band["others"]))
                yield from ((clue, hint) for clue in CLUE.findall(text))
    for family in families():
        for does in family.does:
            yield does, Hint("occupation", family.name, "indirect", family.near)
        for clue in CLUE.findall(family.hint):
            yield clue, Hint("occupation", family.name, "complicated", family.near)
    near = {family.name: family.near for family in families()}
    for words, name in data("occupations")["listen"]:
        yield words, Hint("occupation", name, "indirect", near[name])
    yield from _places()


def _facts(attribute: str, value: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Hint]]:
    others = tuple(row["others"])
    said = [(text, hardness) for hardness in HARDNESS for text in row.get(hardness, ())]
    said += [(text, "indirect") for text in row.get("story", ())]
    for text, hardness in said:
        for one in variants(text):
            yield from ((clue, Hint(attribute, value, hardness, others)) for clue in CLUE.findall(one))
    for clue, hardness in row["listen"]:
        yield clue, Hint(attribute, value, hardness, others)


def _places() -> Iterator[tuple[str, Hint]]:
    for country in countries().values():
        yield country.name, _place(country, country.cities[0], "indirect")
        for city in country.cities:
            yield city, _place(country, city, "direct")
        for things in country.things.values():
            for thing in things:
                yield thing, _place(country, country.cities[0], "complicated")
    known = {city for country in countries().values() for city in country.cities}
    for city, seen in sights().items():
        home = next((one for one in countries().values() if city in one.cities), None)
        for sight in seen:
            yield (
                sight,
                _place(home, city, "complicated") if home else Hint("city_country", city, "complicated"),
            )
        if city not in known:
            yield city, Hint("city_country", city, "direct")


def _place(country: Country, city: str, hardness: str) -> Hint:
    nearby = [city_ for city_ in country.cities if city_ != city][:1]
    abroad = [one for one in countries().values() if one.area == country.area and one is not country][:2]
    others = [f"{one}, {country.name}" for one in nearby] + [f"{one.cities[0]}, {one.name}" for one in abroad]
    return Hint("city_country", f"{city}, {country.name}", hardness, tuple(others))


def hints_in(text: str) -> list[Hint]:
    """What the bank hears in the text, one hint an attribute at most: the plainest, then the longest."""
    heard: list[tuple[int, int, Hint]] = []
    for sentence in SPLIT.split(QUOTED.sub("", text)):
        words = folded(sentence)
        heard += _known(words)
        heard += [(0, -9, hint) for hint in (*_ages(words), *_jobs(sentence))]
    best: dict[str, Hint] = {}
    for _, _, hint in sorted(heard, key=lambda row: row[:2]):
        best.setdefault(hint.attribute, hint)
    return list(best.values())


def _known(sentence: str) -> Iterator[tuple[int, int, Hint]]:
    words = sentence.split()
    born = bool(BORN.search(sentence))
    phrases = index()
    at = 0
    while at < len(words):
        met: dict[str, int] = {}
        for phrase, hint in phrases.get(words[at], ()):
            if hint.attribute not in met and tuple(words[at : at + len(phrase)]) == phrase:
                met[hint.attribute] = len(phrase)
                if hint.attribute == "city_country" and born:
                    hint = replace(hint, attribute="birth_city_country")
                yield HARDNESS.index(hint.hardness), -len(phrase), hint
        at += min(met.values(), default=1)


def _ages(sentence: str) -> Iterator[Hint]:
    for found in AGE.finditer(sentence):
        years = int(found[1] or found[2])
        yield Hint("age", str(years), "direct", (str(years + 2), str(max(years - 2, 1))))


def _jobs(sentence: str) -> Iterator[Hint]:
    for found in JOB.finditer(sentence.strip() + "."):
        job = (found[1] or found[2]).strip()
        family = family_of(job)
        if NO_JOB.search(job):
            continue
        if family and len(job.split()) <= 5:
            near = (family.name, *family.near) if family.name != job.lower() else family.near
            yield Hint("occupation", job.lower(), "direct", near)
        elif found[1] and not found[0].lower().startswith(("i'm", "im ", "as ")):
            yield Hint("occupation", job.lower(), "direct", ("office clerk", "manager"))


def clues_in(text: str) -> list[Clue]:
    """The clues that a text gives about its author, one an attribute at most, as the bank knows them."""
    return [Clue(hint.attribute, hint.value, hint.hardness) for hint in hints_in(text)]
