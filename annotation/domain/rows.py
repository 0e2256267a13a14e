"""The eight rows of the review form: what is offered, what is chosen, what is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.domain.labels import Answer, Guessed, Label, Outcome, Problem, State, as_offered
from simulation.domain.attributes import TARGETS, Attribute
from simulation.domain.normalise import vocabulary_form


@dataclass(frozen=True)
class Option:
    """One radio. `rank` is 0-2 where a guess of the model stands behind it."""

    value: str
    label: str
    rank: int | None = None
    checked: bool = False


@dataclass
class Row:
    attribute: Attribute
    suggestion: Guessed | None
    tagger: str
    options: list[Option]
    answer: Answer
    state: str
    """A state of the design: untouched, pending, confirmed, corrected, added, rejected, none, unsure."""
    shown: str
    """The value in words, "" while there is none."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def first_guess(self) -> str:
        return (
            as_offered(self.attribute, self.suggestion.guesses[0])
            if self.suggestion and self.suggestion.guesses
            else ""
        )

    @property
    def says_other(self) -> bool:
        return self.answer.choice == "other" or (not self.answer.choice and bool(self.answer.text))


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


def build(
    suggestions: Mapping[str, tuple[Guessed, str]],
    answers: Mapping[str, Answer] | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    problems: list[Problem] | None = None,
) -> list[Row]:
    """One row an attribute, in the catalogue's order.

    Without an answer a suggestion's hardness and certainty are filled in, and nothing is chosen: leaving
    a row as it is and confirming it must not look the same in the data.
    """
    rows = []
    for attribute in TARGETS:
        guessed, tagger = suggestions.get(attribute.key, (None, ""))
        answer = (answers or {}).get(attribute.key)
        if answer is None or answer == Answer():
            answer = Answer(
                hardness=str(guessed.hardness or "") if guessed else "",
                certainty=str(guessed.certainty or "") if guessed else "",
            )
        options, answer = _checked(options_of(attribute, guessed), answer)
        outcome = (outcomes or {}).get(attribute.key)
        rows.append(
            Row(
                attribute=attribute,
                suggestion=guessed,
                tagger=tagger,
                options=options,
                answer=answer,
                state=_state(outcome, guessed),
                shown=_shown(options, answer),
                problems=[problem for problem in problems or [] if problem.attribute == attribute.key],
            )
        )
    return rows


def _checked(options: list[Option], answer: Answer) -> tuple[list[Option], Answer]:
    """Marks the chosen option; words typed that an option already says become that option."""
    if answer.choice == "other" and answer.text:
        folded = answer.text.casefold()
        same = next((option for option in options if option.label.casefold() == folded), None)
        if same:
            answer = Answer(same.value, "", answer.hardness, answer.certainty)
    marked = [
        Option(option.value, option.label, option.rank, option.value == answer.choice) for option in options
    ]
    return marked, answer


def _state(outcome: Outcome | None, suggestion: Guessed | None) -> str:
    if outcome and outcome is not Outcome.UNTOUCHED:
        return outcome.value
    return "untouched" if suggestion else "pending"


def _shown(options: list[Option], answer: Answer) -> str:
    chosen = next((option.label for option in options if option.checked), "")
    if chosen:
        return chosen
    return {"none": "Nothing in the text", "unsure": "Cannot decide"}.get(answer.choice, answer.text)
