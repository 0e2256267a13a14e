"""Occupations and other free words, in the default mode: right where that is plain, never wrong."""

from __future__ import annotations

from evaluation.domain.similarity import jaro_winkler
from evaluation.domain.verdicts import RIGHT, Label, Rung, Verdict, by_rule, left_open
from evaluation.domain.wording import said, several
from simulation.domain import occupations
from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match, compare
from simulation.domain.relations import is_slip

SPELLING = 0.92
"""Above this similarity two long words may be one, misspelt. The published 0.75, and of whole texts, takes an
urban engineer for an urban designer (0.93)."""
LONG = 8
"""Letters of a word that may be misspelt: in shorter ones a slip makes another word, baker and banker."""


def score(attribute: Attribute, label: Label, guess: str, *, classic: bool) -> Verdict:
    """Right by name or known other name (rule), or where each word differs in spelling only (similarity).

    A guess that says the same more or less exactly is left to a judge, as is everything else: half a point
    would be the last word, and people gave such guesses 0, 0.5 and 1 alike.
    """
    truth = said(label.value)
    match = compare(attribute, truth, guess)
    if match is Match.SAME and attribute.key == "occupation" and _by_a_slip(truth, guess):
        return Verdict(RIGHT, Rung.SIMILARITY, "one word misspelt, the others the same")
    if match is Match.SAME:
        return by_rule(RIGHT, "two spellings or names of the same")
    alike = _spelled_alike(truth, guess, classic=classic)
    if alike is not None:
        return Verdict(RIGHT, Rung.SIMILARITY, f"each word alike in spelling, at least {alike:.3f}")
    if match is Match.LESS_PRECISE:
        return left_open("the same said more or less exactly; a judge decides")
    return left_open("no rule knows whether the two mean the same")


def _by_a_slip(one: str, other: str) -> bool:
    """Of two occupations that are the same: whether neither their words nor their names say so."""
    if (
        len(several(one)) + len(several(other)) > 2
        or occupations.job(one).words == occupations.job(other).words
    ):
        return False
    name = occupations.normal(one)
    return name is None or name != occupations.normal(other)


def _spelled_alike(one: str, other: str, *, classic: bool) -> float | None:
    """The least similarity of the words in turn, where they differ by slips only: inside long words, not at
    their ends, where another ending is another word, and never from one known word of occupations to the
    other."""
    ones, others = one.casefold().split(), other.casefold().split()
    if not ones or len(ones) != len(others):
        return None
    known = occupations.jobs().vocabulary
    least = 1.0
    for word, its in zip(ones, others, strict=True):
        if word == its:
            continue
        if min(len(word), len(its)) < LONG or word[-1] != its[-1] or not is_slip(word, its):
            return None
        if {word, its} <= known:
            return None
        least = min(least, jaro_winkler(word, its, classic=classic))
    return least if least > SPELLING else None
