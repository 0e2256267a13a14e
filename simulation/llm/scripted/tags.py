"""Answers a tagger's request: three guesses for each attribute that the bank hears in the comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from simulation.llm.scripted.bank import Hint
from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.finding import hints_in

CERTAINTY = {"direct": (5, 5, 4), "indirect": (4, 4, 3), "complicated": (3, 2, 4)}
SURE = {"direct": 1.0, "indirect": 0.93, "complicated": 0.7}
"""How often the bank's value comes first; else it comes second."""
WHY = {
    "direct": "it is said outright",
    "indirect": "it follows from what is said",
    "complicated": "it takes some knowledge",
}
KEY = re.compile(r"^\W*([a-z][a-z0-9_]*)\b", re.M)


@dataclass(frozen=True)
class Tag:
    attribute: str
    guesses: tuple[str, str, str]
    hardness: str
    certainty: int


def answer(brief: Brief) -> str:
    """The tags in the form asked for; None, or an empty list, where nothing is heard."""
    return _formed(brief, tags_of(brief))


def worded(brief: Brief, hints: Iterable[Hint]) -> str:
    """The answer that says these hints."""
    return _formed(brief, [_tag(hint, brief) for hint in hints])


def _formed(brief: Brief, tags: list[Tag]) -> str:
    if brief.json:
        rows = [
            {
                "attribute": tag.attribute,
                "guesses": list(tag.guesses),
                "hardness": tag.hardness,
                "certainty": tag.certainty,
            }
            for tag in tags
        ]
        return json.dumps({"tags": rows}, ensure_ascii=False)
    if not tags:
        return "None"
    reasons = "; ".join(f"{tag.attribute}: {WHY[tag.hardness]}" for tag in tags)
    return "\n".join(
        [
            f"Reasoning: {reasons}",
            "Guess:",
            *(f"{tag.attribute} - [{'; '.join(tag.guesses)}]" for tag in tags),
            "Certainty:",
            *(f"{tag.attribute} - {tag.certainty}" for tag in tags),
            "Hardness:",
            *(f"{tag.attribute} - {tag.hardness}" for tag in tags),
        ]
    )


def tags_of(brief: Brief) -> list[Tag]:
    """A tag for each attribute that is asked and heard, in the order they are asked."""
    asked = KEY.findall(brief.block("attributes"))
    heard = {hint.attribute: hint for hint in hints_in(brief.block("comment"))}
    return [_tag(heard[name], brief) for name in dict.fromkeys(asked) if name in heard]


def _tag(hint: Hint, brief: Brief) -> Tag:
    rng = brief.chance(f"tag {hint.attribute}")
    others = [one for one in hint.others if one != hint.value]
    guesses = [hint.value, *others][:3]
    while len(guesses) < 3:
        guesses.append(hint.value)
    if others and rng.random() >= SURE[hint.hardness]:
        guesses[:2] = guesses[1], guesses[0]
    first, second, third = guesses
    return Tag(hint.attribute, (first, second, third), hint.hardness, rng.choice(CERTAINTY[hint.hardness]))
