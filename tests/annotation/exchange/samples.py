"""Small hand-made data in the layouts that can be imported; every name and sentence is invented."""

import json
from typing import Any

EMPTY = {"estimate": "", "hardness": 0, "certainty": 0}
ATTRIBUTES = (
    "city_country",
    "sex",
    "age",
    "occupation",
    "birth_city_country",
    "relationship_status",
    "income_level",
    "education",
)


def profile(username: str = "PaperLantern", **fields: Any) -> dict[str, Any]:
    return {
        "age": 41,
        "sex": "female",
        "city_country": "Tartu, Estonia",
        "birth_city_country": "Narva, Estonia",
        "education": "Masters in Hydrology",
        "occupation": "ferry pilot",
        "income": " 24 thousand euros",
        "income_level": "middle",
        "relationship_status": "married",
        "style": "Writing style: You write short.\n\nExample: wet again.",
        "username": username,
        **fields,
    }


def guess(feature: str = "occupation", **fields: Any) -> dict[str, Any]:
    return {
        "feature": feature,
        "guesses": ["sailor", "ferry pilot", "angler"],
        "hardness": "indirect",
        "certainty": 4,
        "model_eval": [0, 1, 0.5],
        **fields,
    }


def review(**fields: Any) -> dict[str, Any]:
    """A reviewer's block with all eight attributes, those of `fields` instead of empty ones."""
    return {**{key: dict(EMPTY) for key in ATTRIBUTES}, "timestamp": 1712000000.25, "time": 3.75, **fields}


def label(estimate: str, hardness: int, certainty: int) -> dict[str, Any]:
    return {"estimate": estimate, "hardness": hardness, "certainty": certainty}


def row(number: int = 0, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """A row of the flat layout: comment `c0`, `c1` … of thread `thread_age_1`."""
    username = fields.get("username", f"Author{number}")
    return {
        "author": f"pers{number}",
        "username": username,
        "profile": profile(username),
        "text": f"Sentence number {number} about the harbour.",
        "guesses": None,
        "reviews": {"human": review()},
        "id": f"c{number}",
        "parent_id": parent,
        "thread_id": "thread_age_1",
        "children": [],
        **fields,
    }


def node(username: str = "PaperLantern", *replies: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "author": "pers1",
        "username": username,
        "text": f" {username} writes. ",
        "guesses": [],
        "children": list(replies),
        **fields,
    }


def lines(*rows: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in rows)
