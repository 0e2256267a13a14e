"""The rows of the review form, one an attribute: what is offered, what is chosen, what is wrong."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from annotation.domain.labels import Answer, Guessed, Label, Outcome, Problem, Quote, State, as_offered, judge
from simulation.domain.attributes import CATALOGUE, TARGETS, Attribute
from simulation.domain.normalise import vocabulary_form


@dataclass(frozen=True)
class Option:
    """One radio. `rank` is 0-2 where a guess of the model stands behind it."""

    value: str
    label: str
    rank: int | None = None
    checked: bool = False


@dataclass(frozen=True)
class Row:
    """One row as it is drawn. Equal rows look equal: their HTML is kept and used again."""

    key: str
    number: int
    suggestion: Guessed | None
    tagger: str
    answer: Answer
    state: str
    """A state of the design: untouched, pending, confirmed, corrected, added, rejected, none, unsure."""
    quotes: tuple[Quote, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    @property
    def attribute(self) -> Attribute:
        return CATALOGUE[self.key]

    @cached_property
    def options(self) -> tuple[Option, ...]:
        return tuple(
            Option(option.value, option.label, option.rank, option.value == self.answer.choice)
            for option in options_of(self.attribute, self.suggestion)
        )

    @property
    def shown(self) -> str:
        """The value in words, "" while there is none."""
        chosen = next((option.label for option in self.options if option.checked), "")
        if chosen:
            return chosen
        words = {"none": "Nothing in the text", "unsure": "Cannot decide"}
        return words.get(self.answer.choice, self.answer.text)

    @property
    def first_guess(self) -> str:
        """The best guess as a value, "" where there is none."""
        guessed = self.suggestion
        return as_offered(self.attribute, guessed.guesses[0]) if guessed and guessed.guesses else ""

    @property
    def says_other(self) -> bool:
        return self.answer.choice == "other" or (not self.answer.choice and bool(self.answer.text))

    @property
    def evidence_json(self) -> str:
        """The quotes as the form sends them."""
        return json.dumps([vars(quote) for quote in self.quotes], ensure_ascii=False) if self.quotes else ""


def options_of(attribute: Attribute, suggestion: Guessed | None) -> list[Option]:
    """The vocabulary in its order with the model's guesses marked in it; guesses outside follow.

    Each value is offered once, at its best rank.
    """
    ranks: dict[str, int] = {}
    loose: list[Option] = []
    seen = set()
    for rank, guess in enumerate(suggestion.guesses if suggestion else ()):
        words = as_offered(attribute, guess)
        if not words or words.casefold() in seen:
            continue
        seen.add(words.casefold())
        known = vocabulary_form(attribute, words)
        if known is not None:
            ranks.setdefault(known, rank)
        else:
            loose.append(Option(f"g{rank}", words, rank))
    fixed = [Option(f"v:{value}", value, ranks.get(value)) for value in attribute.values]
    return fixed + loose


def answer_of(label: Label) -> Answer:
    """A stored label as the form's answer, so that a person's own work opens as they left it."""
    if label.state is State.NONE or label.state is State.UNSURE:
        return Answer(choice=label.state.value)
    if label.state is State.VALUE:
        return Answer("other", label.value, str(label.hardness or ""), str(label.certainty or ""))
    return Answer()


EMPTY = Answer()


@dataclass(frozen=True)
class Given:
    """What stands in a row before the person does anything: typed, stored or drafted."""

    answer: Answer = EMPTY
    quotes: tuple[Quote, ...] = ()

    @classmethod
    def of(cls, label: Label) -> "Given":
        return cls(answer_of(label), label.evidence)


NOTHING = Given()
UNSUGGESTED: tuple[Guessed | None, str] = (None, "")


def build(
    suggestions: Mapping[str, tuple[Guessed, str]],
    given: Mapping[str, Given] | None = None,
    problems: Iterable[Problem] = (),
) -> list[Row]:
    """One row an attribute, in the catalogue's order.

    Without an answer a suggestion's hardness and certainty are filled in, and nothing is chosen: leaving
    a row as it is and confirming it must not look the same in the data.
    """
    wrong = tuple(problems)
    return [
        _row(
            attribute,
            number,
            suggestions.get(attribute.key, UNSUGGESTED),
            (given or {}).get(attribute.key, NOTHING),
            tuple(problem for problem in wrong if problem.attribute == attribute.key),
        )
        for number, attribute in enumerate(TARGETS, start=1)
    ]


def _row(
    attribute: Attribute,
    number: int,
    suggested: tuple[Guessed | None, str],
    given: Given,
    problems: tuple[Problem, ...],
) -> Row:
    suggestion, tagger = suggested
    answer = given.answer
    state = "untouched" if suggestion else "pending"
    if answer == EMPTY:
        if suggestion:
            answer = Answer(
                hardness=str(suggestion.hardness or ""), certainty=str(suggestion.certainty or "")
            )
    else:
        answer = _as_option(attribute, suggestion, answer)
        state = _state(attribute, answer, suggestion) or state
    return Row(attribute.key, number, suggestion, tagger, answer, state, given.quotes, problems)


def _as_option(attribute: Attribute, suggestion: Guessed | None, answer: Answer) -> Answer:
    """Words typed that an option already says become that option."""
    if answer.choice != "other" or not answer.text:
        return answer
    folded = answer.text.casefold()
    for option in options_of(attribute, suggestion):
        if option.label.casefold() == folded:
            return Answer(option.value, "", answer.hardness, answer.certainty)
    return answer


def _state(attribute: Attribute, answer: Answer, suggestion: Guessed | None) -> str:
    """What the row amounts to, scales aside; "" while nothing is chosen or it cannot be read."""
    if not answer.choice and not answer.text:
        return ""
    label = judge(attribute, Answer(answer.choice, answer.text, "1", "1"), suggestion)
    return label.outcome.value if isinstance(label, Label) and label.outcome is not Outcome.UNTOUCHED else ""
