"""What a model must answer when it invents a profile. The catalogue alone says which fields there are: the
schema, the plain form and what the prompt tells all come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.normalise import said_in, squeeze, vocabulary_form

LONGEST_LINE = 500
"""Characters; a line of more is no field of a profile."""
SHOWN = 4
"""Examples in a prompt."""


_MADE: dict[tuple[int, ...], tuple[list[Attribute], type[BaseModel]]] = {}


def answer_model() -> type[BaseModel]:
    """A model with one required field for each attribute, called `Profile` in its schema. Made once for a
    catalogue."""
    attributes = list(CATALOGUE.values())
    key = tuple(map(id, attributes))  # kept beside the model, so that no other object has the same id
    if key not in _MADE:
        _MADE[key] = (attributes, _make(attributes))
    return _MADE[key][1]


def _make(attributes: list[Attribute]) -> type[BaseModel]:
    fields: dict[str, Any] = {one.key: (_type(one), ...) for one in attributes}
    return create_model("Profile", __config__=ConfigDict(extra="ignore", str_strip_whitespace=True), **fields)


def _type(attribute: Attribute) -> Any:
    if attribute.kind is Kind.AGE:
        return Annotated[int, Field(description=attribute.label)]
    if attribute.kind is Kind.CHOICE:
        chosen: dict[str, Any] = {"enum": list(attribute.values)}
        return Annotated[str, BeforeValidator(partial(_chosen, attribute)), Field(json_schema_extra=chosen)]
    return Annotated[str, BeforeValidator(_text), Field(description=attribute.label)]


def _chosen(attribute: Attribute, value: object) -> str:
    known = vocabulary_form(attribute, str(value))
    if known is None:
        raise ValueError(f"{attribute.key}: one of {', '.join(attribute.values)}")
    return known


def _text(value: object) -> object:
    return squeeze(str(value)) if isinstance(value, str | int | float) else value


def read_profile(text: str) -> BaseModel:
    """The plain form: lines of key (or label) and value. Raises ValueError naming what is missing."""
    names = _names()
    found: dict[str, str] = {}
    for line in text.split("\n"):
        name, _, value = line.partition(":") if len(line) <= LONGEST_LINE else ("", "", "")
        key = names.get(squeeze(name.strip(" \t>*_#-")).casefold())
        value = value.strip().strip("*_").strip()
        if key and value and key not in found:
            found[key] = value
    if missing := [key for key in CATALOGUE if key not in found]:
        raise ValueError(f"no line for: {', '.join(missing)}")
    return answer_model().model_validate(found)


def _names() -> dict[str, str]:
    """What a line may begin with -> the key: labels of every language, and the keys themselves."""
    names: dict[str, str] = {}
    for one in CATALOGUE.values():
        for words in one.languages.values():
            names.setdefault(words.label.casefold(), one.key)
    names |= {one.label.casefold(): one.key for one in CATALOGUE.values()}
    return (
        names | {key.casefold(): key for key in CATALOGUE} | {key.replace("_", " "): key for key in CATALOGUE}
    )


Say = Callable[..., str]
"""(key of a part, values) -> the words, as `Prompt.part`."""


def described(parts: Mapping[str, str], say: Say, language: str = "en") -> str:
    """One line a field: its key and what belongs there."""
    lines = []
    for one in CATALOGUE.values():
        words = one.in_language(language)
        part = _part(one, parts, "field", "kind")
        values = ", ".join(words.of(value) for value in one.values)
        said = say(part, **({"values": values} if "$values" in parts[part] else {}))
        lines.append(f"{one.key}: {words.label} ({said})")
    return "\n".join(lines)


def wished(wishes: Mapping[str, Any], parts: Mapping[str, str], say: Say, language: str = "en") -> str:
    """One line a wish, in the catalogue's order."""
    lines = []
    for one in CATALOGUE.values():
        if wishes.get(one.key) not in (None, ""):
            part = _part(one, parts, "wish", "wish", otherwise="wish")
            lines.append(f"{one.key}: {say(part, value=said_in(one, str(wishes[one.key]), language))}")
    return "\n".join(lines)


def _part(
    attribute: Attribute, parts: Mapping[str, str], own: str, kind: str, otherwise: str = "kind_text"
) -> str:
    named = (f"{own}_{attribute.key}", f"{kind}_{attribute.kind}")
    return next((name for name in named if name in parts), otherwise)


def shown(facts: Mapping[str, Any], language: str = "en") -> str:
    """A finished profile as an example: the plain form, of the fields that it has."""
    lines = [
        f"{one.key}: {said_in(one, squeeze(str(facts[one.key])), language)}"
        for one in CATALOGUE.values()
        if facts.get(one.key) not in (None, "")
    ]
    return "\n".join(lines)


def plain_form() -> str:
    """The lines of the plain form, empty."""
    return "\n".join(f"{one.key}: <{one.label.lower()}>" for one in CATALOGUE.values())


def one_line(facts: Mapping[str, Any]) -> str:
    """What a profile is about, for the list of those to stay away from."""
    said = [squeeze(str(facts.get(key) or "")) for key in ("occupation", "city_country")]
    return " in ".join(part for part in said if part)
