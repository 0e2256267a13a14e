"""What is asked of a model and what comes back: one request, one reply, in our own words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Form(StrEnum):
    """How an answer is asked for: the rungs of the ladder, best first."""

    SCHEMA = "json_schema"
    """The provider holds the model to a JSON schema."""
    OBJECT = "json_object"
    """The provider promises JSON; the schema stands in the prompt."""
    TEXT = "text"
    """Words; the form stands in the prompt."""


@dataclass(frozen=True)
class Message:
    role: str
    """system, user or assistant"""
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to one model. Every field changes the answer, so every field is part of `digest`.

    `max_tokens` is the completion cap (tokens); None leaves it to the provider. `schema` is a JSON schema
    with a `title`, sent where `form` is SCHEMA. `top_logprobs` (0-20) asks for the log-probabilities of
    that many alternatives a token; None for none.
    """

    model: str
    messages: tuple[Message, ...]
    form: Form = Form.TEXT
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    frequency_penalty: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    top_logprobs: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; `from_dict` reads them back."""
        fields: dict[str, Any] = dict(self.__dict__)
        fields["messages"] = [dict(message.__dict__) for message in self.messages]
        return fields | {"form": self.form.value, "schema": dict(self.schema) if self.schema else None}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ChatRequest:
        fields = dict(stored)
        fields["messages"] = tuple(Message(**message) for message in fields["messages"])
        fields["form"] = Form(fields["form"])
        return cls(**fields)

    def digest(self, *, base_url: str = "") -> str:
        """SHA-256 (hex) of the address and every field: equal requests have equal digests."""
        text = json.dumps(
            [base_url, self.as_dict()], sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def size(self) -> int:
        """Tokens the request may take at most, estimated: one for two ASCII characters or one other byte, and
        some for the frame.

        Real tokenisers need half of that for prose. Only a text of rare signs alone could need more.
        """
        texts = [message.content for message in self.messages]
        texts += [json.dumps(self.schema)] if self.schema else []
        ascii_signs = sum(sum(map(str.isascii, text)) for text in texts)
        others = sum(len(text.encode("utf-8", "replace")) for text in texts) - ascii_signs
        return ascii_signs // 2 + others + 8 * len(self.messages) + 8


class Finish(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    """Cut at the completion cap."""
    FILTER = "content_filter"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Of `input`, read from the provider's cache."""
    reasoning: int = 0
    """Of `output`, spent on thinking."""

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True)
class ChatReply:
    """`text` is the answer without the model's thinking; empty where there was none. `raw` is all of it."""

    text: str
    finish: Finish
    usage: Usage = field(default_factory=Usage)
    served_model: str = ""
    reasoning: str = ""
    refusal: str = ""
    logprobs: tuple[Mapping[str, Any], ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; `from_dict` reads them back."""
        return asdict(self) | {"finish": self.finish.value, "logprobs": list(self.logprobs)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ChatReply:
        fields = dict(stored)
        fields["finish"] = Finish(fields["finish"])
        fields["usage"] = Usage(**fields["usage"])
        fields["logprobs"] = tuple(fields["logprobs"])
        return cls(**fields)


@dataclass(frozen=True)
class ModerationRequest:
    model: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ModerationReply:
    """One verdict a text, in order: category -> score between 0 and 1, and whether it was flagged."""

    flagged: tuple[bool, ...]
    scores: tuple[Mapping[str, float], ...]
    served_model: str = ""
