"""Whether two values are the same once they are written as JSON."""

from __future__ import annotations

from typing import Any


def alike(one: Any, other: Any) -> bool:
    """As `==`, but 30 is not 30.0 and 1 is not true: exports give back the type that came.

    Not by comparing the JSON text: the database does not keep the order of keys, nor a minus before zero.
    """
    if one != other or type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(alike, one, other))
    return True
