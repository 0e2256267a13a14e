"""The bank of clues: every sentence that gives something away, and what it gives away.

The files in `data` are read once. In their sentences square brackets hold the words that are the clue.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HARDNESS = ("direct", "indirect", "complicated")
SLOTS = {
    "{spouse}": ("wife", "husband"),
    "{partner}": ("girlfriend", "boyfriend"),
    "{fiance}": ("fiancée", "fiancé"),
}
"""Words for the other half, as a man and as a woman of the bank says them."""
CLUE = re.compile(r"\[(.+?)\]")


@cache
def data(name: str) -> dict[str, Any]:
    """One of the data files, read once; not to be changed."""
    return tomllib.loads((Path(__file__).parent / "data" / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Hint:
    """What the tagger knows when it meets the words of the bank: the value, and what else it could be."""

    attribute: str
    """city_country stands for both places here; the sentence decides which."""
    value: str
    hardness: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """Something that can be said, and what it gives away. Brackets are still in it."""

    text: str
    attribute: str
    value: str
    hardness: str


@dataclass(frozen=True)
class Family:
    """Jobs that give themselves away in the same manner."""

    name: str
    keys: tuple[str, ...]
    near: tuple[str, ...]
    does: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class Country:
    name: str
    area: str
    cities: tuple[str, ...]
    things: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """food, ride, shop and money"""


def variants(text: str) -> list[str]:
    """`text` with each way of naming the other half."""
    found = [text]
    for slot, words in SLOTS.items():
        if slot in text:
            found = [one.replace(slot, word) for one in found for word in words]
    return found


@cache
def families() -> tuple[Family, ...]:
    return tuple(
        Family(
            row["name"],
            tuple(row["keys"].split("|")),
            tuple(row["near"].split("|")),
            tuple(row["does"].split("|")),
            row["hint"],
        )
        for row in data("occupations")["family"]
    )


@cache
def family_of(job: str) -> Family | None:
    """The family whose longest key stands in the job's title; None for a job the bank does not know."""
    title = f"{job.lower()} "
    best, length = None, 0
    for family in families():
        for key in family.keys:
            if len(key) > length and re.search(rf"\b{re.escape(key)}", title):
                best, length = family, len(key)
    return best


@cache
def countries() -> Mapping[str, Country]:
    return {
        row["name"]: Country(
            row["name"],
            row["area"],
            tuple(row["cities"].split("|")),
            {kind: tuple(row[kind].split("|")) for kind in ("food", "ride", "shop", "money") if row[kind]},
        )
        for row in data("places")["country"]
    }


@cache
def sights() -> Mapping[str, tuple[str, ...]]:
    """City -> what stands there."""
    return {row["name"]: tuple(row["sight"].split("|")) for row in data("places")["city"]}


@cache
def frames(name: str) -> Mapping[str, tuple[str, ...]]:
    """The sentences with slots of one file, by kind."""
    return {kind: tuple(rows) for kind, rows in data(name).items() if rows and isinstance(rows[0], str)}


@cache
def sentences(attribute: str, value: str, *, story: bool = False) -> tuple[Sentence, ...]:
    """What the bank has for a value of sex, education, income level or relationship.

    With `story` what stands in a story by itself, which is always indirect.
    """
    row = data_of_facts().get(attribute, {}).get(value, {})
    if story:
        return tuple(Sentence(text, attribute, value, "indirect") for text in row.get("story", ()))
    return tuple(
        Sentence(text, attribute, value, hardness) for hardness in HARDNESS for text in row.get(hardness, ())
    )


@cache
def data_of_facts() -> dict[str, Any]:
    return data("facts")


@cache
def bands() -> tuple[Mapping[str, Any], ...]:
    return tuple(data("ages")["band"])


def band(age: int) -> Mapping[str, Any] | None:
    """The last band of years that holds `age`."""
    return next((row for row in reversed(bands()) if row["from"] <= age <= row["to"]), None)


def bare(text: str) -> str:
    """A sentence of the bank without its brackets."""
    return CLUE.sub(r"\1", text)
