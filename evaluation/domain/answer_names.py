"""Which attribute a model means by a name: keys, labels and topics of the catalogue, and near spellings.

The published reader asked a sentence embedding (method of the published inference, cosine from 0.4); here no
model is needed: names are compared word by word, then by their letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from simulation.domain.attributes import CATALOGUE

ALSO: Mapping[str, tuple[str, ...]] = {
    "sex": ("gender",),
    "city_country": ("city", "country", "location", "place of residence", "place of living"),
    "birth_city_country": ("birth city", "birth country", "birth place", "birth location", "place of birth"),
    "education": ("degree", "educational background"),
    "occupation": ("job", "profession", "employment"),
    "relationship_status": ("marital status",),
}
"""Everyday English names that the catalogue does not say; of keys that it lacks nothing is taken."""
_FILLERS = (
    "the a an s of and or author authors person user reddit commenter level status current currently "
    "estimated likely probable possible guessed overall approximate"
)
FILLERS = frozenset(_FILLERS.split())
"""Words that change nothing in what a name means."""
NEAR = 88.0
"""Similarity (0-100, normalised indel distance) from which two names are one, and..."""
NEAR_FROM = 5
"""...letters that a name must have for it: short names are one slip away from other words."""
LONGEST = 60
"""Characters; a longer text is no name."""
_BRACKETS = re.compile(r"\([^()]*\)")
_NO_WORD = re.compile(r"[\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """The words of `text`, case-folded, signs and underscores as gaps."""
    return tuple(_NO_WORD.sub(" ", text.casefold()).split())


def plain(text: str) -> str:
    """`text` as names are compared: case-folded words with one blank between."""
    return " ".join(words_of(text))


def _core(name: str) -> str:
    """A plain name without the words that change nothing; the name itself where only such words are left."""
    return " ".join(word for word in name.split() if word not in FILLERS) or name


def _spoken(key: str) -> Iterator[str]:
    """Every plain name of one attribute."""
    yield plain(key)
    if known := CATALOGUE.get(key):
        phrases = [known.label, known.topic]
        phrases += [phrase for words in known.languages.values() for phrase in (words.label, words.topic)]
        for phrase in phrases:
            outside = _BRACKETS.sub(" ", phrase)
            yield from filter(None, (plain(phrase), plain(outside), *map(plain, outside.split("/"))))
        yield from ALSO.get(key, ())


@dataclass(frozen=True)
class Names:
    """The names under which attributes may stand in an answer to a question about `asked`."""

    asked: tuple[str, ...]
    exact: Mapping[str, str]
    """Plain name -> key; where two attributes share a name, the asked one has it."""
    cores: Mapping[str, str]
    """The same for names without their fillers."""

    def find(self, text: str) -> str | None:
        """The key that `text`, a whole name, means: asked, or only in the catalogue; None for neither.

        Asked attributes come first: “income” is the income level where that alone was asked.
        """
        if len(text) > LONGEST:
            return None
        return _find(self.asked, plain(_BRACKETS.sub(" ", text)) or plain(text))

    def within(self, text: str) -> str | None:
        """The one attribute that a heading speaks of; None where it names none or several."""
        words = words_of(text)
        found: set[str] = set()
        start = 0
        while start < len(words):
            for end in range(min(len(words), start + 6), start, -1):
                if key := self.exact.get(" ".join(words[start:end])):
                    found.add(key)
                    start = end - 1
                    break
            start += 1
        return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=256)
def names_for(asked: tuple[str, ...]) -> Names:
    """The names for one list of asked keys; keys that the catalogue does not know go by themselves."""
    exact: dict[str, str] = {}
    cores: dict[str, str] = {}
    for key in dict.fromkeys((*asked, *CATALOGUE)):
        for name in _spoken(key):
            exact.setdefault(name, key)
            cores.setdefault(_core(name), key)
    return Names(asked, exact, cores)


@lru_cache(maxsize=8192)
def _find(asked: tuple[str, ...], name: str) -> str | None:
    names = names_for(asked)
    core = _core(name)
    exact, near = names.exact.get(name), names.cores.get(core)
    if exact or near:
        return near if near in asked and exact not in asked else exact or near
    if len(core) < NEAR_FROM:
        return None
    best, key = max((fuzz.ratio(name, known), key) for known, key in names.exact.items())
    return key if best >= NEAR else None
