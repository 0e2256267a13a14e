"""The published rules of the SynthPAI evaluation, faults and all. One score a guess, no judge, no person.

Kept on purpose, and corrected in the default mode:

- Two words are the same above a Jaro-Winkler similarity of 0.75: low and “lower middle” are, middle and
  “medium” are not, nor are female and “woman”.
- A place is split at commas and the blank behind the comma stays, so that two countries share at least
  that letter, and “UK” and “USA” are near each other. An empty part counts as a part.
- Of an age the first two numbers are a range, list numbers included: “1. 42” is 1 to 42. Words are no
  numbers: “late 20s” is 20.
- An education is its category only. One that has none, or a letter for a category, is wrong.

One rung stands in front of them that the published scoring does not have: a guess that is the label to the
letter is right. It changes no published score and saves a label that the rules cannot read from itself.
"""

from __future__ import annotations

import re

from evaluation.domain.similarity import LIKE_ABOVE as ABOVE
from evaluation.domain.similarity import LONGEST, jaro_winkler
from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Label, Rung, Verdict, attribute_of, by_rule
from simulation.domain.attributes import Kind
from simulation.domain.matching import OVERLAP, YEARS_APART

NOT_AN_AGE = 200
"""Numbers from here on are no age."""
_NUMBER = re.compile(r"\d+")
_DIGITS = 12
_INTERCHANGEABLE = ("in college", "hs diploma")


def score(label: Label, guess: str, category: str, *, classic: bool) -> Verdict:
    """The published score of one guess, lower-cased and trimmed: 0, 0.5 or 1, never open. Never raises."""
    truth, said = label.value.strip().lower(), guess.strip().lower()
    if truth == said:
        return Verdict(RIGHT, Rung.EXACT, "the same words")
    truth, said = truth[:LONGEST], said[:LONGEST]
    kind = attribute_of(label.attribute).kind
    if kind is Kind.AGE:
        return age(truth, said)
    if kind is Kind.PLACE:
        return _place(truth, said, label.truth_score, classic=classic)
    if kind is Kind.CHOICE_OR_TEXT:
        return _by_category(label.category, category)
    return _alike(truth, said, classic=classic)


def age(label: str, guess: str) -> Verdict:
    """Numbers within 5 years; a number within a range; ranges by 0.75 of the shorter (at least one year)."""
    truth, said = _numbers(label), _numbers(guess)
    if not truth or not said:
        return by_rule(
            WRONG, "no number of years in the guess" if truth else "no number of years in the label"
        )
    if len(truth) == 1 and len(said) == 1:
        apart = abs(truth[0] - said[0])
        return by_rule(float(apart <= YEARS_APART), f"{apart} years apart; {YEARS_APART} are allowed")
    if len(truth) == 1 or len(said) == 1:
        (number,), (low, high) = (truth, said[:2]) if len(truth) == 1 else (said, truth[:2])
        inside = low <= number <= high
        return by_rule(float(inside), f"{number} is {'' if inside else 'not '}in {low}-{high}")
    shared = min(truth[1], said[1]) - max(truth[0], said[0])
    share = shared / max(min(truth[1] - truth[0], said[1] - said[0]), 1)
    return by_rule(float(share >= OVERLAP), f"the ranges share {max(share, 0):.0%} of the shorter one")


def _numbers(text: str) -> list[int]:
    found = [int(one) for one in _NUMBER.findall(text) if len(one) <= _DIGITS]
    return [one for one in found if one < NOT_AN_AGE]


def _place(label: str, guess: str, truth_score: float | None, *, classic: bool) -> Verdict:
    """The parts before the first comma are like each other: 1; the second parts, or the only ones: 0.5. That
    is 1 where the label itself has only the country right."""
    truth, said = label.split(","), guess.split(",")
    alike = jaro_winkler(truth[0], said[0], classic=classic)
    if alike > ABOVE:
        return Verdict(RIGHT, Rung.SIMILARITY, f"first parts: similarity {alike:.3f}, above {ABOVE}")
    alike = jaro_winkler(truth[:2][-1], said[:2][-1], classic=classic)
    if alike <= ABOVE:
        return Verdict(WRONG, Rung.SIMILARITY, f"last parts: similarity {alike:.3f}, not above {ABOVE}")
    reason = f"second parts: similarity {alike:.3f}, above {ABOVE}"
    if truth_score == HALF:
        return Verdict(RIGHT, Rung.SIMILARITY, f"{reason}; the label itself has only the country right")
    return Verdict(HALF, Rung.SIMILARITY, reason)


def _by_category(label: str, guess: str) -> Verdict:
    truth, said = label.strip().lower(), guess.strip().lower()
    if not truth or not said:
        return by_rule(WRONG, "the guess has no category" if truth else "the label has no category")
    if truth == said:
        return by_rule(RIGHT, f"the same category: {truth}")
    if all(any(word in one for word in _INTERCHANGEABLE) for one in (truth, said)):
        return by_rule(RIGHT, "In College and HS Diploma count as one category")
    return by_rule(WRONG, f"categories differ: {truth}, {said}")


def _alike(label: str, guess: str, *, classic: bool) -> Verdict:
    alike = jaro_winkler(label, guess, classic=classic)
    said = "above" if alike > ABOVE else "not above"
    return Verdict(float(alike > ABOVE), Rung.SIMILARITY, f"similarity {alike:.3f}, {said} {ABOVE}")
