"""Not debris, but as bad for the set: the author plainly says own city, age or name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from simulation.domain import places
from simulation.domain.artefact_letters import is_known
from simulation.domain.artefact_rule import Kind, Rule, Span, Written
from simulation.domain.artefact_shapes import shape
from simulation.domain.gazetteer import fold, gazetteer

_TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty", 6: "sixty", 7: "seventy", 8: "eighty", 9: "ninety"}
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_AGE = shape("self", "age", flags=re.I)
_OTHERS = shape("self", "others", flags=re.I)
BEFORE = 60
"""Signs before a place in which is looked for what makes it somebody else's."""


def _age(written: Written) -> Iterator[Span]:
    own = _number(written.facts.get("age"))
    if own is None:
        return
    for match in _AGE.finditer(written.text.replace("’", "'")):
        said = next(filter(None, match.groups()))
        begin = match.start()
        if _number(said) == own and not _OTHERS.search(written.text, max(0, begin - BEFORE), begin):
            yield match.span()


def _number(value: Any) -> int | None:
    """34 of 34, "34" and "thirty-four"; None of anything else."""
    words = str(value).strip().lower() if value is not None else ""
    if words.isdecimal():
        return int(words)
    if words in _SMALL:
        return _SMALL.index(words)
    ten, _, one = words.replace("-", " ").partition(" ")
    for number, name in _TENS.items():
        if words == name:
            return number * 10
        if ten == name and one in _SMALL[1:10]:
            return number * 10 + _SMALL.index(one)
        if words.startswith(name) and words[len(name) :] in _SMALL[1:10]:
            return number * 10 + _SMALL.index(words[len(name) :])
    return None


_LIVES = shape("self", "lives", flags=re.I)
_AS = shape("self", "native", flags=re.I)
_WORDS = re.compile(r"[^\s,;:()\"]+")


def _place(written: Written) -> Iterator[Span]:
    folded = ""
    for key in ("city_country", "birth_city_country"):
        own = str(written.facts.get(key) or "")
        city, comma, _ = own.partition(",")
        if not comma or len(city) < 3:
            continue
        folded = folded or f" {fold(written.text)} "
        if not any(name in folded for name in _names_of(own)):
            continue
        yield from _mentions(written.text, city.strip())
        for cue in (_LIVES, _AS):
            for match in cue.finditer(written.text):
                found = _named(match["place"], own)
                if found:
                    yield match.start(), match.start("place") + found


_IDIOM = re.compile(r"(?i)\b(?:when in|all roads lead to|wasn'?t built in a day)\W*\Z")


def _mentions(text: str, city: str) -> Iterator[Span]:
    """The city by its own name; one that is also a word ("Nice") only by what the cues say."""
    if is_known(city.lower()):
        return
    for match in re.finditer(rf"(?<!\w){re.escape(city)}(?!\w)", text, re.I):
        if not _IDIOM.search(text, max(0, match.start() - BEFORE), match.start()):
            yield match.span()


def _named(phrase: str, own: str) -> int:
    """Where in `phrase` the name of the author's own city ends, if it begins with it; else 0."""
    words = list(_WORDS.finditer(phrase))[:4]
    if words and words[0][0].casefold() in (
        "the",
        "good",
        "old",
        "lovely",
        "beautiful",
        "busy",
        "sunny",
        "rainy",
        "downtown",
        "central",
        "big",
    ):
        words = words[1:]
    for count in range(min(3, len(words)), 0, -1):
        name = phrase[words[0].start() : words[count - 1].end()].removesuffix("'s").removesuffix("’s")
        if _is_city(name, own):
            return words[count - 1].end()
    return 0


@cache
def _names_by_city() -> dict[int, list[str]]:
    """City's number -> its folded names."""
    names: dict[int, list[str]] = defaultdict(list)
    list_ = gazetteer()
    for key, entry in zip(list_.keys, list_.entries, strict=True):
        names[entry >> 1].append(key)
    return dict(names)


@lru_cache(maxsize=5000)
def _names_of(own: str) -> tuple[str, ...]:
    """The folded names of the city of `own`."""
    meant = next((place.city for place, is_firm in places.readings(own) if is_firm), "")
    names = _names_by_city().get(meant, []) if isinstance(meant, int) else []
    return fold(own.partition(",")[0]), *names


@lru_cache(maxsize=20_000)
def _is_city(name: str, own: str) -> bool:
    """Whether `name` is the city of `own` ("City, Country"), also in another language or shortened."""
    key = fold(name)
    if len(key) < 2:
        return False
    if key == fold(own.partition(",")[0]):
        return True
    if len(key) < 3 and key not in ("la", "ny", "dc", "sf"):
        return False
    return key in _names_of(own)


_NAMED = shape("self", "named")
_IM = shape("self", "introduced")


def _name(written: Written) -> Iterator[Span]:
    text = written.text
    for match in _NAMED.finditer(text):
        yield match.span()
    own = {written.username, *(str(value) for key, value in written.facts.items() if "name" in key)}
    for name in own:
        if len(name) > 3:
            for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I):
                yield match.span()
    places_ = str(written.facts.get("city_country") or "") + str(
        written.facts.get("birth_city_country") or ""
    )
    for match in _IM.finditer(text):
        if match["name"] not in places_ and gazetteer().country_keys.get(fold(match["name"])) is None:
            yield match.span()


RULES = (
    Rule(
        "own_place",
        "Says its own city",
        "The author plainly names the city of residence or birth that others are to infer.",
        _place,
        Kind.GIVES_AWAY,
    ),
    Rule(
        "own_age",
        "Says its own age",
        "The author plainly states the age that others are to infer.",
        _age,
        Kind.GIVES_AWAY,
    ),
    Rule(
        "own_name",
        "Says a name",
        "The author states a name or the own handle, which no comment should carry.",
        _name,
        Kind.GIVES_AWAY,
    ),
)
