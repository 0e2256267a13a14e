"""The description of the API as a page reads it: operations by noun, fields as rows, examples as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEEPEST = 3
"""Fields within fields are shown down to here."""
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body; parts of its name are joined by dots, `[]` is a list."""

    name: str
    type: str
    words: str
    required: bool


@dataclass(frozen=True)
class Operation:
    """What one method of one address does."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    scope: str
    rights: Sequence[str]
    parameters: Sequence[Field]
    headers: Sequence[Field]
    body: Sequence[Field]
    body_example: str
    status: str
    answer: Sequence[Field]
    answer_example: str
    refusals: Sequence[str]


@dataclass(frozen=True)
class Noun:
    name: str
    operations: Sequence[Operation]


def nouns(description: Schema) -> list[Noun]:
    """Every operation, under its noun, in the order in which addresses were gathered."""
    found: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            found.setdefault(operation["tags"][0], []).append(
                _operation(description, path, method, operation)
            )
    return [Noun(name, operations) for name, operations in found.items()]


def _operation(description: Schema, path: str, method: str, operation: Schema) -> Operation:
    responses = operation["responses"]
    status = min(responses)
    body, body_example = _content(description, operation.get("requestBody", {}))
    answer, answer_example = _content(description, responses[status])
    parameters = operation.get("parameters", [])
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=_words(operation).rpartition("\n\n")[0],
        scope=operation["x-scope"] or "",
        rights=operation["x-rights"],
        parameters=[_parameter(one) for one in parameters if one["in"] in ("query", "path")],
        headers=[_parameter(one) for one in parameters if one["in"] == "header"],
        body=body,
        body_example=body_example,
        status=status,
        answer=answer,
        answer_example=answer_example,
        refusals=[one for one in sorted(responses) if one >= "400"],
    )


def _parameter(said: Schema) -> Field:
    return Field(said["name"], _type(said["schema"]), _words(said), bool(said.get("required")))


def _words(said: Schema) -> str:
    return str(said.get("description", "")).replace("`", "")


def _content(description: Schema, holder: Schema) -> tuple[list[Field], str]:
    """Fields and example of what a body or an answer holds, in its first form."""
    for said in holder.get("content", {}).values():
        examples = said.get("examples", {})
        example = next((one["value"] for one in examples.values()), None)
        text = "" if example is None else json.dumps(example, indent=2, ensure_ascii=False)
        return list(_fields(description, said.get("schema", {}))), text
    return [], ""


def _fields(description: Schema, schema: Schema, path: str = "", depth: int = 0) -> Iterator[Field]:
    schema = _resolved(description, schema)
    if schema.get("type") == "array":
        yield from _fields(description, schema.get("items", {}), f"{path}[]", depth)
        return
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        own = f"{path}.{name}" if path else name
        full = _resolved(description, inner)
        yield Field(own, _type(full), _words(full), name in required)
        if depth < DEEPEST:
            yield from _fields(description, full, own, depth + 1)


def _resolved(description: Schema, schema: Schema) -> Schema:
    """The schema behind a reference, alone or beside null; its own words win."""
    for one in (schema, *schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        if "$ref" in one:
            target: Schema = description["components"]["schemas"][one["$ref"].rpartition("/")[2]]
            null = any(other.get("type") == "null" for other in schema.get("oneOf", ()))
            words = {key: schema[key] for key in ("description",) if key in schema}
            return {**target, **words, **({"type": [target.get("type", "object"), "null"]} if null else {})}
    return schema


def _type(schema: Schema) -> str:
    """In words: integer, text, list of text, one of a | b."""
    if "enum" in schema:
        return " | ".join("null" if one is None else str(one) for one in schema["enum"])
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " or ".join(_type({**schema, "type": kind}) for kind in kinds)
    if kinds == "array":
        items = schema.get("items", {})
        return f"list of {'objects' if '$ref' in items else _type(items)}"
    if kinds == "string":
        return {"date-time": "moment", "binary": "file"}.get(schema.get("format", ""), "text")
    return str(kinds)
