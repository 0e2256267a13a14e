"""Names three communities for a thread, after the theme of its post."""

from __future__ import annotations

import json
import random
import re

from simulation.llm.scripted.bank import data
from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.comments import theme_of
from simulation.llm.scripted.tongues import tongues

WANTED = 3
NOT_THAT = re.compile(r"\b(?:not|nicht)\b", re.I)
FIRST = 0.85
"""How often a post that may stand in r/AskReddit is put there."""


def answer(brief: Brief) -> str:
    """Three names in the form asked for."""
    names = [f"/r/{name}" for name in communities(brief)]
    return json.dumps({"communities": names}) if brief.json else ", ".join(names)


def communities(brief: Brief) -> list[str]:
    """Two or three of the theme, one that takes anything; r/AskReddit where the prompt lets it be named."""
    rows, rng = data("communities"), brief.chance("communities")
    of_theme: list[str] = rows["theme"].get(_theme(brief), rows["theme"]["general"])
    names = _weighted(of_theme, rng, WANTED)
    names[rng.randrange(1, WANTED)] = rng.choice(rows["anywhere"])
    if not NOT_THAT.search(brief.block("naming")) and rng.random() < FIRST:
        names = [rows["askreddit"], *names[: WANTED - 1]]
    return names


def _weighted(names: list[str], rng: random.Random, count: int) -> list[str]:
    """`count` different ones, each place of the list half as likely again as the next."""
    left, found = list(names), []
    for _ in range(count):
        weights = [1.5**-place for place in range(len(left))]
        found.append(left.pop(rng.choices(range(len(left)), weights)[0]))
    return found


def _theme(brief: Brief) -> str:
    """What the post is after, as the prompt's language tells it."""
    post = brief.block("post")
    tongue = next((one for one in tongues() if one.language == brief.language), None)
    if tongue is None:
        return theme_of(post)
    asked = tongue.bank["topics"]["by"]
    return next((key for key, rows in asked.items() if any(row["ask"] in post for row in rows)), "general")
