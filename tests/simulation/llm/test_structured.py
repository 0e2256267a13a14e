"""From an answer to a value: the finish reason first, then the ladder, and never a guess."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from simulation.llm.messages import ChatReply, ChatRequest, Finish, Form, Message
from simulation.llm.serving.faults import Fault
from simulation.llm.serving.spoiling import spoilt
from simulation.llm.structured import (
    Parsed,
    Rung,
    Shape,
    Unparsed,
    Why,
    asked_for,
    correction,
    look,
    read,
    strip_thinking,
)


class Guess(BaseModel):
    model_config = ConfigDict(extra="forbid")
    value: str = Field(min_length=1)
    hardness: int = Field(1, ge=1, le=5)


class Guesses(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: str = "none"
    kind: Literal["a", "b"] = "a"
    guesses: list[Guess] = []


def from_words(text: str) -> Guess:
    for line in text.splitlines():
        if line.startswith("Guess:"):
            return Guess(value=line.removeprefix("Guess:").strip(), hardness=2)
    raise ValueError("the line “Guess:” is missing")


SHAPE = Shape(Guess, from_words, "Guess: <the guess>")
GOOD = '{"value": "Zürich", "hardness": 3}'
VALUE = Guess(value="Zürich", hardness=3)
REQUEST = ChatRequest("m", (Message("system", "You guess."), Message("user", "Where?")))


def stopped(text: str, finish: Finish = Finish.STOP) -> ChatReply:
    return ChatReply(text, finish)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```JSON  \n{GOOD}```",
        f"```json\n{GOOD}",
        f"Sure! Here it is:\n\n```json\n{GOOD}\n```\n\nAnything else?",
        f"Here: {GOOD} - that is it.",
        f"<think>maybe {{Bern}}?</think>{GOOD}",
        f"<thinking>\nhm\n</thinking>\n\n```json\n{GOOD}\n```",
        f"it could be Bern, but no</think>\n{GOOD}",
        "```python\nprint({})\n```\n```json\n" + GOOD + "\n```",
    ],
)
def test_json_is_found_whole_fenced_and_amid_prose(text):
    assert read(stopped(text), SHAPE) == Parsed(VALUE, Rung.OBJECT)


def test_plain_words_are_read_where_there_is_no_json():
    assert read(stopped("I think so.\nGuess: Bern"), SHAPE) == Parsed(
        Guess(value="Bern", hardness=2), Rung.TEXT
    )
    assert read(stopped("<think>Guess: Rome</think>Guess: Bern"), SHAPE).value.value == "Bern"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"value": "", "hardness": 3}', "value: String should have at least 1 character"),
        ('{"value": "x", "hardness": 9}', "hardness: Input should be less than or equal to 5"),
        ('{"value": "x", "extra": 1}', "extra: Extra inputs are not permitted"),
        ('{"value": "x", "hardness": "hard"}', "hardness: Input should be a valid integer"),
        ('{"value": ', "Invalid JSON"),
        ("nothing here", "the line “Guess:” is missing"),
        ("Guess: ", "value: String should have at least 1 character"),
    ],
)
def test_what_cannot_be_read_says_what_is_wrong_in_one_line(text, problem):
    outcome = read(stopped(text), SHAPE)
    assert outcome.why is Why.UNREADABLE
    assert problem in outcome.problem or text == '{"value": '
    assert "\n" not in outcome.problem
    assert "pydantic.dev" not in outcome.problem


def test_a_refusal_comes_before_everything_else():
    for reply in (
        ChatReply(GOOD, Finish.STOP, refusal="I will not."),
        ChatReply(GOOD, Finish.REFUSAL),
        ChatReply(GOOD, Finish.FILTER),
        ChatReply("", Finish.LENGTH, refusal="I will not."),
    ):
        assert read(reply, SHAPE, repair=True).why is Why.REFUSED
    assert look(ChatReply("", Finish.REFUSAL, refusal="I will not.")).problem == "I will not."
    assert len(look(ChatReply("", Finish.STOP, refusal="no " * 1000)).problem) == 500


def test_a_truncated_answer_is_never_read_nor_repaired():
    for text in (GOOD, GOOD[:-1], "Guess: Ber", ""):
        assert read(stopped(text, Finish.LENGTH), SHAPE, repair=True).why is Why.TRUNCATED


@pytest.mark.parametrize("text", ["", "  \n", "<think>I thought long", "<think>a</think>\n"])
def test_an_answer_without_words_is_empty(text):
    assert read(stopped(text), SHAPE, repair=True).why is Why.EMPTY


def test_repair_is_the_last_rung_and_only_on_request():
    nearly = '{"value": "Zürich", "hardness": 3'
    assert read(stopped(nearly), SHAPE).why is Why.UNREADABLE
    assert read(stopped(nearly), SHAPE, repair=True) == Parsed(VALUE, Rung.REPAIRED)
    assert read(stopped(f"Sure: {nearly}"), SHAPE, repair=True) == Parsed(VALUE, Rung.REPAIRED)
    assert read(stopped(GOOD), SHAPE, repair=True).rung is Rung.OBJECT
    assert read(stopped("Guess: Bern {"), SHAPE, repair=True).rung is Rung.TEXT


def test_repair_makes_no_value_out_of_nothing_and_needs_a_clean_end():
    assert read(stopped("no json at all"), SHAPE, repair=True).why is Why.UNREADABLE
    assert read(stopped('{"wrong": 1'), SHAPE, repair=True).why is Why.UNREADABLE
    assert read(stopped('{"value": "x"', Finish.OTHER), SHAPE, repair=True).why is Why.UNREADABLE


@pytest.mark.parametrize("text", ["{" * 5000, '{"a":' * 3000, '{"a":[' * 3000])
def test_a_monstrous_answer_is_unreadable_not_a_crash(text):
    assert read(stopped(text), SHAPE, repair=True).why is Why.UNREADABLE


@settings(deadline=None)
@given(st.text(), st.booleans())
def test_any_text_is_read_or_has_a_reason(text, repair):
    outcome = read(stopped(text), SHAPE, repair=repair)
    assert isinstance(outcome, Parsed) or (isinstance(outcome, Unparsed) and outcome.problem)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>Go", "Go"),
        ("<THINK>a\nb</THINK>\n Go ", "Go"),
        ("<thinking>a</thinking>Go<think>b</think> on", "Go on"),
        ("Go <think>and never stop", "Go"),
        ("thinking without a beginning</think>Go", "Go"),
        ("I think so", "I think so"),
        ("a < b > c", "a < b > c"),
    ],
)
def test_thinking_is_taken_off(text, left):
    assert strip_thinking(text) == left


def test_each_rung_asks_in_its_own_way():
    schema = asked_for(REQUEST, SHAPE, Form.SCHEMA)
    assert (schema.form, schema.messages) == (Form.SCHEMA, REQUEST.messages)
    assert schema.schema["title"] == "Guess"
    in_prompt = asked_for(schema, SHAPE, Form.OBJECT)
    assert (in_prompt.form, in_prompt.schema) == (Form.OBJECT, None)
    told = in_prompt.messages[-1].content
    assert told.startswith("Where?\n\nAnswer with one JSON object")
    assert json.dumps(SHAPE.schema) in told
    words = asked_for(REQUEST, SHAPE, Form.TEXT)
    assert words.messages[-1] == Message("user", "Where?\n\nAnswer in exactly this form:\nGuess: <the guess>")
    assert words.messages[0] == REQUEST.messages[0]


def test_a_prompt_that_says_its_form_itself_is_left_alone():
    assert asked_for(REQUEST, Shape(Guess, from_words, ""), Form.TEXT) == REQUEST


def test_the_correction_turn_shows_the_answer_and_what_is_wrong_with_it():
    reply = stopped("Bern, I guess")
    again = correction(asked_for(REQUEST, SHAPE, Form.TEXT), reply, "the line “Guess:” is missing")
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]
    assert again.messages[2].content == "Bern, I guess"
    assert "That answer cannot be read: the line “Guess:” is missing" in again.messages[3].content
    assert again.form is Form.TEXT
    assert again.digest() != asked_for(REQUEST, SHAPE, Form.TEXT).digest()


def test_the_schema_is_strict_all_the_way_down():
    schema = Shape(Guesses, lambda text: Guesses(), "").schema
    for node in (schema, schema["$defs"]["Guess"]):
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
        assert not [value for value in node["properties"].values() if "default" in value]
    assert schema["required"] == ["reason", "kind", "guesses"]


@pytest.mark.parametrize("fault", [Fault.MALFORMED, Fault.PROSE, Fault.EMPTY, Fault.TRUNCATED, Fault.REFUSED])
@pytest.mark.parametrize("text", [GOOD, "Reasoning: hills\nGuess: Bern"])
def test_every_spoilt_answer_ends_on_its_rung(fault, text):
    outcome = read(spoilt(stopped(text), fault), SHAPE)
    why = {
        Fault.MALFORMED: Why.UNREADABLE,
        Fault.EMPTY: Why.EMPTY,
        Fault.TRUNCATED: Why.TRUNCATED,
        Fault.REFUSED: Why.REFUSED,
    }
    assert getattr(outcome, "why", None) is why.get(fault)
