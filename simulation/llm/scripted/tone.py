"""How a person spells: what a style description asks for, done to a sentence. Clues survive it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from simulation.llm.scripted.bank import data

LOWER = ("lower case", "lower-case", "lowercase", "small letters", "no capital letters", "never capital")
BARE = ("no apostrophes", "apostrophes mostly gone", "without apostrophes", "drops apostrophes")
FLAT = ("few words", "short dry", "short sentences", "short lines", "write little", "few commas")
FORMAL = ("memo", "complete sentences", "full sentences", "careful", "good grammar", "ceremonial", "correct")
TITLES = frozenset(
    ("mate", "love", "my friend", "my dear", "habibi", "inshallah", "bru", "b'y", "yaar", "che", "innit")
)
"""Words that need a comma before them."""


@dataclass(frozen=True)
class Tone:
    """What of a style description can be done by rule."""

    lower: bool = False
    bare: bool = False
    """Without apostrophes."""
    semicolons: bool = False
    dots: bool = False
    """Three dots for full stops."""
    loud: bool = False
    """Exclamation marks."""
    clipped: bool = False
    """Articles are missing."""
    flat: bool = False
    """As few words as possible."""
    formal: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@cache
def _words() -> dict[str, list[str]]:
    return data("words")


def read_tone(style: str) -> Tone:
    """The tone of a style description."""
    text = style.lower()

    def says(*phrases: str) -> bool:
        return any(phrase in text for phrase in phrases)

    def named(where: str) -> tuple[str, ...]:
        return tuple(
            one for one in _words()[where] if re.search(rf"(?<![\w']){re.escape(one)}(?![\w'])", text)
        )

    return Tone(
        lower=says(*LOWER),
        bare=says(*BARE),
        semicolons="semicolon" in text,
        dots=says("three dots", "ellips"),
        loud=says("double exclamation", "you exclaim", "exclamation marks everywhere")
        and not says("no exclam"),
        clipped=says(
            "articles are often missing", "articles missing", "articles are missing", "drop articles"
        ),
        flat=says(*FLAT),
        formal=says(*FORMAL),
        before=named("start"),
        after=named("end"),
    )


def said(text: str, tone: Tone, rng: random.Random, *, spare: int) -> str:
    """`text` in the tone, at most `spare` words longer."""
    if spare >= 2 and tone.after and rng.random() < 0.3:
        text = _ended(text, rng.choice(tone.after), rng)
    elif spare >= 2 and tone.before and not text.startswith("'") and rng.random() < 0.22:
        first = text if re.match(r"I\b|I'|[A-Z]{2}", text) else text[0].lower() + text[1:]
        word = rng.choice(tone.before)
        text = f"{word[0].upper()}{word[1:]}{',' if rng.random() < 0.6 else ''} {first}"
    if tone.clipped:
        text = re.sub(r"\b(?:the|a|an) (?=\w)", lambda found: "" if rng.random() < 0.5 else found[0], text)
    if tone.semicolons and rng.random() < 0.6:
        text = re.sub(r"(?<=\w)\. ([A-Z])(?=[a-z' ])", _joined, text, count=1)
    if tone.dots and rng.random() < 0.7:
        text = re.sub(r"(?<=\w)\.(?= |$)", "...", text, count=1)
    if tone.loud and rng.random() < 0.7:
        text = re.sub(r"(?<=\w)\.$", "!!", text)
    if tone.bare:
        text = (
            text.replace("'", "")
            if "'" not in _inside(text)
            else text.replace("n't", "nt").replace("'s ", "s ")
        )
    if tone.lower:
        text = text.lower()
        if rng.random() < 0.6:
            text = re.sub(r"(?<=\w)\.$", "", text)
    return text


def _inside(text: str) -> str:
    """A quotation in single quotes, which keeps its marks."""
    found = re.search(r"(?:^|\s)('[^']+')", text)
    return found[1] if found else ""


def _joined(found: re.Match[str]) -> str:
    return f"; {found[1] if found[1] == 'I' else found[1].lower()}"


def _ended(text: str, word: str, rng: random.Random) -> str:
    """The word at the end of a sentence of the text."""
    ends = [found.start() for found in re.finditer(r"(?<=\w)[.!?](?=\s|$)", text)]
    if not ends:
        return f"{text} {word}"
    at = rng.choice(ends)
    comma = "," if word in TITLES or rng.random() < 0.3 else ""
    return f"{text[:at]}{comma} {word}{text[at:]}"
