"""What a model is shown of an author, and what its answer amounts to. Rules without a database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.domain.answers import Outcome, read_answer
from simulation.domain.normalise import squeeze

LETTERS_PER_TOKEN = 4
ANSWER_CAP = 2000
"""Completion cap, in tokens: eight blocks with their reasons."""
LONGEST_GUESS = 300
MOST_GUESSES = 10
"""Guesses kept of one answer; three are asked for, and no measure looks at more."""


@dataclass(frozen=True)
class Shown:
    """One comment that may be shown; `labelled`: somebody found an attribute in it."""

    text: str
    labelled: bool = False


@dataclass(frozen=True)
class Fitted:
    """The places of the comments that are shown, in their order, and how many had to be left out."""

    kept: tuple[int, ...]
    dropped: int = 0
    dropped_labelled: int = 0
    """Of `dropped`, those with a label: they go only where nothing else is left to go."""


def tokens(text: str) -> int:
    """By the rule of thumb of four letters a token; at least one for a line."""
    return max(1, math.ceil(len(text) / LETTERS_PER_TOKEN))


def fit(comments: Sequence[Shown], most: int | None) -> Fitted:
    """Which comments are shown within `most` tokens (None: all).

    As published, comments without a label go first, the longest of them first (of equally long ones the
    later); unlike the published code, which skipped some while removing (SynthPAI defects, D9). Only then
    labelled ones go, by the same order. At least one comment is always shown.
    """
    costs = [tokens(squeeze(one.text)) for one in comments]
    left, total = set(range(len(comments))), sum(costs)
    order = sorted(left, key=lambda place: (comments[place].labelled, -costs[place], -place))
    labelled = 0
    for place in order:
        if most is None or total <= most or len(left) == 1:
            break
        left.remove(place)
        total -= costs[place]
        labelled += comments[place].labelled
    return Fitted(tuple(sorted(left)), len(comments) - len(left), labelled)


def written(comments: Sequence[Shown], fitted: Fitted) -> str:
    """The comments that are shown, one a line, without signs that could end the part they stand in."""
    return "\n".join(squeeze(comments[place].text.replace("</comments>", " ")) for place in fitted.kept)


@dataclass(frozen=True)
class Guessed:
    """What is kept of one attribute; guesses only where it was answered."""

    attribute: str
    outcome: str
    guesses: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    detail: str = ""


WHY = {
    Outcome.REFUSED: "the model gave no guess for it",
    Outcome.UNPARSED: "no guess could be read from the answer",
}


def guessed(text: str, asked: Sequence[str]) -> list[Guessed]:
    """The answer, read, for every attribute that was asked, in that order."""
    answers = read_answer(text, asked).answers
    found = []
    for key in asked:
        answer = answers[key]
        if answer.outcome is Outcome.ANSWERED:
            kept = tuple(guess[:LONGEST_GUESS] for guess in answer.guesses[:MOST_GUESSES])
            found.append(Guessed(key, answer.outcome.value, kept, answer.categories[:MOST_GUESSES]))
        else:
            said = "; ".join(answer.guesses)[:100]
            detail = f"{WHY.get(answer.outcome, '')}{f': {said}' if said else ''}"
            found.append(Guessed(key, answer.outcome.value, detail=detail))
    return found


def readable(rows: Sequence[Guessed]) -> bool:
    """Whether anything at all was answered or refused: if not, another try may help."""
    return any(row.outcome != Outcome.UNPARSED for row in rows)


REASONS: Mapping[str, str] = {
    "refused": Outcome.REFUSED.value,
    "unreadable": Outcome.UNPARSED.value,
    "truncated": Outcome.UNPARSED.value,
    "empty": Outcome.UNPARSED.value,
}
"""Why a call came to nothing -> the outcome of every attribute it was asked for; any other reason: error."""


def failed(reason: str, detail: str, asked: Sequence[str]) -> list[Guessed]:
    """The attributes of a call that came to nothing: none of them is ever a wrong guess in silence."""
    outcome = REASONS.get(reason, Outcome.ERROR.value)
    words = f"{reason}: {detail}" if detail else reason
    return [Guessed(key, outcome, detail=words[:300]) for key in asked]
