"""What comes in is taken as it was declared and no other way: unknown fields and signs that cannot be stored
are refused by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

UNKNOWN = "There is no such field."
NUL = "It holds a NUL character, which cannot be stored."
SURROGATE = "It holds half of a character (a lone surrogate)."
LONGEST_ID = 40
MOST_NAMED = 100
"""Unknown fields that are named: to name a hundred thousand would take longer than to read them."""
DEEPEST = 100
"""Levels of a body; all that is done with one goes as deep."""


class Strict(serializers.Serializer):
    """A body, or the query of an address, in which only declared fields may stand.

    Numbers need `max_value` where a column is behind them, texts `max_length`.
    """

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := sorted(set(map(str, data)) - set(self.fields))):
            raise ValidationError({name: [UNKNOWN] for name in unknown[:MOST_NAMED]})
        return super().to_internal_value(data)


class PublicId(serializers.CharField):
    """The public id of something, as it stands in addresses."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("max_length", LONGEST_ID)
        super().__init__(**options)


def in_query(asked: QueryDict, declared: Strict) -> dict[str, Any]:
    """The query of an address, read by `declared`: each name once, but for fields of several values."""
    listed = {
        name
        for name, field in declared.fields.items()
        if isinstance(field, serializers.ListField | serializers.MultipleChoiceField)
    }
    problems = {
        name: ["Give it once."]
        for name, values in asked.lists()
        if len(values) > 1 and name not in listed and name in declared.fields
    }
    sent = {name: values if name in listed else values[-1] for name, values in asked.lists()}
    problems |= dict(unstorable(sent))
    if problems:
        raise ValidationError(problems)
    declared.initial_data = sent
    declared.is_valid(raise_exception=True)
    return dict(declared.validated_data)


def unstorable(sent: Any) -> Iterator[tuple[str, list[str]]]:
    """(path, [what is wrong]) for each text of a JSON value that the database cannot hold, and for what is
    nested without end."""
    stack: list[tuple[str, Any, int]] = [("", sent, 0)]
    while stack:
        path, value, depth = stack.pop()
        if isinstance(value, str):
            if problem := _problem(value):
                yield path or "body", [problem]
        elif isinstance(value, Mapping | list | tuple):
            if depth > DEEPEST:
                yield path.partition(".")[0], [f"It is nested deeper than {DEEPEST}."]
                continue
            inner = value.items() if isinstance(value, Mapping) else enumerate(value)
            for key, one in inner:
                if problem := _problem(str(key)):
                    yield path or "body", [f"The name of a field: {problem}"]
                stack.append((f"{path}.{key}" if path else str(key), one, depth + 1))


def _problem(text: str) -> str:
    if "\0" in text:
        return NUL
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return SURROGATE
    return ""
