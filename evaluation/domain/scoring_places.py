"""Places in the default mode: which place is meant, by the list of the world's cities and countries."""

from __future__ import annotations

import re
from functools import lru_cache

from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Label, Verdict, by_rule, joined, left_open
from evaluation.domain.wording import said, several, without_brackets
from simulation.domain.attributes import Attribute
from simulation.domain.places import Place, readings, relation
from simulation.domain.relations import Match

_NUMBERED = re.compile(r"^\d{1,2}[.)]\s*")
_LIVES = re.compile(
    r"^(?:likely |probably |possibly |perhaps |currently |originally )*"
    r"(?:liv(?:es|ed|ing)|resid(?:es|ing|ent)|based|located|born|raised|grew up|comes?|from|somewhere|native)"
    r"(?: (?:in|of|from|near))? +",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"^(?:[\w'’]+[ /,-]+){0,6}?(?:cit(?:y|ies)|towns?|villages?|areas?|regions?|places?|part|suburbs?|"
    r"somewhere|"
    r"anywhere|states?|locations?|countryside|hometown|metropolis|cent(?:er|re)|capital)(?: or [\w-]+)? "
    r"(?:in|of|from|within) (?:the )?(?P<scope>.+)$",
    re.IGNORECASE,
)
"""“A small town in X” names X only."""


def score(attribute: Attribute, label: Label, guess: str) -> Verdict:
    """The same place is right, the right country is right in part, another country is wrong; a place that the
    list does not know is open. Where the label itself has only the country right (`truth_score` 0.5), the
    country is all that can be right, so it counts as right (published rule)."""
    truth = said(label.value)
    whole = _compare(truth, guess)
    parts = [said(part) for part in several(guess)]
    if whole.score != RIGHT and len(parts) > 1:
        each = [_compare(truth, part) for part in parts]
        if not any(one.is_open for one in each) or whole.is_open:
            whole = joined(each)
    if whole.score == HALF and label.truth_score == HALF:
        return by_rule(RIGHT, f"{whole.reason}; the label itself has only the country right")
    return whole


def _compare(one: str, other: str) -> Verdict:
    """Symmetric."""
    one, other = place_named(one), place_named(other)
    match = relation(*sorted((one, other)))
    ones, others = readings(one), readings(other)
    if match is Match.SAME:
        return by_rule(RIGHT, "two spellings or names of the same place")
    if not ones or not others:
        return left_open("a place that the list does not know")
    (first, is_firm), (second, is_also) = ones[0], others[0]
    if not (is_firm and is_also):
        return left_open("a place of which a part is not known")
    if not first.country or not second.country:
        return _by_continent(first, second)
    if match is Match.LESS_PRECISE:
        return by_rule(HALF, "the same place, said more or less exactly")
    if first.country == second.country:
        return by_rule(HALF, "the right country")
    return by_rule(WRONG, "two different countries")


def _by_continent(one: Place, other: Place) -> Verdict:
    if one.continent == other.continent:
        return left_open("only the continent is the same")
    return by_rule(WRONG, "two different continents")


@lru_cache(maxsize=4096)
def place_named(words: str) -> str:
    """The place in a phrase about one: “lives in Austin” names Austin, “a small town in Spain” names Spain.

    Words that are a place already, and words in which none is found, are given back without remarks in
    brackets.
    """
    plain = _NUMBERED.sub("", without_brackets(words))
    for text in (plain, _LIVES.sub("", plain)):
        if _is_known(text):
            return text
    found = _SCOPE.match(plain)
    if found and _is_known(found["scope"]):
        return found["scope"]
    return plain


def _is_known(text: str) -> bool:
    """Whether the list knows the place firmly, be it only by its country."""
    known = readings(text)
    return bool(known) and known[0][1]
