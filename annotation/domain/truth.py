"""What people labelled against what the profiles say. Counts only; rules without a database.

A label is right where it is the same as the profile's fact (`simulation.domain.matching`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from simulation.domain.attributes import HARDNESS, Attribute, Kind
from simulation.domain.matching import Match, compare
from simulation.domain.normalise import squeeze

SHORTEST = 3
"""Signs: shorter values than this are not looked for in texts, save ages."""
OUTRIGHT = HARDNESS[0].number
"""The hardness that says: the text says it in so many words."""


@dataclass(frozen=True)
class Said:
    """A label that counts and has a value. Author and comment are keys; hardness is None where not given."""

    author: int
    comment: int
    attribute: str
    value: str
    hardness: int | None


@dataclass
class Judged:
    """Labels by how they relate to the facts."""

    same: int = 0
    less_precise: int = 0
    different: int = 0

    @property
    def n(self) -> int:
        return self.same + self.less_precise + self.different

    def take(self, match: Match) -> None:
        self.same += match is Match.SAME
        self.less_precise += match is Match.LESS_PRECISE
        self.different += match is Match.DIFFERENT


@dataclass
class Leak:
    """Comments labelled with a value, of authors whose fact is looked for in their texts."""

    comments: int = 0
    outright: int = 0
    """Of them, those whose text contains the fact."""
    hardness_1: int = 0
    """Of these, those with a label of hardness 1."""


@dataclass
class AttributeTruth:
    """One attribute; `authors` are those of whom it is known."""

    attribute: Attribute
    authors: int = 0
    right: set[int] = field(default_factory=set)
    """Authors with at least one right label."""
    judged: Judged = field(default_factory=Judged)
    leak: Leak = field(default_factory=Leak)


def as_text(fact: object) -> str:
    """A fact as it is compared, numbers in digits; empty where it is not known."""
    if isinstance(fact, float) and fact.is_integer():
        fact = int(fact)
    if isinstance(fact, bool) or not isinstance(fact, str | int | float):
        return ""
    return squeeze(str(fact))


def searched_for(attribute: Attribute, fact: str) -> str:
    """What gives the fact away in a text: of a place the city. Empty where that is too short."""
    words = fact.split(",")[0].strip() if attribute.kind is Kind.PLACE else fact
    return words if attribute.kind is Kind.AGE or len(words) >= SHORTEST else ""


def says_outright(words: str, text: str) -> bool:
    """Whether `text` contains `words` as whole words, letter case aside; 25 is not in 0.25 or 25,000."""
    return bool(_whole(words).search(squeeze(text)))


@lru_cache(maxsize=4096)
def _whole(words: str) -> re.Pattern[str]:
    number = (r"(?<!\d[.,])", r"(?![.,]\d)") if words.isdigit() else ("", "")
    return re.compile(rf"{number[0]}(?<!\w){re.escape(words)}(?!\w){number[1]}", re.IGNORECASE)


class Reckoning:
    """Labels are taken one by one, then the texts of the labelled comments; the counts stand in the fields.

    `facts` maps the key of an author to their facts, by attribute; attributes that nobody's facts have are
    left out.
    """

    def __init__(self, attributes: Iterable[Attribute], facts: Mapping[int, Mapping[str, object]]) -> None:
        found = {one.key: AttributeTruth(one) for one in attributes}
        self.hardness = {mark.number: Judged() for mark in HARDNESS}
        self._facts: dict[tuple[int, str], str] = {}
        for author, known in facts.items():
            for key in found.keys() & known.keys():
                if fact := as_text(known[key]):
                    self._facts[author, key] = fact
                    found[key].authors += 1
        self.attributes = {key: one for key, one in found.items() if one.authors}
        self._labelled: dict[int, dict[str, tuple[str, bool]]] = {}

    def take(self, said: Said) -> None:
        """A label of an author or attribute without a known fact changes nothing."""
        fact = self._facts.get((said.author, said.attribute))
        if fact is None:
            return
        row = self.attributes[said.attribute]
        match = compare(row.attribute, said.value, fact)
        row.judged.take(match)
        if match is Match.SAME:
            row.right.add(said.author)
        if said.hardness in self.hardness:
            self.hardness[said.hardness].take(match)
        if words := searched_for(row.attribute, fact):
            labels = self._labelled.setdefault(said.comment, {})
            _, before = labels.get(said.attribute, (words, False))
            labels[said.attribute] = words, before or said.hardness == OUTRIGHT

    def read(self, comment: int, text: str) -> None:
        """The text of a comment, once, after all its labels."""
        for key, (words, is_easy) in self._labelled.get(comment, {}).items():
            leak, outright = self.attributes[key].leak, says_outright(words, text)
            leak.comments += 1
            leak.outright += outright
            leak.hardness_1 += outright and is_easy
