"""Words that the writer and the tagger share: a person's facts, and a clue to one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

AGE = re.compile(r"You are (\d{1,3}) years old\.?")
LINES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("sex", re.compile(r"You are ((?:fe)?male)\.?")),
    ("home", re.compile(r"You live in (.+?)\.?")),
    ("birthplace", re.compile(r"You were born in (.+?)\.?")),
    ("education", re.compile(r"You hold an? (.+?)\.?")),
    ("education", re.compile(r"Your education: (.+?)\.?")),
    ("occupation", re.compile(r"You work as: (.+?)\.?")),
    ("income", re.compile(r"Your yearly income: (.+?)\.?")),
    ("income_level", re.compile(r"For where you live your income is (.+?)\.?")),
    ("relationship", re.compile(r"Relationship: (.+?)\.?")),
    ("education", re.compile(r"You are (.+?)\.?")),
)
"""Tried in this order; what is left of the sentences with "You are" is education."""


@dataclass(frozen=True)
class Clue:
    """A hint at one attribute of an author. Equal clues say the same about the same, however it is put."""

    attribute: str
    value: str
    hardness: str
    """direct, indirect or complicated"""


@dataclass(frozen=True)
class Person:
    """The facts of a persona as they stand in the prompt; empty where the prompt does not tell."""

    age: int | None = None
    sex: str = ""
    home: str = ""
    """City, Country"""
    birthplace: str = ""
    """City, Country"""
    education: str = ""
    occupation: str = ""
    income: str = ""
    income_level: str = ""
    relationship: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """(attribute, value) of what the catalogue of an installation holds besides."""

    @property
    def retired(self) -> bool:
        return "retired" in self.occupation.lower()

    @property
    def job(self) -> str:
        """The occupation without the words that say how it is held."""
        bare = re.sub(
            r"\b(?:retired|part[- ]time|full[- ]time|former|licensed)\b,?\s*", "", self.occupation, flags=re.I
        )
        return bare.strip() or self.occupation

    @property
    def degree(self) -> str:
        """The category of the education: what has been reached, or college for a first degree under way."""
        return degree(self.education)


def degree(education: str) -> str:
    """The category of an education in free words; empty where there are none."""
    text = education.lower()
    for words, category in (
        (r"\bin high ?school|high school student", "In Highschool"),
        (r"no (?:diploma|high ?school|degree)|left school|dropped out|primary school", "No Highschool"),
        (r"stud(?:ying|ies|ent)\b.*(?:ph\.?d|doctor)", "Master's"),
        (r"stud(?:ying|ies|ent)\b.*master", "College Degree"),
        (r"stud(?:ying|ies|ent)\b|in college|undergrad", "In College"),
        (r"ph\.?d|doctor|\bmd\b", "PhD"),
        (r"master|\bmba\b", "Master's"),
        (r"high ?school|secondary|\bhs\b", "HS Diploma"),
        (r"\S", "College Degree"),
    ):
        if re.search(words, text):
            return category
    return ""


def read_person(text: str) -> Person:
    """The facts that the lines of a persona state; lines of another form are passed over."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        said = line.strip()
        if years := AGE.fullmatch(said):
            found.setdefault("age", int(years[1]))
            continue
        for name, pattern in LINES:
            if name not in found and (match := pattern.fullmatch(said)):
                found[name] = match[1].strip()
                break
    return Person(**found)


def folded(text: str) -> str:
    """`text` as clues are compared: small letters, no apostrophes, no articles, one blank between words."""
    words = re.findall(r"\w+", text.casefold().replace("'", "").replace("’", ""))
    return " ".join(word for word in words if word not in ("a", "an", "the"))
