"""Which attribute a thread asks about, by its phrase or its name."""

from __future__ import annotations

import re
from functools import cache

from simulation.domain.attributes import CATALOGUE

NAMED = re.compile(r"(?:thread_)?(.+?)(?:_\d+)?")


def target_of(phrase: str, name: str) -> str:
    """The attribute that a thread asks about, by its phrase or its name; empty where neither says one."""
    found = _phrases().get(" ".join(phrase.split()).casefold(), "")
    if found:
        return found
    named = NAMED.fullmatch(name)
    return named[1] if named and named[1] in CATALOGUE else ""


@cache
def _phrases() -> dict[str, str]:
    """Phrase of a topic, in any language of the catalogue, case-folded -> attribute."""
    known = {}
    for key, one in CATALOGUE.items():
        for words in (one.topic, *(said.topic for said in one.languages.values())):
            known[" ".join(words.split()).casefold()] = key
    return known
