"""The ladder by which a guess is scored against a label, as far as it needs no judge and no person.

Rungs: exact, rule, similarity, judge, person; the verdict names the one that decided. The compatible mode
reproduces the published rules (SynthPAI, section on scoring; `scoring_compatible`). The default mode
corrects their known faults. There, wrong is said only where a rule can know it: of ages, of values of a
vocabulary, of places that are both known. Everything else that is not plainly right stays open (score None).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.domain import (
    scoring_ages,
    scoring_choices,
    scoring_compatible,
    scoring_education,
    scoring_places,
    scoring_texts,
)
from evaluation.domain.verdicts import (
    RIGHT,
    WRONG,
    Label,
    Mode,
    Rung,
    Verdict,
    attribute_of,
    by_rule,
    left_open,
)
from evaluation.domain.wording import said, says_none, says_nothing
from simulation.domain.attributes import Attribute, Kind
from simulation.domain.normalise import squeeze, vocabulary_form

__all__ = ["Label", "Mode", "Rung", "Verdict", "score_guess", "score_guesses"]

_RULES: dict[Kind, Callable[[Attribute, Label, str], Verdict]] = {
    Kind.AGE: scoring_ages.score,
    Kind.CHOICE: scoring_choices.score,
    Kind.PLACE: scoring_places.score,
}


def score_guess(
    label: Label, guess: str, *, category: str = "", mode: Mode = Mode.DEFAULT, classic: bool = True
) -> Verdict:
    """The verdict on one guess. Never raises, whatever the texts are.

    `category` is the education category of the guess, where it has one. `classic` chooses the form of the
    Jaro-Winkler similarity. A label without a value leaves every guess open, in both modes. A guess that is
    the label, letter case and blanks at the ends aside, is right in both.
    """
    if not squeeze(label.value):
        return left_open("the label gives no value")
    if mode is Mode.COMPATIBLE:
        return scoring_compatible.score(label, guess, category, classic=classic)
    truth, words = said(label.value), said(guess)
    if _key(label.value) == _key(guess) or (words and _key(truth) == _key(words)):
        return Verdict(RIGHT, Rung.EXACT, "the same words")
    attribute = attribute_of(label.attribute)
    if says_nothing(words) and not _is_answer(attribute, words):
        return by_rule(WRONG, "the guess names no value")
    if attribute.kind is Kind.CHOICE_OR_TEXT:
        return scoring_education.score(attribute, label, words, category)
    rule = _RULES.get(attribute.kind)
    if rule is not None:
        return rule(attribute, label, words)
    return scoring_texts.score(attribute, label, words, classic=classic)


def score_guesses(
    label: Label,
    guesses: Sequence[str],
    *,
    categories: Sequence[str] = (),
    mode: Mode = Mode.DEFAULT,
    classic: bool = True,
) -> tuple[Verdict, ...]:
    """One verdict a guess, in their order. Guesses behind the last category have none; surplus categories are
    not looked at."""
    return tuple(
        score_guess(
            label,
            guess,
            category=categories[place] if place < len(categories) else "",
            mode=mode,
            classic=classic,
        )
        for place, guess in enumerate(guesses)
    )


def _key(text: str) -> str:
    return squeeze(text).casefold()


def _is_answer(attribute: Attribute, words: str) -> bool:
    """Whether words such as “none” are a value of this attribute: no income, no occupation."""
    if vocabulary_form(attribute, words) is not None:
        return True
    return attribute.kind is Kind.TEXT and says_none(words)
