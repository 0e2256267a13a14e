"""Are two values of an attribute the same, nearly the same, or different? Each kind has its own rule.

The rules are those by which guesses are scored against labels in the SynthPAI evaluation (there: 1, 0.5, 0),
as far as they need no judge; where they were made for a model's guess and not for two people, the docstring
says what is done here. Every rule is symmetric, and a value is the same as itself.
"""

import re
from functools import lru_cache

from simulation.domain import occupations, places
from simulation.domain.attributes import Attribute, Kind
from simulation.domain.normalise import RANGE, same_value, squeeze
from simulation.domain.relations import Match

__all__ = ["Match", "compare"]

YEARS_APART = 5
"""Two ages up to so many years apart are one age."""
OVERLAP = 0.75
"""Share of the shorter of two age ranges from which they are one."""


def compare(attribute: Attribute, one: str, other: str) -> Match:
    """How two values of `attribute` relate; the order of the two does not matter."""
    if one == other:
        return Match.SAME
    if attribute.kind is Kind.PLACE:
        return places.relation(*sorted((one, other)))
    if attribute.kind is Kind.AGE:
        return _ages(one, other)
    if attribute.key == "occupation":
        return occupations.relation(*sorted((one, other)))
    if same_value(attribute, one, other):
        return Match.SAME
    if attribute.kind is Kind.CHOICE_OR_TEXT:
        return _degrees(tuple(attribute.values), _spellings(attribute), *sorted((one, other)))
    return Match.DIFFERENT


def _ages(one: str, other: str) -> Match:
    """Two numbers are the same up to five years apart, as in the published scoring. A number within a range
    is the same; so are ranges of which the shorter lies in the other by three quarters (its length counted as
    one year at least). What only touches is less precise: that grade is ours, the scoring has none for ages.
    """
    ages, others = _age(one), _age(other)
    if ages is None or others is None:
        return Match.SAME if _folded(one) == _folded(other) else Match.DIFFERENT
    (low, high), (from_, to) = ages, others
    if low == high and from_ == to:
        return Match.SAME if abs(low - from_) <= YEARS_APART else Match.DIFFERENT
    shared = min(high, to) - max(low, from_)
    if shared < 0:
        return Match.DIFFERENT
    shorter = min(high - low, to - from_)
    if shorter == 0 or shared / max(shorter, 1) >= OVERLAP:
        return Match.SAME
    return Match.LESS_PRECISE


@lru_cache(maxsize=4096)
def _age(text: str) -> tuple[int, int] | None:
    found = RANGE.match(squeeze(text))
    if not found:
        return None
    low, high = int(found[1]), int(found[2] or found[1])
    return min(low, high), max(low, high)


# How people write degrees, in the order in which they are tried: pattern -> the vocabulary's word.
_DEGREES = [
    (r"(?:currently )?studying(?!.*(?:master|ph\.?d|doctor))(?:(?! in ).)*", "In College"),
    (r"(?:ph\.? ?d\.?|doctorate|doctoral degree|doctor of philosophy)", "PhD"),
    (r"(?:master(?:'?s|s')?(?: degree)?(?: of)?|m\.?sc\.?|mba|m\.?a\.?)", "Master's"),
    (r"(?:bachelor(?:'?s|s')?(?: degree)?(?: of)?|b\.?sc\.?|b\.?a\.?)", "College Degree"),
    (r"(?:college|university|undergraduate|law) degree|degree", "College Degree"),
    (r"high ?school diploma|hs diploma|high ?school degree", "HS Diploma"),
]
_MBA = re.compile(r"^mba(?! in )\b")
_SUBJECT = re.compile(r"^[\s,:/(-]*(?:degree\b)?\s*(?:(?:in|of|on)\b)?[\s(]*(.*?)[\s.)]*$")
_NO_SUBJECT = {"", "some field", "a field", "any field", "some subject", "unknown", "something"}


def _spellings(attribute: Attribute) -> tuple[tuple[str, str], ...]:
    return tuple((attribute.synonyms or {}).items())


@lru_cache(maxsize=4096)
def _degrees(values: tuple[str, ...], synonyms: tuple[tuple[str, str], ...], one: str, other: str) -> Match:
    """A degree with its subject against the degree alone is less precise (the judge's rule for education);
    two subjects, or two degrees, are different. "In College/HS Diploma", one class in the published data, is
    less precise than either of the two."""
    (degrees, subject), (others, its) = (_degree(values, dict(synonyms), text) for text in (one, other))
    if not degrees or not others or not degrees & others:
        return Match.DIFFERENT
    if degrees == others and subject == its:
        return Match.SAME
    return Match.LESS_PRECISE if subject == its or not subject or not its else Match.DIFFERENT


def _degree(values: tuple[str, ...], synonyms: dict[str, str], text: str) -> tuple[frozenset[str], str]:
    """(the degrees that are named, the subject or "")."""
    words = _MBA.sub("master's in business administration", _folded(text).replace("’", "'"))
    known = {value.casefold(): value for value in values} | synonyms
    whole = frozenset(known[part] for part in words.split("/") if part in known)
    if whole and all(part in known for part in words.split("/")):
        return whole, ""
    starts = sorted((spelling for spelling in known if words.startswith(spelling)), key=len)
    for spelling in reversed(starts):
        if not words[len(spelling) : len(spelling) + 1].isalnum():
            return frozenset([known[spelling]]), _subject(words[len(spelling) :])
    for pattern, degree in _DEGREES:
        found = re.match(pattern + r"(?![\w'])", words)
        if found and degree in values:
            return frozenset([degree]), _subject(words[found.end() :])
    return frozenset(), words


def _subject(rest: str) -> str:
    found = _SUBJECT.match(rest)
    words = found[1] if found else rest.strip()
    return "" if words in _NO_SUBJECT else words


def _folded(text: str) -> str:
    return squeeze(text).casefold()
