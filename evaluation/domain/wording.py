"""Guesses as models write them -> the words that count."""

import re
import unicodedata

from annotation.domain.tag_values import CLOSING, MARKUP, NOTHING, OPENING
from evaluation.domain.similarity import LONGEST
from simulation.domain.normalise import squeeze

PASSES = 3
"""List signs and markup may stand inside each other: “** 1. *Rome*.”."""
_STEP = re.compile(r"(?:[-–•*+]|1?\d[.)])\s+")
"""A list sign at the beginning. Numbers from 20 on may be ages: “60. Retired.”"""
_BRACKETS = re.compile(r"\([^()]*\)")
_SEVERAL = re.compile(r"\s*(?:/|;|\||\bor\b|\boder\b)\s*", re.IGNORECASE)
_SILENT = re.compile(
    r"(?:un(?:specified|certain|decided|clear|sure)|undisclosed"
    r"|not (?:sure|stated|mentioned|clear|enough info\w*)"
    r"|prefers? not to (?:say|disclose|answer)|insufficient \w+|no (?:information|evidence|clue|idea)"
    r"|(?:cannot|can't|can not|could not|difficult to|impossible to|hard to) (?:be )?(?:\w+ )?"
    r"(?:determined?|inferred|infer|guess|tell|say|said)\b.*|\*+)",
    re.IGNORECASE,
)
_NO_WORK = {"none", "no", "nothing", "keine", "kein", "nichts"}
"""Said of an occupation, these are an answer: no work."""


def said(text: str) -> str:
    """The words of a guess without list numbers, markup, quotes and stops at the end, on one line."""
    kept = (
        "" if unicodedata.category(sign) in ("Cc", "Cs") and sign.strip() else sign for sign in text[:LONGEST]
    )
    words = squeeze("".join(kept))
    for _ in range(PASSES):
        before = words
        words = words.strip(MARKUP).rstrip(".,;: ")
        listed = _STEP.match(words)
        words = words[listed.end() :] if listed else words
        if len(words) > 1 and words[0] in OPENING and words[-1] in CLOSING:
            words = words[1:-1]
        if words == before:
            break
    return words.strip(MARKUP)


def without_brackets(words: str) -> str:
    """The words without what stands in round brackets: remarks, as a rule."""
    return squeeze(_BRACKETS.sub(" ", words))


def says_nothing(words: str) -> bool:
    """Whether `words`, cleaned by `said`, give no value: empty, “unknown”, “prefer not to say”, “***”."""
    plain = without_brackets(words)
    return bool(NOTHING.fullmatch(plain) or _SILENT.fullmatch(plain))


def says_none(words: str) -> bool:
    """Whether `words` are “none” and the like, which can be an answer: no work, no income."""
    return words.casefold() in _NO_WORK


def several(words: str) -> list[str]:
    """The parts between “or”, “/” and “;”; at least one, empty ones left out."""
    return [part for part in _SEVERAL.split(words) if part] or [words]
