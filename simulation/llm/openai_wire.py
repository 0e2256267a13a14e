"""The OpenAI wire format, both ways: our request -> its fields, its body -> our reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from simulation.llm.catalog import abilities
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import ChatReply, ChatRequest, Finish, Form, ModerationReply, Usage
from simulation.llm.openai_errors import of_status
from simulation.llm.structured import THINKING, strip_thinking

FINISHES = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "eos_token": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "end_turn": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.FILTER,
    "refusal": Finish.REFUSAL,
}
"""What servers of this format are seen to say; anything else is OTHER."""


Body = TypeVar("Body", bound=BaseModel)


class _Details(BaseModel):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Message(BaseModel):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Logprobs(BaseModel):
    content: list[dict[str, Any]] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: _Usage | None = None


class _Verdict(BaseModel):
    flagged: bool
    category_scores: dict[str, float | None]


class _Moderation(BaseModel):
    results: list[_Verdict]
    model: str | None = None


def fields_of(request: ChatRequest) -> dict[str, Any]:
    """The fields of `POST /chat/completions`: those that are set and that the model's row takes."""
    row = abilities(request.model)
    wanted = {
        "response_format": _response_format(request),
        "temperature": request.temperature,
        "frequency_penalty": request.frequency_penalty if row.penalty else None,
        row.cap_field: request.max_tokens,
        "seed": request.seed if row.seed else None,
    }
    if request.top_logprobs is not None and row.logprobs:
        wanted |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    given = {name: value for name, value in wanted.items() if value is not None}
    return {"model": request.model, "messages": messages, **given}


def _response_format(request: ChatRequest) -> dict[str, Any] | None:
    if request.form is Form.OBJECT:
        return {"type": "json_object"}
    if request.form is Form.TEXT:
        return None
    if not request.schema:
        raise ValueError("a request in the form json_schema needs a schema")
    name = re.sub(r"[^a-z0-9_-]", "_", str(request.schema.get("title", "answer")).lower())[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": dict(request.schema)},
    }


def reply_of(body: object) -> ChatReply:
    """The first choice of a completion. Raises LLMError for a body without one."""
    read = _read(_Completion, body)
    choice = read.choices[0]
    if choice.finish_reason == "error":
        raise LLMError(Trouble.TRANSIENT, "the provider broke off with an error")
    text, thoughts = _text(choice.message)
    refusal = choice.message.refusal or ""
    usage = read.usage or _Usage()
    return ChatReply(
        text=text,
        finish=Finish.REFUSAL if refusal else FINISHES.get(choice.finish_reason or "", Finish.OTHER),
        usage=Usage(
            input=usage.prompt_tokens or 0,
            output=_output(usage),
            cached=(usage.prompt_tokens_details or _Details()).cached_tokens or 0,
            reasoning=(usage.completion_tokens_details or _Details()).reasoning_tokens or 0,
        ),
        served_model=read.model or "",
        reasoning=thoughts,
        refusal=refusal,
        logprobs=tuple((choice.logprobs or _Logprobs()).content or ()),
        raw=body if isinstance(body, dict) else {},
    )


def _output(usage: _Usage) -> int:
    """Tokens of the answer. Some providers count the thinking beside the completion, in the total alone; it
    is billed all the same."""
    beside = (usage.total_tokens or 0) - (usage.prompt_tokens or 0)
    return max(usage.completion_tokens or 0, beside)


def _text(message: _Message) -> tuple[str, str]:
    """The answer, and the thinking wherever the server put it: a field of its own, parts, or the text."""
    content, thoughts = message.content or "", [message.reasoning_content, message.reasoning]
    if isinstance(content, list):
        thoughts += [part.get("thinking") for part in content]
        content = "".join(
            str(part["text"]) for part in content if part.get("type") == "text" and "text" in part
        )
    thoughts += [re.sub(r"</?think(?:ing)?>", "", block, flags=re.I) for block in THINKING.findall(content)]
    told = dict.fromkeys(
        thought.strip() for thought in thoughts if isinstance(thought, str) and thought.strip()
    )
    return strip_thinking(content), "\n\n".join(told)


def moderation_of(body: object, texts: int) -> ModerationReply:
    """One verdict for each of `texts` texts. Raises LLMError for a body without them."""
    read = _read(_Moderation, body)
    if len(read.results) != texts:
        raise LLMError(Trouble.TRANSIENT, f"{len(read.results)} verdicts came for {texts} texts")
    return ModerationReply(
        flagged=tuple(result.flagged for result in read.results),
        scores=tuple(
            {name: score for name, score in result.category_scores.items() if score is not None}
            for result in read.results
        ),
        served_model=read.model or "",
    )


def _read(shape: type[Body], body: object) -> Body:
    if isinstance(body, Mapping) and isinstance(error := body.get("error"), Mapping) and error:
        # Some relays answer 200 and put the error of the server behind them into the body.
        code = error.get("code")
        raise of_status(code if isinstance(code, int) and 400 <= code <= 599 else 502, error)
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise LLMError(
            Trouble.TRANSIENT, f"the answer has no usable {where or 'object'}: {first['msg']}"
        ) from None
