"""A model's text -> a checked value, or the reason why not. No calls are made here.

The ladder: JSON schema, then JSON mode, then plain words, as the model's row in the catalogue allows. The
finish reason is looked at first; then fences and thinking are taken off; then pydantic judges. One
correction turn quotes its verdict. `json_repair` comes last, and never for an answer that was cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, TypeVar

from json_repair import repair_json
from pydantic import BaseModel, ValidationError

from simulation.llm.messages import ChatReply, ChatRequest, Finish, Form, Message

Answer = TypeVar("Answer", bound=BaseModel)
LONGEST = 60_000
"""Characters of an answer that is read at all."""
REPAIRABLE = 3_000
"""Characters of an answer that is mended: mending takes longer than in proportion."""
THINKING = re.compile(
    r"(?:<think(?:ing)?>|\A(?=(?:(?!<think).)*</think)).*?(?:</think(?:ing)?>|\Z)", re.S | re.I
)
FENCE = re.compile(r"```[\w-]*\s*\n(.*?)(?:```|\Z)", re.S)


class Why(StrEnum):
    """Why an answer gave no value."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    UNREADABLE = "unreadable"


class Rung(StrEnum):
    """How an answer became a value."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"
    REPAIRED = "repaired"


@dataclass(frozen=True)
class Shape(Generic[Answer]):
    """What an answer must be. `from_text` reads the plain form; it raises ValueError with what is wrong."""

    model: type[Answer]
    from_text: Callable[[str], Answer]
    hint: str
    """What the plain form looks like, for the request; empty where the prompt says it already."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Made once a shape: it takes most of a millisecond."""
        return _strict(self.model.model_json_schema())


@dataclass(frozen=True)
class Parsed(Generic[Answer]):
    value: Answer
    rung: Rung


@dataclass(frozen=True)
class Unparsed:
    why: Why
    problem: str


def strip_thinking(text: str) -> str:
    """`text` without `<think>` blocks: an unclosed one runs to the end, an unopened one from the start."""
    return THINKING.sub("", text).strip()


def asked_for(request: ChatRequest, shape: Shape[Any], form: Form) -> ChatRequest:
    """The request in the form of a rung: the schema beside it, the schema in it, or the plain form in it."""
    if form is Form.SCHEMA:
        return replace(request, form=form, schema=shape.schema)
    if form is Form.TEXT and not shape.hint:
        return replace(request, form=form, schema=None)  # the prompt itself says the form
    note = f"Answer in exactly this form:\n{shape.hint}"
    if form is Form.OBJECT:
        note = f"Answer with one JSON object and nothing else. Its schema:\n{json.dumps(shape.schema)}"
    last = request.messages[-1]
    told = (*request.messages[:-1], Message(last.role, f"{last.content}\n\n{note}"))
    return replace(request, form=form, schema=None, messages=told)


def look(reply: ChatReply) -> Unparsed | None:
    """What the finish reason and an empty text already say: refused, truncated, empty; None when neither."""
    if reply.refusal or reply.finish in (Finish.REFUSAL, Finish.FILTER):
        return Unparsed(Why.REFUSED, (reply.refusal or "the provider's filter stopped the answer")[:500])
    if reply.finish is Finish.LENGTH:
        return Unparsed(Why.TRUNCATED, "the answer was cut off at the completion cap")
    if len(reply.text) > LONGEST:
        return Unparsed(Why.UNREADABLE, f"the answer has {len(reply.text)} characters, more than {LONGEST}")
    if not strip_thinking(reply.text):
        return Unparsed(Why.EMPTY, "the answer is empty")
    return None


def read(reply: ChatReply, shape: Shape[Answer], *, repair: bool = False) -> Parsed[Answer] | Unparsed:
    """The value of an answer. JSON is looked for in every form: whole, fenced, or with prose around it."""
    if seen := look(reply):
        return seen
    text = strip_thinking(reply.text)
    problem = ""
    for candidate in _candidates(text):
        try:
            return Parsed(shape.model.model_validate_json(candidate), Rung.OBJECT)
        except ValidationError as error:
            problem = problem or _said(error)
    try:
        return Parsed(shape.from_text(text), Rung.TEXT)
    except ValueError as error:
        problem = problem or _said(error)
    if repair and reply.finish is Finish.STOP and "{" in text and len(text) <= REPAIRABLE:
        try:
            mended = repair_json(text[text.index("{") :], return_objects=True)
            return Parsed(shape.model.model_validate(mended), Rung.REPAIRED)
        except (ValueError, RecursionError) as error:  # nested too deeply, or no fit for the model
            problem = _said(error)
    return Unparsed(Why.UNREADABLE, problem)


def correction(request: ChatRequest, reply: ChatReply, problem: str) -> ChatRequest:
    """One more turn that shows the model its answer and what is wrong with it."""
    say = f"That answer cannot be read: {problem}\nAnswer again, in full, in exactly the form asked for."
    return replace(
        request, messages=(*request.messages, Message("assistant", reply.text), Message("user", say))
    )


def _candidates(text: str) -> list[str]:
    found = [text] if text.startswith("{") else []
    found += [block.strip() for block in FENCE.findall(text) if block.strip().startswith("{")]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        found.append(text[start : end + 1])
    return list(dict.fromkeys(found))


def _said(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)[:500]
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return f"{where + ': ' if where else ''}{first['msg']}"[:500]


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """As OpenAI's strict mode wants it: no further properties, every property required, no defaults."""
    for node in [schema, *schema.get("$defs", {}).values()]:
        if node.get("type") == "object":
            node["additionalProperties"] = False
            node["required"] = list(node.get("properties", {}))
            for value in node.get("properties", {}).values():
                value.pop("default", None)
    return schema
