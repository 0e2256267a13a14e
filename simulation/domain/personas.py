"""A profile's facts as the sentences of a prompt. The sentences themselves are parts of a prompt file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.normalise import said_in, squeeze

# "studying towards a PhD in Law", "Currently studying ..", "Retired, Law Degree": what is no degree held.
UNDER_WAY = re.compile(r"^(?:currently |still )?(?:studying|enrolled|in (?:high school|college))\b", re.I)
DEGREE = re.compile(
    r"^(?:masters?|master's|bachelors?|bachelor's|b\.?[as]c?\.?|m\.?[as]c?\.?|phd|ph\.d\.?|doctorate|mba|md|diploma|.*\bdegree|.*\bdiploma)\b",
    re.I,
)
Say = Callable[[str, Mapping[str, str]], str]
"""(key of a part, values) -> the sentence."""


def sentences(
    facts: Mapping[str, Any], parts: Mapping[str, str], say: Say, language: str = "en"
) -> list[str]:
    """One sentence a known fact, in the catalogue's order and the words of `language`. Facts without a value
    are left out.

    A fact whose key has no part of its own is said by the part `other`. An attribute for which a prompt has
    the parts `<key>_holds`, `<key>_is` and `<key>_other` is a degree: held, under way, or neither.
    """
    said = []
    for attribute in CATALOGUE.values():
        value = squeeze(str(facts.get(attribute.key) or ""))
        if not value:
            continue
        key, value = _part(attribute.key, said_in(attribute, value, language), parts)
        said.append(say(key, {"value": value, "label": _label(attribute, language)}))
    return said


def _label(attribute: Attribute, language: str) -> str:
    """As it stands within a sentence: English begins its nouns small."""
    return attribute.label.lower() if language == "en" else attribute.in_language(language).label


def _part(key: str, value: str, parts: Mapping[str, str]) -> tuple[str, str]:
    if f"{key}_holds" not in parts:
        return (key if key in parts else "other"), value
    if UNDER_WAY.match(value):
        return f"{key}_is", value[0].lower() + value[1:]
    return f"{key}_holds" if DEGREE.match(value) else f"{key}_other", value
