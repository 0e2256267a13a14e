"""Opens threads: a question for each target and a story with something of the author's own life in it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from simulation.llm.scripted.bank import bare, data
from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.comments import of_own_life
from simulation.llm.scripted.tone import read_tone, said

LEAST, MOST = 42, 115


@cache
def _topics() -> dict[str, list[dict[str, str]]]:
    return {row["target"]: row["questions"] for row in data("topics")["topic"]}


@cache
def _invites() -> list[str]:
    found: list[str] = data("topics")["invites"]
    return found


def answer(brief: Brief) -> str:
    """Question and story in the form asked for."""
    question, story = topic(brief)
    if brief.json:
        return json.dumps({"question": question, "description": story}, ensure_ascii=False)
    return f"Question: {question}\nQuestion description: {story}"


def topic(brief: Brief) -> tuple[str, str]:
    """A question and its story of about 50 to 110 words."""
    rng = brief.chance("topic")
    chosen: dict[str, Any] = rng.choice(_topics().get(brief.block("target").lower(), _topics()[""]))
    own = of_own_life(brief, rng)
    hints = [bare(one.text) for one in own]
    count = 2 if rng.random() < 0.6 else 1
    parts = [rng.choice(chosen["start"].split("|")), *hints[:count], chosen["end"], rng.choice(_invites())]
    if sum(len(part.split()) for part in parts) < LEAST + 6:
        parts[2:2] = hints[2:]
    words = sum(len(part.split()) for part in parts)
    story = said(
        " ".join(part for part in parts if part), read_tone(brief.block("style")), rng, spare=MOST - words
    )
    return chosen["ask"], story
