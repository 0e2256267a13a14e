"""Answers in the languages of `tongues`: general talk, and now and then one plain word about oneself.

The English bank hides its clues in many ways; here a person says a thing outright or not at all, and the
tagger knows the same sentences.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.normalise import said_in
from simulation.llm.scripted.bank import Hint
from simulation.llm.scripted.brief import Brief, Purpose
from simulation.llm.scripted.facts import Person
from simulation.llm.scripted.inferring import blocks
from simulation.llm.scripted.tags import KEY, worded
from simulation.llm.scripted.tongues import FIELDS, Tongue, meant, tongues

TELL = 0.6
"""How often a comment that is long enough says something of its author."""
SHORT = 10
TRIES = 30


@dataclass(frozen=True)
class Tell:
    """A sentence that says one thing of its author."""

    attribute: str
    text: str


def topic(brief: Brief) -> str:
    """Question and story, after the target where the bank has something for it."""
    tongue, rng = _tongue(brief), brief.chance("topic")
    rows = tongue.bank["topics"]
    asked = {one.in_language(tongue.language).topic: key for key, one in CATALOGUE.items()}
    chosen = rng.choice(rows["by"].get(asked.get(brief.block("target"), ""), rows["general"]))
    told = [one.text for one in tells(tongue, brief.person)]
    own = rng.sample(told, min(2, len(told)))
    story = " ".join([chosen["start"], *own, chosen["end"], rng.choice(rows["invites"])])
    if brief.json:
        return json.dumps({"question": chosen["ask"], "description": story}, ensure_ascii=False)
    return f"Question: {chosen['ask']}\nQuestion description: {story}"


def comment(brief: Brief) -> str:
    """The five sections of the prompt; the comment is the last, on one line."""
    talk, turns = _tongue(brief).bank["talk"], brief.thread
    text = write(brief)
    gist = " ".join(turns[-1].text.split()[:12]) if turns else talk["gist"]
    return (
        f"Thread so far: {gist}\n"
        f"My part in it: {talk['gist']}\n"
        f"Reasoning: {talk['objects' if brief.critic else 'stance']}\n"
        f"Style check: {len(text.split())} {talk['style']}\n"
        f"My comment: {text}"
    )


def write(brief: Brief) -> str:
    """A comment within the limits, that no one has written above if it can be helped."""
    low, high = brief.limits
    above = " ".join(turn.text for turn in brief.thread)
    text = ""
    for attempt in range(TRIES):
        rng = brief.chance(f"comment {attempt}")
        parts = _short(brief, rng) if high <= SHORT else _long(brief, rng)
        text = " ".join(parts)
        if low <= len(text.split()) <= high and not any(part in above for part in parts):
            return text
    words = text.split()
    while len(words) < low:
        words += brief.chance(f"more {len(words)}").choice(_tongue(brief).bank["talk"]["bodies"]).split()
    return " ".join(words[:high])


def _short(brief: Brief, rng: random.Random) -> list[str]:
    talk = _tongue(brief).bank["talk"]
    return [rng.choice(talk["tiny" if brief.limits[1] <= 3 else "short"])]


def _long(brief: Brief, rng: random.Random) -> list[str]:
    tongue = _tongue(brief)
    talk, told = tongue.bank["talk"], tells(tongue, brief.person)
    parts = [rng.choice(talk["critic" if brief.critic else "openers"])] if rng.random() < 0.6 else []
    body, own = rng.choice(talk["bodies"]), [rng.choice(told).text] if told and rng.random() < TELL else []
    parts += [*own, body] if rng.random() < 0.5 else [body, *own]
    return [*parts, rng.choice(talk["closers"])] if rng.random() < 0.3 else parts


def tells(tongue: Tongue, person: Person) -> list[Tell]:
    """Everything that the bank lets this person say outright."""
    facts: dict[str, str] = {key: getattr(person, field) for key, field in FIELDS.items() if key != "income"}
    facts |= {"age": str(person.age or "")} | dict(person.others)
    return [
        Tell(key, frame.format(value=_said(tongue, key, value), label=_label(tongue, key)))
        for key, value in facts.items()
        for frame in _frames(tongue, key)
        if value
    ]


def _said(tongue: Tongue, key: str, value: str) -> str:
    """A value within a sentence; of a place the city alone."""
    word: str | None = tongue.bank["words"].get(key, {}).get(value)
    attribute = CATALOGUE.get(key)
    if word is not None or attribute is None:
        return word or value
    return value.split(",")[0] if attribute.kind is Kind.PLACE else said_in(attribute, value, tongue.language)


def _label(tongue: Tongue, key: str) -> str:
    return CATALOGUE[key].in_language(tongue.language).label if key in CATALOGUE else key


def _frames(tongue: Tongue, key: str) -> list[str]:
    rows: Mapping[str, list[str]] = tongue.bank["tells"]
    return rows.get(key, rows["other"])


def style(brief: Brief) -> str:
    """A writing style in the second person, by chance."""
    bank, rng = _tongue(brief).bank, brief.chance("style")
    description = " ".join(rng.choice(bank["styles"][key]) for key in ("first", "second", "third"))
    example = f"{rng.choice(bank['talk']['openers'])} {rng.choice(bank['talk']['bodies'])}"
    if brief.json:
        return json.dumps({"writing_style": description, "example": example}, ensure_ascii=False)
    return f"Writing style: {description}\nExample: {example}"


def tags(brief: Brief) -> str:
    """The tags of what is said outright, guessed in the words of the prompt's language."""
    tongue, text = _tongue(brief), brief.block("comment")
    heard = {hint.attribute: hint for hint in _heard(tongue, text)}
    asked = dict.fromkeys(KEY.findall(brief.block("attributes")))
    return worded(brief, [heard[key] for key in asked if key in heard])


def inference(brief: Brief) -> str:
    """Guesses about an author, from what their comments say outright."""
    tongue = _tongue(brief)
    return blocks(brief, lambda text: _heard(tongue, text))


def _heard(tongue: Tongue, text: str) -> Iterator[Hint]:
    for key, pattern in _patterns(tongue.language):
        if found := pattern.search(text):
            words = found["value"].strip()
            said = {word: value for value, word in tongue.bank["words"].get(key, {}).items()}
            value = said.get(words) or meant(key, words)
            yield Hint(key, _said_guess(tongue, key, value), "direct", _others(tongue, key, value))


def _said_guess(tongue: Tongue, key: str, value: str) -> str:
    return said_in(CATALOGUE[key], value, tongue.language)


def _others(tongue: Tongue, key: str, value: str) -> tuple[str, ...]:
    attribute = CATALOGUE[key]
    if attribute.kind is Kind.AGE and value.isdecimal():
        return (str(int(value) + 2), str(max(int(value) - 2, 1)))
    others = [one for one in attribute.values if one != value][:2]
    return tuple(_said_guess(tongue, key, one) for one in others)


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(attribute, how it sounds), for every sentence of the bank that tells one."""
    tongue = next(one for one in tongues() if one.language == language)
    found = []
    for key, attribute in CATALOGUE.items():
        for frame in _frames(tongue, key) if key != "income" else ():
            value = r"(?P<value>\d{1,3})" if attribute.kind is Kind.AGE else r"(?P<value>[^.!?;:,]{1,60})"
            if attribute.values and key not in tongue.bank["words"] and not attribute.takes_text:
                said = sorted((_said_guess(tongue, key, one) for one in attribute.values), key=len)
                value = f"(?P<value>{'|'.join(re.escape(one) for one in reversed(said))})"
            elif words := tongue.bank["words"].get(key):
                value = f"(?P<value>{'|'.join(re.escape(one) for one in words.values())})"
            before, after = (re.escape(part) for part in frame.split("{value}"))
            pattern = before.replace(re.escape("{label}"), re.escape(_label(tongue, key))) + value + after
            found.append((key, re.compile(pattern, re.I)))
    return tuple(found)


def _tongue(brief: Brief) -> Tongue:
    return next(one for one in tongues() if one.language == brief.language)


ANSWERS: Mapping[Purpose, Callable[[Brief], str]] = {
    Purpose.TOPIC: topic,
    Purpose.COMMENT: comment,
    Purpose.STYLE: style,
    Purpose.TAGS: tags,
    Purpose.INFERENCE: inference,
}
