"""Guesses of a tagger against what the persona's profile says: what a rule decides, what goes to a judge.

The published check: an age is right where the true age lies in the closed interval from one guess to the
next (from the last to the first); it has no tolerance, and an interval that runs downwards holds nothing.
Every other guess goes to a model that says yes, no or less precise: 1, 0 and 0.5. A tag is kept where the
mean of its scores is above 0. Ours: a guess that is the truth to the letter is right without asking, where
a run says so, and equal guesses are asked about once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.domain.tag_values import MOST
from annotation.domain.truth import as_text
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.normalise import MAX_LENGTH, same_value, squeeze

NUMBER = re.compile(r"\d+")
LONGEST_NUMBER = 3
"""Digits of an age."""
LONGEST = 1000
"""Characters of a guess or a fact that are compared; imported ones may be of any length."""


class Verdict(StrEnum):
    YES = "yes"
    NO = "no"
    LESS_PRECISE = "less precise"

    @property
    def score(self) -> float:
        """1, 0 or 0.5."""
        return SCORES[self]


SCORES = {Verdict.YES: 1.0, Verdict.LESS_PRECISE: 0.5, Verdict.NO: 0.0}


@dataclass(frozen=True)
class Guessed:
    """One suggestion: its key, and its guesses as text, best first."""

    key: int
    attribute: str
    guesses: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """What a judge is asked: are these guesses, each once, the truth of this attribute?"""

    attribute: str
    truth: str
    guesses: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """How one suggestion compares with the truth: one verdict and one score a guess, the first three."""

    key: int
    verdicts: tuple[Verdict, ...]
    by_judge: bool
    """Whether a judge decided any of them."""

    @property
    def scores(self) -> tuple[float, ...]:
        return tuple(one.score for one in self.verdicts)

    @property
    def kept(self) -> bool:
        return is_kept(self.scores)


Verdicts = Mapping[tuple[str, str], Verdict]
"""(attribute, guess as the judge saw it) -> what it said."""


def is_kept(scores: Sequence[float]) -> bool:
    """The published rule: the mean of the scores is above 0."""
    return sum(scores) > 0


def age_verdicts(guesses: Sequence[str], truth: int) -> tuple[Verdict, ...]:
    """The published rule for ages; of a guess the first number counts, one without a number is wrong."""
    ages = [_age_in(guess) for guess in guesses]
    return tuple(
        Verdict.YES if low is not None and high is not None and low <= truth <= high else Verdict.NO
        for low, high in zip(ages, [*ages[1:], *ages[:1]], strict=True)
    )


def truth_of(attribute: str, facts: Mapping[str, object]) -> str:
    """What the profile says, as it is compared; empty where it says nothing that can be."""
    known = CATALOGUE.get(attribute)
    words = as_text(facts.get(attribute))[:LONGEST] if known else ""
    return "" if known and known.kind is Kind.AGE and _age_in(words) is None else words


def pairs(guessed: Iterable[Guessed], facts: Mapping[str, object], *, exact_first: bool) -> tuple[Pair, ...]:
    """What is open after the rules, one pair an attribute, in the order in which attributes come."""
    wanted: dict[str, dict[str, None]] = {}
    for one in guessed:
        truth = truth_of(one.attribute, facts)
        if not truth or CATALOGUE[one.attribute].kind is Kind.AGE:
            continue
        for guess in one.guesses[:MOST]:
            if not _is_decided(one.attribute, guess, truth, exact_first=exact_first):
                wanted.setdefault(one.attribute, {})[_shown(guess)] = None
    return tuple(Pair(key, _shown(truth_of(key, facts)), tuple(guesses)) for key, guesses in wanted.items())


def checks(
    guessed: Iterable[Guessed], facts: Mapping[str, object], verdicts: Verdicts, *, exact_first: bool
) -> list[Checked]:
    """A check of each suggestion whose truth is known and whose every guess is decided by rule or judge."""
    found = []
    for one in guessed:
        truth = truth_of(one.attribute, facts)
        if not truth or not one.guesses:
            continue
        guesses = one.guesses[:MOST]
        if CATALOGUE[one.attribute].kind is Kind.AGE:
            age = _age_in(truth)
            assert age is not None  # truth_of has seen to it
            found.append(Checked(one.key, age_verdicts(guesses, age), by_judge=False))
            continue
        by_rule = [_is_decided(one.attribute, guess, truth, exact_first=exact_first) for guess in guesses]
        said = [
            Verdict.YES if is_right else verdicts.get((one.attribute, _shown(guess)))
            for guess, is_right in zip(guesses, by_rule, strict=True)
        ]
        known = tuple(verdict for verdict in said if verdict is not None)
        if len(known) == len(guesses):
            found.append(Checked(one.key, known, by_judge=not all(by_rule)))
    return found


def _is_decided(attribute: str, guess: str, truth: str, *, exact_first: bool) -> bool:
    """Whether the guess is the truth in canonical form, and that is enough. An empty guess never is."""
    guess = guess[:LONGEST]
    return exact_first and bool(squeeze(guess)) and same_value(CATALOGUE[attribute], guess, truth)


def _shown(text: str) -> str:
    """As the judge sees it: on one line, of bounded length, and without the signs of our marks."""
    return squeeze(text[:LONGEST].replace("<", " ").replace(">", " "))[:MAX_LENGTH]


def _age_in(text: str) -> int | None:
    """The first number of a text; None where there is none, or it is too long to be an age."""
    found = NUMBER.search(text[:LONGEST])
    return int(found[0]) if found and len(found[0]) <= LONGEST_NUMBER else None
