"""A label: what one person says about one attribute of one comment. Rules only, no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from simulation.domain.attributes import Attribute
from simulation.domain.normalise import BadValue, canonical, same_value


class State(StrEnum):
    VALUE = "value"
    NONE = "none"
    """Looked, and nothing can be inferred."""
    UNSURE = "unsure"
    """Looked, and cannot decide."""
    UNTOUCHED = "untouched"
    """Nobody has judged it; a prefilled value may stand beside it."""


class Outcome(StrEnum):
    """How a label came about, seen from the suggestion."""

    CONFIRMED = "confirmed"
    CORRECTED = "corrected"
    REJECTED = "rejected"
    ADDED = "added"
    NONE = "none"
    UNSURE = "unsure"
    UNTOUCHED = "untouched"
    IMPORTED = "imported"


@dataclass(frozen=True)
class Guessed:
    """The suggestion a person saw, as far as the rules need it."""

    guesses: tuple[str, ...]
    hardness: int | None
    certainty: int | None


@dataclass(frozen=True)
class Answer:
    """What came back for one row of the review form, as typed.

    `choice` is "g0".."g2" for a guess, "v:<value>" for a word of the vocabulary, "other" for the text
    box, "none", "unsure", or "" where nothing was chosen.
    """

    choice: str = ""
    text: str = ""
    hardness: str = ""
    certainty: str = ""


@dataclass(frozen=True)
class Quote:
    """Words that carry a value: the text of `comment` (a public id) from `start` to `end`, in code points."""

    comment: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Label:
    state: State
    outcome: Outcome
    value: str = ""
    hardness: int | None = None
    certainty: int | None = None
    evidence: tuple[Quote, ...] = ()
    bulk: bool = False
    """Set by one act for several rows, not row by row."""

    def as_json(self) -> dict[str, object]:
        """The form in which events, drafts and first answers hold a label."""
        return {
            "state": self.state.value,
            "outcome": self.outcome.value,
            "value": self.value,
            "hardness": self.hardness,
            "certainty": self.certainty,
            "evidence": [vars(quote).copy() for quote in self.evidence],
            "bulk": self.bulk,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Label":
        """The label of an event; fields that older events do not have are empty."""
        return cls(
            state=State(said["state"]),
            outcome=Outcome(said["outcome"]),
            value=said.get("value", ""),
            hardness=said.get("hardness"),
            certainty=said.get("certainty"),
            evidence=tuple(Quote(**quote) for quote in said.get("evidence") or ()),
            bulk=bool(said.get("bulk", False)),
        )


@dataclass(frozen=True)
class Problem:
    """Why an answer cannot be taken: which attribute, which of its fields, and what to do."""

    attribute: str
    field: str
    message: str


def judge(
    attribute: Attribute, answer: Answer, suggestion: Guessed | None, *, rest_is_none: bool = False
) -> Label | list[Problem]:
    """The label that an answer amounts to, or everything that is wrong with it.

    A suggestion has to be judged: without a choice it is a problem. A row without suggestion and
    without choice becomes `untouched`, or `none` where the person said that nothing else can be
    inferred (`rest_is_none`).
    """
    choice = answer.choice or ("other" if answer.text.strip() else "")
    if choice == "none":
        return Label(State.NONE, Outcome.REJECTED if suggestion else Outcome.NONE)
    if choice == "unsure":
        return Label(State.UNSURE, Outcome.UNSURE)
    if not choice:
        if suggestion:
            return [Problem(attribute.key, "choice", "the suggestion has not been judged")]
        if rest_is_none:
            return Label(State.NONE, Outcome.NONE)
        return Label(State.UNTOUCHED, Outcome.UNTOUCHED)
    return _with_value(attribute, answer, choice, suggestion)


def _with_value(
    attribute: Attribute, answer: Answer, choice: str, suggestion: Guessed | None
) -> Label | list[Problem]:
    problems = []
    value = ""
    try:
        value = _chosen(attribute, answer, choice, suggestion)
    except BadValue as error:
        problems.append(Problem(attribute.key, "text", error.problem))
    marks = {}
    for field, typed in (("hardness", answer.hardness), ("certainty", answer.certainty)):
        if typed in {"1", "2", "3", "4", "5"}:
            marks[field] = int(typed)
        elif typed:
            problems.append(
                Problem(attribute.key, field, f"{field} is a number from 1 to 5, not “{typed[:20]}”")
            )
        else:
            problems.append(Problem(attribute.key, field, f"{field} is missing"))
    if problems:
        return problems
    return Label(
        State.VALUE,
        _outcome(attribute, value, suggestion),
        value,
        hardness=marks["hardness"],
        certainty=marks["certainty"],
    )


def _chosen(attribute: Attribute, answer: Answer, choice: str, suggestion: Guessed | None) -> str:
    if choice == "other":
        return canonical(attribute, answer.text)
    if choice.startswith("v:"):
        return canonical(attribute, choice[2:])
    guesses = suggestion.guesses if suggestion else ()
    for rank, guess in enumerate(guesses):
        if choice == f"g{rank}":
            return as_offered(attribute, guess)
    raise BadValue("This choice is not on the list any more; choose again.")


def as_offered(attribute: Attribute, guess: str) -> str:
    """A model's guess as a value: canonical where it can be, else as the model wrote it.

    A guess outside a closed vocabulary ("separated") is offered as it is: the person decides.
    """
    try:
        return canonical(attribute, guess)
    except BadValue:
        return " ".join(guess.split())[:200]


def _outcome(attribute: Attribute, value: str, suggestion: Guessed | None) -> Outcome:
    if not suggestion:
        return Outcome.ADDED
    if suggestion.guesses and same_value(attribute, value, as_offered(attribute, suggestion.guesses[0])):
        return Outcome.CONFIRMED
    return Outcome.CORRECTED
