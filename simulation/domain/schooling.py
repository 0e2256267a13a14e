"""Education in free words -> the highest degree that is held, and the one that is under way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LADDER = ("No Highschool", "In Highschool", "HS Diploma", "In College", "College Degree", "Master's", "PhD")
"""The catalogue's words, lowest first."""

_UNDER_WAY = re.compile(
    r"\b(?:stud(?:ying|iert|ent)|enrolled|currently in|in (?:high ?school|college|university)|undergrad|pursuing|working towards?|candidate)\b",  # noqa: E501
    re.I,
)
_STUDIES = re.compile(r"^studies\b|\b(?:he|she|they|who|still|currently|now) studies\b", re.I)
"""The verb; a degree in Film Studies is held."""
_DEGREES = tuple(
    (re.compile(rf"\b(?:{words})", re.I), degree)
    for degree, words in (
        ("PhD", r"ph\.? ?d|d\.?phil|doctor(?:ate|al)?|doktor|promotion|m\.?d\b|j\.?d\b"),
        ("Master's", r"master|m\.?sc|m\.?a\b|mba|m\.?eng|magister|diplom\b|diplom-|staatsexamen"),
        (
            "College Degree",
            r"bachelor|b\.?sc|b\.?a\b|b\.?eng|college|university|law degree|degree|diploma in|associate",
        ),
        ("No Highschool", r"no (?:high ?school|diploma|degree)|left school|dropped out|primary"),
        (
            "HS Diploma",
            r"high ?school|secondary|hs\b|abitur|matura|realschul|hauptschul|ausbildung|lehre\b|diploma|"
            r"vocational|apprentice",
        ),
    )
)
"""How degrees are written, in English and German, in the order in which they are looked for."""


@dataclass(frozen=True)
class Schooling:
    """Both are words of `LADDER`, or empty."""

    held: str
    towards: str = ""
    """The degree under way."""

    @property
    def category(self) -> str:
        """The one word for it: whoever studies is In College, towards a later degree too, as published."""
        if not self.towards:
            return self.held
        return "In Highschool" if self.towards == "HS Diploma" else "In College"

    @property
    def rank(self) -> int:
        """0 to 6, of what is held; -1 where nothing is known."""
        return LADDER.index(self.held) if self.held else -1


_BEFORE = {
    "PhD": "Master's",
    "Master's": "College Degree",
    "College Degree": "HS Diploma",
    "HS Diploma": "No Highschool",
}

_ATTENDED = {
    "In Highschool": Schooling("No Highschool", "HS Diploma"),
    "In College": Schooling("HS Diploma", "College Degree"),
}


@lru_cache(maxsize=4096)
def schooling(text: str) -> Schooling:
    """What an education says. Words that name no degree and no school say nothing."""
    words = text.strip()
    for value in LADDER:
        if words.casefold() == value.casefold():
            return _ATTENDED.get(value, Schooling(value))
    none = _DEGREES[3][0].search(words)
    named = "No Highschool" if none else next((degree for sign, degree in _DEGREES if sign.search(words)), "")
    is_under_way = _UNDER_WAY.search(words) or _STUDIES.search(words)
    if is_under_way and named and named != "No Highschool":
        return Schooling(_BEFORE[named], named)
    return Schooling(named)
