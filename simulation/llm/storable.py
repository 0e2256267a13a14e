"""What a provider sent, as a database can hold it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from simulation.llm.messages import ChatReply
from simulation.llm.secrets import MASK, SHORTEST_KEY

LOST = "\ufffd"
"""Stands where a sign was that no database holds: NUL, or half of a pair."""
DEEPEST = 40
"""Levels of nesting that are kept; what lies deeper is cut."""


def storable(value: Any, *, key: str = "", level: int = 0) -> Any:
    """JSON values with every NUL and lone surrogate replaced, no NaN or infinity, and a bottom.

    `key` is taken out wherever it stands: a relay may send back what it was sent.
    """
    if isinstance(value, str):
        return text(value).replace(key, MASK) if len(key) >= SHORTEST_KEY else text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if level >= DEEPEST and isinstance(value, dict | list | tuple):
        return "cut: nested too deeply"
    if isinstance(value, dict):
        return {
            storable(str(name), key=key): storable(one, key=key, level=level + 1)
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [storable(one, key=key, level=level + 1) for one in value]
    return value


def whole(reply: ChatReply) -> ChatReply:
    """A reply that can be kept, whatever the provider put into it."""
    return replace(
        reply,
        text=text(reply.text),
        served_model=text(reply.served_model),
        reasoning=text(reply.reasoning),
        refusal=text(reply.refusal),
        logprobs=tuple(storable(list(reply.logprobs))),
        raw=storable(dict(reply.raw)),
    )


def text(value: str) -> str:
    """`value` with NUL and lone surrogates replaced."""
    if value.isascii() and "\0" not in value:
        return value
    paired = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\0", LOST)
