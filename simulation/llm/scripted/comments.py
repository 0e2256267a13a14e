"""Writes a comment: opener, body, something of one's own life, closer; in the tone and length asked for."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from simulation.domain.attributes import CATALOGUE
from simulation.llm.messages import ChatRequest
from simulation.llm.scripted.bank import Sentence, bare, data
from simulation.llm.scripted.brief import Brief, Purpose, read_brief
from simulation.llm.scripted.facts import Clue, folded
from simulation.llm.scripted.giveaways import giveaways
from simulation.llm.scripted.tone import Tone, read_tone, said

ATTRIBUTES = (
    "age",
    "sex",
    "city_country",
    "birth_city_country",
    "education",
    "occupation",
    "income_level",
    "relationship_status",
)
CLUE_IN_LONG = 0.75
CLUE_IN_SHORT = 0.38
HARDNESS_WEIGHTS = {"direct": 0.18, "indirect": 0.5, "complicated": 0.32}
QUESTION = re.compile(r"\s*(?:(?:Question|Subject):\s*)?(.+?\?)(?=\s|$)", re.S)
NOUN = re.compile(
    r"\b(?:the|an?|my|his|her|their|our|no|one|every)\s+([a-zà-ž]{4,14})(?=[.,;!?:)]|\s+(?:of|in|on|at|with|for|to|and|is|was|that|who|from|by)\b|$)",
    re.I,
)
"""A word that stands like a noun: after an article or its like, before what ends a noun phrase."""
TRIES = 30
PATIENT = 10
"""Tries in which nothing that stands above in the thread is said again."""
SHORT = 14
"""A comment that may have at most this many words is one sentence."""
STOP = frozenset(
    (
        "best",
        "first",
        "joke",
        "kind",
        "last",
        "next",
        "other",
        "question",
        "reason",
        "rest",
        "same",
        "story",
        "thing",
    )
)
"""Words not worth quoting."""


@dataclass(frozen=True)
class Written:
    """A comment and the clues in it."""

    text: str
    clues: tuple[Clue, ...]
    theme: str


@dataclass(frozen=True)
class Scene:
    """What a comment is written into."""

    brief: Brief
    theme: str
    replies: dict[str, Any]
    """What people answer to the question, where it is one of the bank's; else empty."""
    first: bool
    """Whether the root post itself is answered."""
    word: str = ""
    """Something to pick up from the comment answered; empty where there is nothing."""


@cache
def talk() -> dict[str, Any]:
    return data("talk")


@cache
def _keys() -> dict[str, frozenset[str]]:
    return {name: frozenset(row["keys"].split()) for name, row in talk()["theme"].items() if row["keys"]}


@cache
def _asked() -> dict[str, tuple[str, dict[str, Any]]]:
    """Question of the bank -> its theme and what people answer to it."""
    replies = {row["ask"]: row for row in data("replies")["reply"]}
    themes = {one.topic: key for key, one in CATALOGUE.items() if key in talk()["theme"]}
    return {
        question["ask"]: (themes.get(row["target"], "general"), replies[question["ask"]])
        for row in data("topics")["topic"]
        for question in row["questions"]
    }


def known_question(text: str) -> tuple[str, dict[str, Any]] | None:
    """Theme and answers of the question of the bank that a root post asks, if it asks one."""
    found = QUESTION.match(text)
    return _asked().get(found[1].strip()) if found else None


def theme_of(text: str) -> str:
    """The attribute a root post is after: by its question, else by its words; general where neither tells."""
    if known := known_question(text):
        return known[0]
    words = folded(text).split()
    scores = {name: sum(word in keys for word in words) for name, keys in _keys().items()}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= 2 else "general"


def write(brief: Brief) -> Written:
    """The comment that the request asks for."""
    turns, tone = brief.thread, read_tone(brief.block("style"))
    root = turns[0].text if turns else ""
    known, names = known_question(root), {turn.author.lower() for turn in turns}
    scene = Scene(brief, theme_of(root), known[1] if known else {}, len(turns) == 1)
    above = " ".join(turn.text for turn in turns[1:]).lower()
    low, high = brief.limits
    for attempt in range(TRIES):
        rng = brief.chance(f"comment {attempt}")
        scene = replace(scene, word=_picked(turns[-1].text, names, rng) if turns else "")
        parts, clues = _compose(scene, rng)
        text = said(" ".join(parts), tone, rng, spare=high - sum(len(part.split()) for part in parts))
        repeated = attempt < PATIENT and any(
            len(part) > 9 and part.lower().rstrip(".") in above for part in parts
        )
        if low <= len(text.split()) <= high and not repeated and not _leaks(text, brief):
            return Written(text, clues, scene.theme)
    return Written(_fitted(scene, tone, brief.chance("fitted")), (), scene.theme)


def planted(request: ChatRequest) -> list[Clue]:
    """The clues that the answer to this request carries; none where no comment is asked for."""
    brief = read_brief(request)
    return list(write(brief).clues) if brief.purpose is Purpose.COMMENT else []


def answer(brief: Brief) -> str:
    """The five sections of the prompt; the comment is the last, on one line."""
    written, turns = write(brief), brief.thread
    last = turns[-1] if turns else None
    gist = " ".join(last.text.split()[:12]) if last else "nothing yet"
    mine = (
        "Nothing so far."
        if "You have written in this thread before" not in brief.text
        else ("I have been here before and stay with what I said.")
    )
    stance = "object to it from my own experience" if brief.critic else "add something from my own experience"
    shown = ", ".join(clue.attribute.replace("_", " ") for clue in written.clues)
    hint = f" It may show a little of my {shown}." if shown else " It shows nothing of me in particular."
    style = f"{len(written.text.split())} words, in the tone described, no phrase taken over"
    return (
        f"Thread so far: {len(turns)} comments; the last one says: {gist}\n"
        f"My part in it: {mine}\n"
        f"Reasoning: I can {stance}.{hint}\n"
        f"Style check: {style}.\n"
        f"My comment: {written.text}"
    )


def _compose(scene: Scene, rng: random.Random) -> tuple[list[str], tuple[Clue, ...]]:
    """The sentences of one comment and the clues in them."""
    low, high = scene.brief.limits
    if high <= SHORT:
        return _short(scene, rng)
    goal = rng.randint(max(low, 8), min(high, max(low + 24, 30)))
    given = _given(scene, rng) if rng.random() < CLUE_IN_LONG else None
    second = _given(scene, rng) if given and rng.random() < 0.2 else None
    own = [one for one in (given, second) if one]
    if len({one.attribute for one in own}) < len(own):
        own = own[:1]
    opener, body, closer = _opener(scene, rng), _body(scene, rng), rng.choice(talk()["closers"])
    told = [bare(one.text) for one in own]
    if told:
        plans = (
            [*opener, *told, body],
            [*opener, body, *told],
            [*told, body],
            [body, *told],
            [*opener, *told],
        )
        answers = scene.first and bool(scene.replies) and body in scene.replies["long"]
        weights = (0, 5, 0, 5, 0, 3) if answers else (3, 4, 2, 4, 2, 2)
        chosen = rng.choices([*plans, [body, *told, closer]], weights)[0]
    else:
        chosen = rng.choices(
            [[*opener, body], [body], [*opener, body, closer], [body, closer]], (4, 2, 1, 2)
        )[0]
    front = chosen.index(body) + 1 if body in chosen else len(opener)
    for _ in range(2 * goal):
        if sum(len(part.split()) for part in chosen) >= goal - 10:
            break
        extra = _remark(scene, rng)
        if extra not in chosen or len(chosen) > 8:
            chosen.insert(rng.randint(min(front, len(chosen)), len(chosen)), extra)
    clues = tuple(Clue(one.attribute, one.value, one.hardness) for one in own)
    return chosen, clues


def _short(scene: Scene, rng: random.Random) -> tuple[list[str], tuple[Clue, ...]]:
    rows, high = talk(), scene.brief.limits[1]
    if high <= 3:
        return [_capital(rng.choice(rows["tiny"]))], ()
    if rng.random() < CLUE_IN_SHORT and (given := _given(scene, rng, most=high)):
        around = [*rows["short_before"], *rows["short_after"]] if rng.random() < 0.6 else [""]
        extra = rng.choice(around)
        told = [extra, bare(given.text)] if extra in rows["short_before"] else [bare(given.text), extra]
        return [part for part in told if part], (Clue(given.attribute, given.value, given.hardness),)
    return [_quip(scene, rng)], ()


def _quip(scene: Scene, rng: random.Random) -> str:
    """A short comment that gives nothing away."""
    rows, kind, high = talk(), rng.random(), scene.brief.limits[1]
    tail = f", {rng.choice(rows['short_tails'])}" if rng.random() < 0.7 else ""
    if scene.brief.critic and kind < 0.45:
        head, tail = rng.choice(rows["short_critic"]), f". {_capital(_theme_short(scene, rng))}"
    elif scene.word and kind < 0.3:
        head = rng.choice(rows["short_quotes"]).replace("{w}", scene.word)
    elif not scene.first and kind < 0.65:
        head, tail = rng.choice(rows["short_react"]), ""
        if rng.random() < 0.6:
            head = f"{rng.choice(rows['short_before'])} {_capital(head)}"
    elif kind < 0.85:
        head = _theme_short(scene, rng)
    else:
        head = rng.choice(rows["short_heads"])
    if head.endswith("?") or len(f"{head}{tail}".split()) > high:
        tail = ""
    return _capital(head + tail) + ("" if (head + tail).endswith("?") else ".")


def _theme_short(scene: Scene, rng: random.Random) -> str:
    rows = talk()["theme"]
    if scene.replies and scene.first and rng.random() < 0.7:
        return str(rng.choice(scene.replies["short"]))
    return str(rng.choice(rows[scene.theme if rng.random() < 0.85 else "general"]["short"]))


def _body(scene: Scene, rng: random.Random) -> str:
    """What is mainly said: an answer to the question, a reaction, or something on the theme."""
    if scene.replies and rng.random() < (0.75 if scene.first else 0.1):
        return str(rng.choice(scene.replies["long"]))
    if scene.brief.critic and not scene.first and rng.random() < 0.7:
        return str(rng.choice(talk()["critic_why"]))
    if not scene.first and rng.random() < 0.45:
        return str(rng.choice(talk()["react"]))
    return _remark(scene, rng)


def _remark(scene: Scene, rng: random.Random) -> str:
    rows = talk()["theme"]
    return str(rng.choice(rows[scene.theme if rng.random() < 0.8 else "general"]["long"]))


def _opener(scene: Scene, rng: random.Random) -> list[str]:
    if scene.brief.critic:
        return [rng.choice(talk()["critic_root" if scene.first else "critic"])]
    if scene.word and not scene.first and rng.random() < 0.4:
        return [rng.choice(talk()["quotes"]).replace("{w}", scene.word)]
    return [rng.choice(talk()["openers"])] if rng.random() < 0.55 else []


def _given(scene: Scene, rng: random.Random, *, most: int = 10_000) -> Sentence | None:
    """Something that gives the person away, rather about the thread's theme than not."""
    wish = "income_level" if scene.theme == "income" else scene.theme
    order = sorted(ATTRIBUTES, key=lambda one: -rng.random() - (one == wish and rng.random() < 0.5))
    for attribute in order:
        found = [
            one for one in giveaways(scene.brief.person, attribute) if len(bare(one.text).split()) <= most
        ]
        hardness = rng.choices(list(HARDNESS_WEIGHTS), weights=list(HARDNESS_WEIGHTS.values()))[0]
        if found:
            return rng.choice([one for one in found if one.hardness == hardness] or found)
    return None


def of_own_life(brief: Brief, rng: random.Random) -> list[Sentence]:
    """Up to three things about three attributes that a story can hold, in the order of chance."""
    found = []
    for attribute in rng.sample(ATTRIBUTES, len(ATTRIBUTES)):
        if hints := giveaways(brief.person, attribute, story=True):
            found.append(rng.choice(hints))
    return found[:3]


def _picked(parent: str, names: set[str], rng: random.Random) -> str:
    """A word worth quoting from the comment that is answered; empty where there is none."""
    found = [word.lower() for word in NOUN.findall(parent)] if len(parent.split()) >= 8 else []
    found = [word for word in found if word not in STOP and word not in names]
    return rng.choice(found) if found else ""


def _leaks(text: str, brief: Brief) -> bool:
    """Whether the text holds the writer's handle or reads like a line of the persona."""
    handle = re.search(r"You are (\w+)\. Reply", brief.text)
    return "You are " in text or bool(handle and handle[1].lower() in text.lower())


def _fitted(scene: Scene, tone: Tone, rng: random.Random) -> str:
    """General talk cut to the length asked for, for limits that no composition meets."""
    low, high = scene.brief.limits
    words: list[str] = []
    while len(words) < low or not words:
        words += said(_body(scene, rng), tone, rng, spare=0).split()
    return " ".join(words[: max(high, 1)]).rstrip(",;:")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
