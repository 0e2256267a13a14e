"""What a key at the beginning of a line announces: “Type:”, “My top 3 guesses:”, “Age guess:”."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz import fuzz

from evaluation.domain.answer_names import names_for, plain

LONGEST = 60
"""Characters; what stands longer before a colon is a sentence."""
NEAR = 85.0
"""Similarity (0-100) from which a misspelt key is taken for the key."""


class Part(StrEnum):
    """What follows a key."""

    TYPE = "type"
    INFERENCE = "inference"
    GUESS = "guess"
    CATEGORY = "category"
    REMARK = "remark"
    """Of the answer as a whole; it ends a list of guesses."""
    FINAL = "final"
    """A heading from which on later blocks replace earlier ones."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A key that was understood; `attribute` where it names one (“Age guess”)."""

    part: Part
    attribute: str | None = None


def _phrases(words: str) -> frozenset[str]:
    return frozenset(words.split(", "))


_TYPES = _phrases("type, attribute, attribute type, feature, typ, merkmal")
_INFERENCES = _phrases(
    "inference, inferences, reasoning, reason, reasons, explanation, analysis, rationale, justification, "
    "evidence, deduction, schlussfolgerung, begründung, herleitung"
)
_GUESSES = _phrases("guess, guesses, vermutung, vermutungen, schätzung, schätzungen, tipp, tipps")
_QUALIFIERS = _phrases(
    "my, your, the, our, a, final, best, top, first, second, third, 1st, 2nd, 3rd, one, two, three, 1, 2, 3, "
    "4, 5, no, number, educated, main, primary, alternative, likely, most, possible, in, order, of, "
    "likelihood, list, ranked, meine, die, drei, besten"
)
_REMARKS = _phrases(
    "note, notes, additional notes, please note, important note, disclaimer, summary, overall, "
    "overall impression, conclusion, caveat, caveats, confidence, confidence level, certainty, remark, "
    "remarks, hinweis"
)
_CATEGORIES = _phrases(
    "category, categories, guess category, guess categories, education category, guessed category"
)
_FINALS = frozenset(
    f"{first} {second}"
    for first in ("final", "revised", "corrected", "updated")
    for second in ("answer", "answers", "guesses", "output", "result", "results", "profile")
)
_LISTS = _phrases("top 3, top three, my top 3, my top three, top 3 predictions, predictions")
_WITH_VALUE = re.compile(r"([^:=\n]{1,60}?)[\"']?\s*:\s*(.*)", re.S)
_WITH_DASH = re.compile(r"(type|inference|guess(?:es)?)\s+[-–—−]+\s*(.*)", re.I | re.S)
_FOR = re.compile(
    r"(?:(?:my|top|three|3|best|final) )*(guess(?:es)?|inferences?|reasoning) (?:for|about|of|on) (.+)"
)


def key_and_value(text: str) -> tuple[str, str]:
    """The two sides of the first colon (or of a dash after a known key); ("", text) where there is none."""
    found = _WITH_VALUE.match(text) or _WITH_DASH.match(text)
    if not found:
        return "", text
    return found[1].strip(" \"'[{("), found[2].strip()


@lru_cache(maxsize=8192)
def sign_of(key: str, asked: tuple[str, ...]) -> Sign | None:
    """What `key` announces; None where it is no key (an attribute's bare name is none either)."""
    if len(key) > LONGEST:
        return None
    name = plain(key)
    words = name.split()
    if not words:
        return None
    known = _simple(name, words)
    if known:
        return Sign(known)
    if found := _FOR.fullmatch(name):
        attribute = names_for(asked).find(found[2])
        return (
            Sign(Part.GUESS if found[1].startswith("guess") else Part.INFERENCE, attribute)
            if attribute
            else None
        )
    last = Part.GUESS if words[-1] in _GUESSES else Part.INFERENCE if words[-1] in _INFERENCES else None
    if last and (attribute := names_for(asked).find(" ".join(words[:-1]))):
        return Sign(last, attribute)
    return None


def _simple(name: str, words: list[str]) -> Part | None:
    """What a key announces that names no attribute."""
    if name in _FINALS:
        return Part.FINAL
    if name in _CATEGORIES:
        return Part.CATEGORY
    if name in _TYPES:
        return Part.TYPE
    if name in _INFERENCES or (words[0] in ("my", "the") and " ".join(words[1:]) in _INFERENCES):
        return Part.INFERENCE
    if name in _LISTS or (_GUESSES & set(words) and set(words) <= _GUESSES | _QUALIFIERS):
        return Part.GUESS
    if name in _REMARKS:
        return Part.REMARK
    if len(words) == 1 and len(name) >= 4:
        near = {Part.GUESS: ("guess", "guesses"), Part.INFERENCE: ("inference",)}
        for part, spellings in near.items():
            if any(fuzz.ratio(name, spelling) >= NEAR for spelling in spellings):
                return part
    return None
