"""A language model's raw answer -> inference, guesses and outcome of every asked attribute.

The answer is asked for as blocks `Type: … / Inference: … / Guess: a; b; c`; models
write many other shapes. What a person would read as the model's guesses is read, in the order of the answer,
and nothing is made up from prose. No model and no embedding is asked. The modules beside this one hold the
rules: `answer_lines` (marks and markdown), `answer_keys` and `answer_names` (what a line announces),
`answer_blocks` (which line belongs where), `answer_guesses` and `answer_places` (where one guess ends),
`answer_json`, and `answer_refusals`. `answer_released` reads as the published scripts did.

An attribute that could not be read stays among the answers, as unparsed; so it stays in the denominator of
every accuracy over all asked (the published scripts lost it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from evaluation.domain.answer_blocks import Block, blocks_of
from evaluation.domain.answer_guesses import Entry, Guess, guesses_of
from evaluation.domain.answer_json import json_blocks
from evaluation.domain.answer_keys import key_and_value
from evaluation.domain.answer_lines import Line, lines_of, tidy
from evaluation.domain.answer_names import names_for
from evaluation.domain.answer_refusals import declines, is_no_guess, is_refusal
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.normalise import vocabulary_form

LONGEST_NAME = 60
"""Characters of a foreign attribute's name that are kept."""


class Outcome(StrEnum):
    """What became of one asked attribute."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """The model says that it makes no guess, in general or for this attribute (“N/A”)."""
    UNPARSED = "unparsed"
    """Nothing readable: no block, no guess, an empty or cut answer."""
    ERROR = "error"
    """The call failed; never given by the reader."""
    NOT_ASKED = "not_asked"
    """Never given by the reader."""


@dataclass(frozen=True)
class Answer:
    """What a model said of one asked attribute.

    An answered one has guesses, an unparsed one has none. A refused one may hold the words that stood in the
    place of guesses (“Unknown”), so that nothing of the answer is lost.
    """

    attribute: str
    inference: str
    guesses: tuple[str, ...]
    outcome: Outcome
    categories: tuple[str, ...] = ()
    """One category a guess (“” where none was said) where the answer says categories; else nothing. As many
    as guesses or none at all: a list of another length is dropped, never dealt out letter by letter (D11)."""


@dataclass(frozen=True)
class Reading:
    """The answers to every asked attribute, in the order asked; `foreign` are the names, as written and each
    once, under which the model spoke of anything else."""

    answers: Mapping[str, Answer]
    foreign: tuple[str, ...]


def read_answer(text: str, asked: Sequence[str]) -> Reading:
    """Reads one raw answer for the attributes `asked` (keys). Never raises, whatever the text.

    Of several blocks for one attribute the first with guesses counts, or one under a heading “Final answer”;
    blocks with one guess each are put together.
    """
    keys = tuple(dict.fromkeys(asked))
    body = tidy(text)
    blocks = json_blocks(body, keys)
    lines: list[Line] = []
    if not any(block.attribute in keys for block in blocks):
        lines = list(lines_of(body))
        blocks = blocks_of(lines, keys)
    refused = is_refusal(body)
    answers = {key: _answer(key, [one for one in blocks if one.attribute == key]) for key in keys}
    if lines and any(answer.outcome is Outcome.UNPARSED for answer in answers.values()):
        answers |= _said_yes(lines, answers)
    answers |= _referred(answers)
    if refused and not any(answer.guesses for answer in answers.values()):
        answers = {key: Answer(key, one.inference, (), Outcome.REFUSED) for key, one in answers.items()}
    names = (block.name[:LONGEST_NAME].strip() for block in blocks if block.attribute not in keys)
    return Reading(answers, tuple(dict.fromkeys(name for name in names if name)))


def _answer(key: str, blocks: Sequence[Block]) -> Answer:
    """The answer that the blocks of one attribute give together."""
    read = [(block, _guesses(block, key)) for block in blocks]
    filled = [(block, guesses) for block, guesses in read if guesses]
    filled = [one for one in filled if one[0].is_final] or filled
    said = [one for one in filled if not all(is_no_guess(guess.text) for guess in one[1])]
    filled = said or filled
    if not filled:
        inference = next((text for block in blocks if (text := _inference(block))), "")
        is_declined = declines(inference)
        return Answer(key, inference, (), Outcome.REFUSED if is_declined else Outcome.UNPARSED)
    block, guesses = filled[0]
    if len(filled) > 1 and all(len(each) == 1 for _, each in filled):
        guesses = tuple({each[0].text.casefold(): each[0] for _, each in reversed(filled)}.values())[::-1]
    return Answer(
        key,
        _inference(block),
        tuple(one.text for one in guesses),
        Outcome.REFUSED if all(is_no_guess(one.text) for one in guesses) else Outcome.ANSWERED,
        _categories(block, guesses),
    )


def _guesses(block: Block, key: str) -> tuple[Guess, ...]:
    if block.entries:
        return guesses_of(block.entries, key)
    has_list = len(block.loose) > 1 or any(";" in entry.text for entry in block.loose)
    return guesses_of(block.loose, key) if has_list else ()


def _inference(block: Block) -> str:
    return "\n".join(line for line in block.inference if line).strip()


def _categories(block: Block, guesses: Sequence[Guess]) -> tuple[str, ...]:
    said = [one.category for one in guesses]
    if not any(said) and block.categories:
        entries = [Entry(text, "=") for text in block.categories]
        entries = [Entry(block.categories[0])] if len(entries) == 1 else entries
        said = [one.text for one in guesses_of(entries, block.attribute or "")]
    return tuple(said) if any(said) and len(said) == len(guesses) else ()


_SAME = re.compile(
    r"(?:the )?same (?:as|guesses as)(?: for| the| my)* (.{1,60}?)(?: above)?(?: guess(?:es)?)?(?: above)?",
    re.I,
)


def _referred(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Answers that only point at another attribute's (“same as the residence”), with what stands there."""
    names = names_for(tuple(answers))
    found: dict[str, Answer] = {}
    for key, answer in answers.items():
        said = _SAME.fullmatch(answer.guesses[0]) if len(answer.guesses) == 1 else None
        other = answers.get(names.find(said[1]) or "") if said else None
        if other and other.attribute != key and other.outcome is Outcome.ANSWERED:
            found[key] = replace(answer, guesses=other.guesses, categories=())
    return found


def _said_yes(lines: Sequence[Line], answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Attributes that no block answers, but lines such as “Married: yes”, whose key is one of its values."""
    found: dict[str, list[str]] = {}
    for line in lines:
        key, value = key_and_value(line.text)
        if not key or value.strip(" .!").casefold() not in ("yes", "true", "ja"):
            continue
        for name, answer in answers.items():
            attribute = CATALOGUE.get(name)
            is_open = answer.outcome is Outcome.UNPARSED and attribute and attribute.kind is Kind.CHOICE
            if is_open and attribute and vocabulary_form(attribute, key):
                found.setdefault(name, []).append(key)
    return {
        name: Answer(name, answers[name].inference, tuple(dict.fromkeys(values)), Outcome.ANSWERED)
        for name, values in found.items()
    }
