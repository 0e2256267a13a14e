"""Takes keys out of text that people may read: logs, error details, pages."""

from __future__ import annotations

import re

MASK = "***"
SHORTEST_KEY = 4
"""Shorter ones would take ordinary letters out of a text."""

LABELLED = re.compile(
    r"(?i)\b(bearer|basic|api[-_ ]?key|token|secret|password)(\s*[=:]\s*|\s+)[\"']?([\w.~+/=*-]{6,})[\"']?"
)
"""A word that announces a key, and what follows it; a plain word after it is left alone."""
RUN = re.compile(r"[\w*-]{8,}")
PREFIX = re.compile(r"(?:sk|pk|rk|gsk|hf|xai|tgp|pplx|nvapi|ghp|key|AIza)[-_]?")
NO_WORD = re.compile(r"[\d*]")
PIECE = 24
"""Letters and digits mixed, so many of them in one piece: no word of any language."""


def mask(text: str, *keys: str) -> str:
    """`text` with each of `keys` and all that looks like a key replaced by ***."""
    for key in keys:
        if len(key) >= SHORTEST_KEY:
            text = text.replace(key, MASK)
    return RUN.sub(_run, LABELLED.sub(_labelled, text))


def _labelled(found: re.Match[str]) -> str:
    label, between, value = found.groups()
    return f"{label}{between}{MASK}" if re.search(r"[\d_~+/*]", value) else found[0]


def _run(found: re.Match[str]) -> str:
    run = found[0]
    prefixed = PREFIX.match(run) is not None and NO_WORD.search(run) is not None
    return MASK if prefixed or any(_is_token(piece) for piece in run.split("-")) else run


def _is_token(piece: str) -> bool:
    return len(piece) >= PIECE and any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
