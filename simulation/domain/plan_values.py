"""A plan as the fields of the run form: parameters and models as they are spelled there, shipped presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel, published_models

SPANS = {"short_words": "short", "long_words": "long"}
"""Parameter that is a pair of numbers -> the beginning of its two fields, `.._least` and `.._most`."""

ROLE_FIELDS = {
    "model": "model",
    "provider": "provider",
    "temperature": "temperature",
    "penalty": "frequency_penalty",
    "tokens": "max_tokens",
    "seed": "seed",
}
"""End of a field's name -> what it is of a `RoleModel`."""

PUBLISHED_THREADS = {
    "city_country": 22,
    "sex": 20,
    "relationship_status": 14,
    "birth_city_country": 11,
    "occupation": 10,
    "age": 8,
    "education": 7,
    "income_level": 6,
    "income": 5,
}
"""Threads of the published set for each target: 103."""


def parameter_values(parameters: Parameters) -> dict[str, Any]:
    """Field -> value of every parameter."""
    values = parameters.as_dict()
    for name, prefix in SPANS.items():
        values[f"{prefix}_least"], values[f"{prefix}_most"] = values.pop(name)
    return values


def role_values(role: str, model: RoleModel) -> dict[str, Any]:
    """Field -> value of everything that is said of the model of a role; "" where nothing is."""
    said = {f"{role}_{end}": getattr(model, name) for end, name in ROLE_FIELDS.items()}
    return {field: "" if value is None else value for field, value in said.items()}


def published_values() -> dict[str, Any]:
    """Parameters, and the models' parameters by role, of the published runs; which model is left open."""
    values = parameter_values(Parameters())
    for role, model in published_models("any").items():
        values |= role_values(role, model) | {f"{role}_model": ""}
    return values


def thread_values(targets: dict[str, int]) -> dict[str, Any]:
    return {f"threads_{key}": targets.get(key, 0) for key in CATALOGUE}


@dataclass(frozen=True)
class Shipped:
    """A preset that comes with the product."""

    key: str
    name: str
    says: str
    values: dict[str, Any]


SHIPPED = {
    one.key: one
    for one in (
        Shipped(
            "published",
            "as published",
            "The 103 threads of the published set, parameters as they were: tens of thousands of calls.",
            published_values()
            | thread_values(PUBLISHED_THREADS)
            | {"then_tag": True, "then_judge": True, "platform": "reddit"},
        ),
        Shipped(
            "small",
            "a small first run",
            "Two threads of one round, ten profiles asked in each: shows what a large run will be like.",
            published_values()
            | thread_values({"age": 1, "occupation": 1})
            | {"rounds": 1, "actions": 2, "profiles_asked": 10, "then_tag": True, "then_judge": False},
        ),
    )
}
