"""Occupations as people write them -> the usual name, how two of them relate, what a beginning may mean.

The list is our own (`occupations.toml`). Nothing here rewrites what a person typed: it
compares and it suggests.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from simulation.domain.gazetteer import fold
from simulation.domain.relations import Match, is_slip

_SIGNS = re.compile(r"[^a-z0-9']+")
_EITHER = re.compile(r"/|;|\bor\b")
_EMPTY = {"a", "an", "the", "as", "and", "works", "working", "is"}
_BEHIND = {"at", "in", "of", "for", "with", "on", "from", "to", "by"}
_NO_PLURAL = re.compile(r"(?:ss|us|is|ics|news|arts|sales|relations|resources|operations|series)$")


@dataclass(frozen=True, slots=True)
class Job:
    """The words of an occupation without articles and endings; `head` says what, the others which one."""

    words: frozenset[str]
    head: str

    def is_broader(self, other: Job) -> bool:
        """Fewer words, the same head: "nurse" beside "paediatric nurse"; and "retired" beside what from."""
        return self.words < other.words and self.head in (other.head, "retired")


@dataclass(frozen=True)
class Jobs:
    """The list by spelling, and the spellings by name."""

    names: Mapping[Job, str]
    spellings: Mapping[str, tuple[Job, ...]]
    texts: tuple[tuple[str, str], ...]
    """(folded spelling, name), in the list's order, each name before its other spellings."""
    vocabulary: frozenset[str]


@cache
def jobs() -> Jobs:
    """Reads the list, once a process."""
    names: dict[Job, str] = {}
    spellings: dict[str, tuple[Job, ...]] = {}
    texts = []
    for name, others in _file()["occupations"].items():
        written = [job(text) for text in (name, *others)]
        spellings[name] = tuple(dict.fromkeys(written))
        for one in written:
            names.setdefault(one, name)
        texts += [(fold(text), name) for text in (name, *others)]
    vocabulary = frozenset(word for one in names for word in one.words)
    return Jobs(names, spellings, tuple(texts), vocabulary)


@cache
def _file() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_name("occupations.toml").read_text(encoding="utf-8"))


@cache
def _spelled() -> Mapping[str, tuple[str, ...]]:
    """A word -> how it is spelled here, as one word or several."""
    return {word: tuple(str(other).split()) for word, other in _file()["words"].items()}


@lru_cache(maxsize=4096)
def job(text: str) -> Job:
    """The words that count in `text`. What stands behind "of", "at" and the like only says which one: a
    curator at a museum is a museum curator."""
    words: list[str] = []
    head = ""
    for word in _SIGNS.sub(" ", fold(text)).split():
        if word in _BEHIND:
            head = head or (words[-1] if words else "")
        elif word not in _EMPTY:
            words += _singular(_spelled().get(word, (word,)))
    return Job(frozenset(words), head or (words[-1] if words else ""))


def _singular(words: tuple[str, ...]) -> list[str]:
    return [_one(word.removesuffix("'s").replace("'", "")) for word in words]


def _one(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or _NO_PLURAL.search(word):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def normal(text: str) -> str | None:
    """The list's name for an occupation, whatever case, plural, article or synonym it is written with; None
    where the list has none for exactly this."""
    return jobs().names.get(job(text))


@lru_cache(maxsize=4096)
def relation(one: str, other: str) -> Match:
    """How two occupations relate.

    Two names of one occupation are the same, and so are names that differ by a slip in one word. One that
    says the same with fewer words, or leaves open what the other says ("professor/lecturer"), is less
    precise. For everything else the published scoring asks a judge; here it is different.
    """
    if fold(one) == fold(other):
        return Match.SAME
    ones, others = _either(one), _either(other)
    if len(ones) == len(others) == 1:
        return _relate(ones[0], others[0])
    found = {_relate(this, that) for this in ones for that in others}
    if found == {Match.SAME}:
        return Match.SAME
    return Match.DIFFERENT if found == {Match.DIFFERENT} else Match.LESS_PRECISE


def _either(text: str) -> list[Job]:
    found = [job(part) for part in _EITHER.split(text.casefold())]
    return [one for one in found if one.words] or [job(text)]


def _relate(one: Job, other: Job) -> Match:
    list_ = jobs()
    name, its = list_.names.get(one), list_.names.get(other)
    if one == other or one.words == other.words or (name and name == its) or _is_misspelt(one, other):
        return Match.SAME
    ones = (one, *list_.spellings[name]) if name else (one,)
    others = (other, *list_.spellings[its]) if its else (other,)
    nested = any(this.is_broader(that) or that.is_broader(this) for this in ones for that in others)
    return Match.LESS_PRECISE if nested else Match.DIFFERENT


def _is_misspelt(one: Job, other: Job) -> bool:
    """All words are shared but one of each, of which one is unknown and nearly the other."""
    mine, its = one.words - other.words, other.words - one.words
    if len(mine) != 1 or len(its) != 1:
        return False
    (word,), (second,) = mine, its
    return not {word, second} <= jobs().vocabulary and is_slip(word, second)


def suggest(text: str, limit: int = 8) -> list[str]:
    """Up to `limit` names that `text` may be the beginning of: of the name first, then of another name of
    it, then of a later word; short ones first."""
    key = fold(text)
    if not key or limit < 1:
        return []
    ranks: dict[str, tuple[int, int, str]] = {}
    for spelling, name in jobs().texts:
        if spelling == key:
            rank = 0
        elif spelling.startswith(key):
            rank = 1 if spelling == fold(name) else 2
        elif f" {key}" in spelling:
            rank = 3
        else:
            continue
        ranks[name] = min((rank, len(name), name), ranks.get(name, (9, 0, "")))
    return sorted(ranks, key=ranks.__getitem__)[:limit]
