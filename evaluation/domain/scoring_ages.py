"""Ages in the default mode: numbers, ranges and the words that people use for them.

The grades are those of `simulation.domain.matching`: five years apart is right, a number in a range is,
ranges are by three quarters of the shorter one; ranges that only touch are right in part. Beyond these: a
range all of which lies within five years of a number is right, as each of its years would be, and a guess of
more than 20 years is right in part at best.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evaluation.domain.verdicts import (
    HALF,
    RIGHT,
    WRONG,
    Label,
    Verdict,
    by_rule,
    joined,
    left_open,
)
from evaluation.domain.wording import said, without_brackets
from simulation.domain.attributes import Attribute
from simulation.domain.matching import YEARS_APART, Match, compare
from simulation.domain.normalise import OLDEST

WIDEST = 20
"""Years between the ends of a guess from which on it says too little to be right."""


@dataclass(frozen=True)
class Ages:
    """Years of age from `low` to `high`, both included. `is_bounded` is False for “65 and older”."""

    low: int
    high: int
    is_bounded: bool = True

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def score(attribute: Attribute, label: Label, guess: str) -> Verdict:
    """Right, right in part or wrong where both can be read as years; else open."""
    truth, found = read(said(label.value)), read(guess)
    if truth is None or len(truth) != 1:
        return left_open("the label cannot be read as one age or range")
    if found is None:
        return left_open("the guess cannot be read as an age")
    return joined([_verdict(attribute, truth[0], one) for one in found])


def _verdict(attribute: Attribute, truth: Ages, guess: Ages) -> Verdict:
    words = f"{guess} against {truth}"
    match = compare(attribute, str(truth), str(guess))
    if match is Match.DIFFERENT and _all_near(truth, guess):
        return by_rule(RIGHT, f"{words}: all within {YEARS_APART} years")
    if match is Match.DIFFERENT:
        return by_rule(WRONG, f"{words}: neither within {YEARS_APART} years nor in the range")
    if match is Match.LESS_PRECISE:
        return by_rule(HALF, f"{words}: the ranges share a part only")
    width = guess.high - guess.low
    if guess.is_bounded and width > WIDEST and width > truth.high - truth.low:
        return by_rule(HALF, f"{words}: a range of more than {WIDEST} years")
    return by_rule(RIGHT, f"{words}: the same within {YEARS_APART} years or in the range")


def _all_near(one: Ages, other: Ages) -> bool:
    """Whether one of the two is a number and all of the other lies within five years of it."""
    if one.low != one.high and other.low != other.high:
        return False
    return max(abs(one.low - other.high), abs(one.high - other.low)) <= YEARS_APART


_TENS = {"twent": 20, "thirt": 30, "fort": 40, "fift": 50, "sixt": 60, "sevent": 70, "eight": 80, "ninet": 90}
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELT = re.compile(rf"\b({'|'.join(_TENS)})(?:(ies)\b|y(?:[ -]?({'|'.join(_ONES)}))?\b)")
_TEENS = re.compile(r"\bteen(?:s|ager|aged?)?\b")
_DASHES = re.compile(r"\s*[-‐‑‒–—]\s*")
_SENTENCE = re.compile(r"(?<=[a-z0-9])\.\s+(?=[a-z])")
_PART = re.compile(
    r"(?:\b(?P<at>early|mid|middle|late|anfang|mitte|ende)(?:\s*(?:-|to|/|or)\s*(?P<till>mid|middle|late))?[\s-]*)?"
    r"(?<![\w.,$€£])(?P<number>[0-9]{1,3})(?P<decade>'?s|er)?(?P<more>\s?\+)?(?![\w%.,]*[0-9%])"
)
_SLICES = {
    "early": (0, 3),
    "anfang": (0, 3),
    "mid": (4, 6),
    "middle": (4, 6),
    "mitte": (4, 6),
    "late": (7, 9),
    "ende": (7, 9),
}
"""Years of a decade."""
_TEEN_SLICES = {(0, 3): (3, 4), (4, 6): (5, 6), (7, 9): (7, 9)}
_UP = re.compile(
    r"\b(?:at least|over|above|more than|(?:or )?older than|(?:or|and) (?:older|over|above|up|more)"
    r"|mindestens|über)\b"
)
_DOWN = re.compile(
    r"\b(?:under|below|less than|younger than|at most|up to|(?:or|and) (?:younger|under|below))\b"
)
_RANGE = re.compile(r"(?:-|to|bis|through|until|and)")
_EITHER = re.compile(r"(?:or|oder|/|;|,)+(?: (?:or|maybe|perhaps|possibly))?")
_FILLERS = re.compile(
    r"\b(?:years?|yrs?|yo|y/o|y\.o|olds?|of|aged?|ages?|in|(?:her|his|their|the|its)|about|around|approx(?:imately)?"
    r"|circa|ca|roughly|nearly|almost|likely|probably|possibly|perhaps|maybe|somewhere|between|from|is|are|they"
    r"|(?:s?he)|person|author|someone|ish|jahre?|alt|etwa|ungefähr|rund|zwischen|und)\b|[~:.\"'’<>≈]"
)


@lru_cache(maxsize=4096)
def read(words: str) -> tuple[Ages, ...] | None:
    """The ages that a text names, several where it says “or”; None where it is not plainly an age.

    Read are numbers, ranges (“25 to 30”), decades and their parts (“late 20s” is 27-29, “early” 0-3, “mid”
    4-6), the teens, numbers in words (“mid-thirties”), bounds (“65+”, “under 30”). What else stands there
    must be words such as “about”, “in her”, “years old”; years from 1 to 120.
    """
    text = _SPELT.sub(_figures, _DASHES.sub("-", without_brackets(words).casefold()))
    text = _SENTENCE.split(_TEENS.sub("10s", text))[0]
    text = re.sub(r"\b(early|mid|late)-(?=[0-9])", r"\1 ", text)
    rises, falls = bool(_UP.search(text)), bool(_DOWN.search(text))
    text = _DOWN.sub(" ", _UP.sub(" ", text))
    parts = list(_PART.finditer(text))
    if not parts:
        return None
    read_ = [_part(part) for part in parts]
    if any(one is None for one in read_) or not _is_filler(
        text[: parts[0].start()] + text[parts[-1].end() :]
    ):
        return None
    found = [read_[0]]
    for before, part, ages in zip(parts, parts[1:], read_[1:], strict=False):
        between = " ".join(_FILLERS.sub(" ", text[before.end() : part.start()]).split())
        if _RANGE.fullmatch(between):
            found[-1] = _span(found[-1], ages)
        elif _EITHER.fullmatch(between):
            found.append(ages)
        else:
            return None
    known = [one for one in found if one is not None]
    if rises or falls:
        return _bounded(known, rises=rises, falls=falls)
    return tuple(_merged(known))


def _merged(found: list[Ages]) -> list[Ages]:
    """“Late 20s or early 30s” is one range: what follows on, or overlaps, is one."""
    merged: list[Ages] = []
    for one in sorted(found, key=lambda ages: (ages.low, ages.high)):
        if merged and one.low <= merged[-1].high + 1 and one.low < one.high:
            before = merged.pop()
            one = Ages(before.low, max(before.high, one.high), before.is_bounded and one.is_bounded)
        merged.append(one)
    return merged


def _figures(found: re.Match[str]) -> str:
    tens = _TENS[found[1]]
    if found[2]:
        return f"{tens}s"
    return str(tens + (_ONES.index(found[3]) + 1 if found[3] else 0))


def _is_filler(rest: str) -> bool:
    return not _FILLERS.sub(" ", rest).replace("-", " ").strip(" ,;?!")


def _part(found: re.Match[str]) -> Ages | None:
    number = int(found["number"])
    is_decade = bool(found["decade"]) or (bool(found["at"]) and number % 10 == 0)
    if not 1 <= number <= OLDEST or (is_decade and number % 10) or (found["at"] and not is_decade):
        return None
    if not is_decade:
        return Ages(number, OLDEST, is_bounded=False) if found["more"] else Ages(number, number)
    (first, _), (_, last) = _slice(found["at"], 0, number), _slice(found["till"] or found["at"], 9, number)
    if found["more"]:
        return Ages(number + first, OLDEST, is_bounded=False)
    return Ages(number + first, max(number + last, number + first))


def _slice(word: str | None, edge: int, number: int) -> tuple[int, int]:
    if word is None:
        return (3, 9) if number == 10 else (edge, edge)
    years = _SLICES[word]
    return _TEEN_SLICES[years] if number == 10 else years


def _span(one: Ages | None, other: Ages | None) -> Ages | None:
    if one is None or other is None:
        return None
    low, high = min(one.low, other.low), max(one.high, other.high)
    return Ages(low, high, one.is_bounded and other.is_bounded)


def _bounded(found: list[Ages], *, rises: bool, falls: bool) -> tuple[Ages, ...] | None:
    """“Over 60”, “under 30”: one age and one direction, or it is not plain."""
    if len(found) != 1 or (rises and falls):
        return None
    if rises:
        return (Ages(found[0].low, OLDEST, is_bounded=False),)
    return (Ages(1, found[0].high, is_bounded=False),)
