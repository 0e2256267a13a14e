"""How good labels are: what is compared with what, and when two are the same. Rules only, no database."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from annotation.domain.labels import State
from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.matching import Match, compare
from simulation.domain.normalise import BadValue, canonical, squeeze

MARKS = 3
"""So many guesses of a suggestion count."""
IMPORTED = "imported"
"""The cut of reviewers of a file, and the tagger of suggestions of a file."""
UNRECORDED = "unrecorded"
"""The cut of answers of which nobody wrote down whether suggestions were shown."""
BULK, SINGLE = "bulk", "single"
CUTS = {
    "": "Everything",
    "assisted": "Suggestions shown from the start",
    "blind": "Shown after a first answer without them",
    "unassisted": "Never shown",
    IMPORTED: "Reviewers of an imported file",
    UNRECORDED: "Not recorded whether shown",
    SINGLE: "Judged row by row",
    BULK: "Set by one act for several rows",
}
"""The answers a row counts, in the order of the page. Bulk and single split the same answers another way."""

_WORD, _LESS = "=", 0.5
_SCORES = {Match.SAME: 1.0, Match.LESS_PRECISE: _LESS, Match.DIFFERENT: 0.0}


class Guess(NamedTuple):
    """A suggestion: its guesses, best first, and its marks from 1 to 5 where it has them."""

    guesses: tuple[str, ...]
    hardness: int | None
    certainty: int | None


class First(NamedTuple):
    """What somebody said before they saw the suggestion."""

    state: str
    value: str
    hardness: int | None


class Said(NamedTuple):
    """One label of one answer, with all that it is compared with.

    `comment`, `profile` and `annotation` are keys (profile 0: none); `rater` names who said it; `at` is when,
    in seconds. `shared`: another person answered about the comment as well. `fact` is what the profile says,
    empty where it says nothing.
    """

    annotation: int
    comment: int
    profile: int
    rater: str
    at: float
    arm: str
    gold: bool
    shared: bool
    attribute: str
    state: str
    value: str
    hardness: int | None
    certainty: int | None
    bulk: bool
    guess: Guess | None
    tagger: str
    prompt: str
    first: First | None
    fact: str


def match_of(attribute: str, one: str, other: str) -> Match:
    """`simulation.domain.matching.compare` for the key of an attribute."""
    return compare(CATALOGUE[attribute], one, other)


def outcome(said: Said) -> str:
    """How a label stands to its suggestion; one word of OUTCOMES for each label.

    A value is confirmed where it is the same as the first guess. `left`: a value stands beside a row that
    nobody judged, as in files that keep a prefilled suggestion with hardness 0.
    """
    alone = "" if said.guess else "_alone"
    if said.state == State.VALUE:
        if said.guess is None:
            return "added"
        if not said.guess.guesses:
            return "different"
        match = match_of(said.attribute, said.value, said.guess.guesses[0])
        return {
            Match.SAME: "confirmed",
            Match.LESS_PRECISE: "less_precise",
            Match.DIFFERENT: "different",
        }[match]
    if said.state == State.NONE:
        return "rejected" if said.guess else "none"
    if said.state == State.UNSURE:
        return f"unsure{alone}"
    return f"left{alone}" if said.value else f"untouched{alone}"


OUTCOMES = (
    *("confirmed", "less_precise", "different", "rejected", "unsure", "left", "untouched"),
    *("added", "none", "unsure_alone", "left_alone", "untouched_alone"),
)
JUDGED = ("confirmed", "less_precise", "different", "rejected")
"""What a person decided about a suggestion."""
VALUES = ("confirmed", "less_precise", "different", "added")
"""What a person gave a value."""


def hit(said: Said) -> bool:
    """Whether any of the first three guesses is the same as the label's value."""
    if said.guess is None or said.state != State.VALUE:
        return False
    return any(
        match_of(said.attribute, said.value, guess) is Match.SAME for guess in said.guess.guesses[:MARKS]
    )


def agrees(attribute: str, state: str, value: str, guess: Guess) -> float | None:
    """Whether a label agrees with a suggestion's first guess: 1 the same, 0.5 less precise, 0 another value,
    nothing in the text or unsure; None where the row was not judged or the suggestion is empty."""
    if state == State.UNTOUCHED or not guess.guesses:
        return None
    if state != State.VALUE:
        return 0.0
    return _SCORES[match_of(attribute, value, guess.guesses[0])]


@lru_cache(maxsize=8192)
def answer_key(attribute: str, state: str, value: str) -> str | None:
    """An answer as agreement measures take it: a value in its canonical form, "none" and "unsure" as answers
    of their own, None (missing) for a row that was not judged."""
    if state == State.UNTOUCHED:
        return None
    if state != State.VALUE:
        return state
    return _WORD + _canonical(CATALOGUE[attribute], value).casefold()


def presence_key(key: str) -> str:
    """Of an answer only whether there was something: "value", "none" or "unsure"."""
    return State.VALUE.value if key.startswith(_WORD) else key


def distance(attribute: str, one: str, other: str) -> float:
    """How far apart two different answers (`answer_key`) are: 0 values that are the same by the attribute's
    own rule, 0.5 one less precise than the other, 1 different values, or a value against none."""
    if one.startswith(_WORD) and other.startswith(_WORD):
        return 1.0 - _SCORES[match_of(attribute, one[1:], other[1:])]
    return 1.0


def _canonical(attribute: Attribute, value: str) -> str:
    try:
        return canonical(attribute, value)
    except BadValue:
        return squeeze(value)
