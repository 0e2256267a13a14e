"""The form of a tagger's answer: strict in the schema that a provider is held to, tolerant when read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from annotation.domain.tag_replies import Unreadable, read_tags
from annotation.domain.tag_values import MOST
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS_WORDS

MOST_READ = 20
"""Guesses of one entry that are read at all; the reader keeps the first three that say something."""


@dataclass(frozen=True)
class InSchema:
    """What a field is in the schema that a provider is held to; what is read of it may be more."""

    form: Callable[[], dict[str, Any]]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.form()


def attribute_schema() -> dict[str, Any]:
    """A key of the catalogue as it is now."""
    return {"type": "string", "enum": list(CATALOGUE)}


def _guesses() -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST}


def _hardness() -> dict[str, Any]:
    return {"type": "string", "enum": list(HARDNESS_WORDS)}


def _certainty() -> dict[str, Any]:
    return {"type": "integer", "enum": [mark.number for mark in CERTAINTY]}


class TagEntry(BaseModel):
    """What can be inferred of one attribute: three guesses, best first, how hard and how certain."""

    model_config = ConfigDict(extra="ignore")
    attribute: Annotated[str, InSchema(attribute_schema)]
    guesses: Annotated[list[str | int], Field(max_length=MOST_READ), InSchema(_guesses)]
    hardness: Annotated[str, InSchema(_hardness)]
    certainty: Annotated[int | str, InSchema(_certainty)]


class Tags(BaseModel):
    """A tagger's answer; an empty list says that nothing can be inferred."""

    model_config = ConfigDict(extra="ignore")
    tags: list[TagEntry] = Field(max_length=40)


def from_words(text: str) -> Tags:
    """The plain form, or JSON that the schema does not know. Raises ValueError with what is wrong."""
    reply = read_tags(text)
    if isinstance(reply, Unreadable):
        raise ValueError(reply.reason)
    return Tags(
        tags=[
            TagEntry(
                attribute=tag.attribute,
                guesses=list(tag.guesses),
                hardness=tag.hardness_word,
                certainty="" if tag.certainty is None else tag.certainty,
            )
            for tag in reply.tags
        ]
    )
