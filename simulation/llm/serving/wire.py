"""The OpenAI format from the server's side: a body -> our request, our reply -> a body."""

from __future__ import annotations

import time
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from simulation.llm.catalog import CATALOG
from simulation.llm.messages import (
    ChatReply,
    ChatRequest,
    Finish,
    Form,
    Message,
    ModerationReply,
    ModerationRequest,
)

Body = TypeVar("Body", bound=BaseModel)
Json = dict[str, Any]


class BadRequest(Exception):
    """A body that is not of the format; the message says where."""


class _Message(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class _Schema(BaseModel):
    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    strict: bool | None = None
    content: Json = Field(alias="schema")


class _ResponseFormat(BaseModel):
    type: Form
    json_schema: _Schema | None = None


class _Chat(BaseModel):
    model: str = Field(min_length=1)
    messages: list[_Message] = Field(min_length=1)
    stream: bool | None = None
    n: Literal[1] | None = None
    response_format: _ResponseFormat | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=20)


class _Moderation(BaseModel):
    model: str = "scripted"
    input: str | list[str]


def chat_request(body: object) -> ChatRequest:
    """The request the client's adapter was given. Raises BadRequest."""
    read = _read(_Chat, body)
    if read.stream:
        raise BadRequest("stream: this server does not stream; leave it out")
    asked = read.response_format
    if asked and asked.type is Form.SCHEMA and asked.json_schema is None:
        raise BadRequest("response_format.json_schema: is missing")
    schema = asked.json_schema.content if asked and asked.json_schema else None
    return ChatRequest(
        model=read.model,
        messages=tuple(Message(message.role, message.content) for message in read.messages),
        form=asked.type if asked else Form.TEXT,
        schema=schema,
        temperature=read.temperature,
        frequency_penalty=read.frequency_penalty,
        max_tokens=read.max_completion_tokens or read.max_tokens,
        seed=read.seed,
        top_logprobs=(read.top_logprobs or 0) if read.logprobs else None,
    )


def completion(reply: ChatReply, *, digest: str) -> Json:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal or None}
    if reply.refusal:
        message["content"] = None
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    finish = reply.finish if reply.finish in (Finish.LENGTH, Finish.FILTER) else Finish.STOP
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": finish.value,
        "logprobs": {"content": list(reply.logprobs)} if reply.logprobs else None,
    }
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": reply.served_model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": reply.usage.input,
            "completion_tokens": reply.usage.output,
            "total_tokens": reply.usage.total,
            "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
            "completion_tokens_details": {"reasoning_tokens": reply.usage.reasoning},
        },
    }


def moderation_request(body: object) -> ModerationRequest:
    """Raises BadRequest."""
    read = _read(_Moderation, body)
    return ModerationRequest(read.model, (read.input,) if isinstance(read.input, str) else tuple(read.input))


def moderation(reply: ModerationReply, *, digest: str) -> Json:
    results = [
        {
            "flagged": flagged,
            "categories": {category: score >= 0.5 for category, score in scores.items()},
            "category_scores": dict(scores),
        }
        for flagged, scores in zip(reply.flagged, reply.scores, strict=True)
    ]
    return {"id": f"modr-{digest[:24]}", "model": reply.served_model, "results": results}


def models() -> Json:
    """The catalogue's rows of models that are rules."""
    rows = [name for name, row in CATALOG.items() if row.not_an_llm]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "rules"} for name in rows],
    }


def error(message: str, kind: str, code: str | None = None) -> Json:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _read(shape: type[Body], body: object) -> Body:
    try:
        return shape.model_validate(body, strict=False)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadRequest(f"{where or 'body'}: {first['msg']}") from None
