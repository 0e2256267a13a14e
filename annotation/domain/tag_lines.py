"""The attributes that a section of a tagging answer names, and what it says of each."""

import re
from dataclasses import dataclass

from simulation.domain.attributes import CATALOGUE, Attribute

LONGEST_LIST = 2000
"""A bracket that does not close within so many signs does not open a list."""
MOST_ITEMS = 200
"""So many names of a section are read; what follows them is no answer."""


def compact(text: str) -> str:
    """A name without case, blanks and signs: "City / Country" and `city_country` are the same."""
    return re.sub(r"[\W_]+", "", text).casefold()


def attribute_named(text: str) -> Attribute | None:
    """The attribute that a tagger means by its key, its label or its topic."""
    return NAMES.get(compact(text))


def _spellings() -> dict[str, Attribute]:
    """Every name in the catalogue, in all of its languages; a key wins over a label, a label over a topic."""
    named: dict[str, Attribute] = {}
    known: set[str] = set()

    def add(name: str, attribute: Attribute) -> None:
        name = name.partition("(")[0].strip()
        if compact(name) and compact(name) not in known:
            known.add(compact(name))
            named[name] = attribute

    for field in ("key", "label", "topic"):
        for attribute in CATALOGUE.values():
            add(getattr(attribute, field), attribute)
    for field in ("label", "topic"):
        for attribute in CATALOGUE.values():
            for words in attribute.languages.values():
                add(getattr(words, field), attribute)
    return named


SPELLINGS = _spellings()
NAMES = {compact(name): attribute for name, attribute in SPELLINGS.items()}
KNOWN = "|".join(
    r"(?:[^\w\n]|_){0,3}".join(re.findall(r"[^\W_]+", name))
    for name in sorted(SPELLINGS, key=len, reverse=True)
)
# An item begins with the section, a line or after one of ; , | ]. So `city_country` is not found within
# `birth_city_country`, nor a name within prose.
MARK = re.compile(
    r"(?:\A|(?<=[;,|\n\]]))[ \t>#*_`\-•\d.)\"']*+"
    rf"(?:(?P<known>{KNOWN})(?![^\W_])[*_`\"']{{0,4}}(?:[ \t]*\([^()\n]{{0,60}}\))?[*_`\"']{{0,4}}"
    r"(?:[ \t]*(?:->|[:=–—→])[*_`]{0,3}|[ \t]+-|-(?=[ \t\[\d])"
    r"|[ \t]*(?=\[)|[ \t]+(?=\d)|(?<=\*\*)(?=[ \t]*\n))"
    r"|(?P<other>[^\W\d_][\w /]{0,30})[*_`\"']{0,4}[ \t]*[-–—:=][ \t]*(?=\[))[ \t]*",
    re.IGNORECASE,
)
BESIDE = re.compile(r"\b(?:certainty|hardness)\b", re.IGNORECASE)
BULLET = re.compile(r"[ \t]*(?:[-•*+]|\d{1,2}[.)])[ \t]")


@dataclass(frozen=True)
class Item:
    """One attribute named in a section and what stands behind its name."""

    name: str
    attribute: Attribute | None
    text: str
    beside: str = ""
    """What follows the list up to the next name; some taggers give certainty and hardness there."""
    open: bool = False
    """The list has a bracket that the section does not close."""


@dataclass(frozen=True)
class Scale:
    """A Certainty or Hardness section: by attribute, or without names."""

    named: dict[str, str]
    bare: tuple[str, ...]

    def of(self, key: str, position: int, asked: int) -> str:
        """What is said of an attribute. A single bare value counts for all, as many as guessed in order."""
        if self.named:
            return self.named.get(key, "")
        if len(self.bare) == 1:
            return self.bare[0]
        return self.bare[position] if len(self.bare) == asked else ""


def items_in(section: str) -> list[Item]:
    """The attributes named in a section with what is said of each, in the order of the text.

    A list in brackets is what the brackets hold. Without brackets it is the rest of the line, or the
    list of bullets below the name.
    """
    found: list[Item] = []
    mark = MARK.search(section)
    while mark and len(found) < MOST_ITEMS:
        name = mark["known"] or mark["other"]
        begin = mark.end()
        bracket = section[begin : begin + 1] == "["
        closing = _closing(section, begin) if bracket else None
        after = MARK.search(section, begin if closing is None else closing + 1)
        stop = after.start() if after else len(section)
        is_open = False
        if closing is not None:
            text, beside = section[begin + 1 : closing], section[closing + 1 : stop]
        elif bracket:
            text, _, beside = section[begin + 1 : stop].partition("\n")
            is_open = not after and not beside.strip()
        else:
            text, beside = _bare(section[begin:stop])
        found.append(Item(name.strip(), attribute_named(name), text, beside, is_open))
        mark = after
    return found


def _closing(text: str, begin: int) -> int | None:
    depth = 0
    for place, sign in enumerate(text[begin : begin + LONGEST_LIST], begin):
        depth += (sign == "[") - (sign == "]")
        if not depth:
            return place
    return None


def _bare(text: str) -> tuple[str, str]:
    said = BESIDE.search(text)
    beside = text[said.start() :] if said else ""
    return first_lines(text[: said.start()] if said else text).rstrip(" \t\n;,(|-–—*_`"), beside


def first_lines(text: str) -> str:
    """The first line with anything in it, or the list of bullets that begins there."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or not BULLET.match(lines[0]):
        return lines[0] if lines else ""
    listed = []
    for line in lines:
        if not BULLET.match(line):
            break
        listed.append(line)
    return "\n".join(listed)


def scale_in(section: str) -> Scale:
    """Reads a Certainty or Hardness section; of an attribute named twice the first time counts."""
    named: dict[str, str] = {}
    for item in items_in(section):
        if item.attribute:
            named.setdefault(item.attribute.key, first_lines(item.text))
    bare = tuple(one.strip() for one in re.split(r"[;,\n]", first_lines(section).strip()) if one.strip())
    return Scale(named, bare)


def beside(item: Item, scale: str) -> str:
    """What is said of a scale behind the list itself, such as "(certainty: 4)"; "" where nothing is."""
    found = re.search(rf"\b{scale}\b[\s:=*_`–—-]{{0,8}}([^\W_]+)", item.beside, re.IGNORECASE)
    return found[1] if found else ""
