"""How likely a word is a word: our own list of everyday words, and how letters follow each other in it.

The list (`artefact_words.txt`) is ours: everyday and internet English with a few hundred small words of
other languages. A model of three letters in a row is made of it and of the names of the world's cities, so
that words of many languages look like words: once a process, in a quarter of a second behind the gazetteer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log2
from pathlib import Path

from simulation.domain.gazetteer import gazetteer

_ENDINGS = (
    "'s", "s'", "n't", "'ll", "'ve", "'re", "'d", "'m", "in'", "s", "es", "ed", "d", "ing", "in", "er",
    "ers", "est", "ly", "y", "ness", "ment", "ments", "able", "ful", "less", "ish", "ies", "ier",
    "iest", "ily", "ied", "al", "ally", "ation", "ations", "ion", "ions", "ist", "ists", "ity", "like",
    "wise", "ship",
)  # fmt: skip
_BEGINNINGS = (
    "un",
    "re",
    "over",
    "under",
    "out",
    "non",
    "pre",
    "mis",
    "dis",
    "super",
    "anti",
    "self",
    "in",
    "im",
)
OURS = 3
"""How often a word of the list counts where a name counts once."""
_NAME = re.compile(r"[^\W\d_]{3,}")
_LONG = re.compile(r"(.)\1{2,}")
_TWICE = re.compile(r"(.)\1+")


@dataclass(frozen=True)
class Letters:
    words: frozenset[str]
    threes: dict[str, float]
    """Three letters -> log2 of how likely the third is after the two."""
    unseen: float


@cache
def letters() -> Letters:
    words = frozenset(Path(__file__).with_name("artefact_words.txt").read_text(encoding="utf-8").split())
    threes: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    seen = Counter(dict.fromkeys(words, OURS))
    seen.update({name for city in gazetteer().cities for name in _NAME.findall(city.name.lower())})
    for word, times in seen.items():
        spelt = f"^^{plain(word)}$"
        for place in range(len(spelt) - 2):
            threes[spelt[place : place + 3]] += times
            pairs[spelt[place : place + 2]] += times
    share = {three: log2((n + 0.1) / (pairs[three[:2]] + 2.6)) for three, n in threes.items()}
    return Letters(words, share, -8.5)


def plain(word: str) -> str:
    """Small letters without accents and apostrophes."""
    if word.isascii():
        return word.lower().replace("'", "")
    split = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in split if sign.isalpha())


@lru_cache(maxsize=50_000)
def is_known(word: str) -> bool:
    """Whether `word`, in small letters, is on the list, with or without an ending or beginning; long-drawn
    letters ("soooo") count once or twice."""
    known = letters().words
    if word in known:
        return True
    if _LONG.search(word):
        return is_known(_LONG.sub(r"\1\1", word)) or is_known(_TWICE.sub(r"\1", word))
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 1:
            stem = word[: -len(ending)]
            if stem in known or stem + "e" in known or stem + "y" in known:
                return True
            if len(stem) > 3 and stem[-1] == stem[-2] and stem[:-1] in known:
                return True
    return any(word.startswith(one) and word[len(one) :] in known for one in _BEGINNINGS)


@lru_cache(maxsize=50_000)
def plausibility(word: str) -> float:
    """Mean log2 likelihood of a letter of `word` after the two before it: about -3 for words, -6 for mash."""
    model = letters()
    shortened = _LONG.sub(lambda run: run[1] * 2, plain(word))
    spelt = f"^^{shortened}$"
    steps = [model.threes.get(spelt[place : place + 3], model.unseen) for place in range(len(spelt) - 2)]
    return sum(steps) / len(steps)
