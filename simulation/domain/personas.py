"""A profile's facts as the sentences of a prompt. The sentences themselves are parts of a prompt file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.normalise import squeeze

# "studying towards a PhD in Law", "Currently studying ..", "Retired, Law Degree": what is no degree held.
UNDER_WAY = re.compile(r"^(?:currently |still )?(?:studying|enrolled|in (?:high school|college))\b", re.I)
DEGREE = re.compile(
    r"^(?:masters?|master's|bachelors?|bachelor's|b\.?[as]c?\.?|m\.?[as]c?\.?|phd|ph\.d\.?|doctorate|mba|md|diploma|.*\bdegree|.*\bdiploma)\b",
    re.I,
)
Say = Callable[[str, Mapping[str, str]], str]
"""(key of a part, values) -> the sentence."""


def sentences(facts: Mapping[str, Any], parts: Mapping[str, str], say: Say) -> list[str]:
    """One sentence a known fact, in the catalogue's order. Facts without a value are left out.

    A fact whose key has no part of its own is said by the part `other`.
    """
    said = []
    for attribute in CATALOGUE.values():
        value = squeeze(str(facts.get(attribute.key) or ""))
        if not value:
            continue
        key, value = _part(attribute, value)
        key = key if key in parts else "other"
        said.append(say(key, {"value": value, "label": attribute.label.lower()}))
    return said


def _part(attribute: Attribute, value: str) -> tuple[str, str]:
    if attribute.key != "education":
        return attribute.key, value
    if UNDER_WAY.match(value):
        return "education_is", value[0].lower() + value[1:]
    if DEGREE.match(value):
        return "education_holds", value
    return "education_other", value
