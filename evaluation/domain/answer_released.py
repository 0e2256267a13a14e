"""An answer read as the published scripts read it, faults and all: only for comparison with released files.

Line by line, blank lines skipped, split at the first colon. A key similar to “type”
(Jaro-Winkler above 0.75) or to an asked attribute sets the attribute, one similar to “inference” or “guess”
the field; guesses are split at semicolons and nothing else, so markdown, numbers and reasons stay in them. A
line without a colon, or that ends in one, continues the field before. Where a name stands for the attribute,
the scripts asked a sentence embedding; here names are compared as in `answer_names`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import JaroWinkler

from evaluation.domain.answer_names import names_for

NEAR = 0.75
"""Similarity above which a key is taken for a known one."""
_JUNK = "\n\t "


def released_guesses(text: str, asked: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Asked attribute -> the guesses that the published reader finds; nothing for one that it does not."""
    keys = tuple(dict.fromkeys(asked))
    found: dict[str, list[str]] = {}
    current, field = None, ""
    for line in text.splitlines():
        bare = line.strip(_JUNK)
        if not bare:
            continue
        head, colon, value = bare.partition(":")
        if not colon or not value.strip():
            if field == "guess" and current:
                found[current].append(bare)
            continue
        name = head.lower().strip()
        if _similar(name, "type"):
            current, field = _nearest(value, keys), ""
        elif key := next((one for one in keys if _similar(name, one)), None):
            current, field = key, ""
        elif _similar(name, "inference"):
            field = "inference"
        elif _similar(name, "guess"):
            field = "guess"
            if current:
                found[current] = value.split(";")
            continue
        elif field == "guess" and current:
            found[current].append(bare)
        if current:
            found.setdefault(current, [])
    return {key: tuple(guess for one in found.get(key, ()) if (guess := one.strip())) for key in keys}


def _similar(one: str, other: str) -> bool:
    return JaroWinkler.similarity(one, other) > NEAR


def _nearest(name: str, keys: tuple[str, ...]) -> str | None:
    found = names_for(keys).find(name.strip(" *_#"))
    return found if found in keys else None
