"""Cities, regions and countries in running text, by the project's gazetteer, with rules against chance hits.

Many of its 46,000 names are also words ("Nice", "Reading", "Of") or names of people. What stands in a text is
a place only if
- a country, continent or part of a country is written with a capital, or is no common word and stands behind
  a preposition;
- a city of several words is written with capitals, and one of its words is uncommon or a preposition stands
  before it;
- a city of one uncommon word is written with a capital inside a sentence, or at its beginning if it is large,
  or in small letters behind a preposition if it is larger still;
- a city that is also a common word is written with a capital and stands behind "in", "from", "near" or
  "around", and is not small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.domain.masking import Category, Span
from evaluation.domain.masking_lists import lists
from simulation.domain.artefact_letters import is_known
from simulation.domain.gazetteer import Gazetteer, fold, gazetteer

LONGEST = 4
"""Words of the longest name that is looked for."""
TOWN, LARGE, LARGEST = 30_000, 100_000, 300_000
"""People from which a name counts that is a word, that begins a sentence, that has small letters."""
SURE, LIKELY = 0.8, 0.6
SHORTEST = 4
"""Letters of a name in small letters."""
CAPITALS_ONLY = frozenset({"us", "uk", "usa", "uae", "u s", "u k", "nz", "gb", "rsa", "eu", "drc", "prc"})
ALSO_WORDS = frozenset({"turkey", "jordan", "chad", "georgia", "china", "island", "aus", "oz", "misr", "lao"})
"""Countries' names that are words or names of people, beside the list of common words."""
NEVER = frozenset(
    {"god", "google", "ben", "police", "de", "of", "most", "no", "do", "og", "un", "may", "march", "august"}
)
NAMES_ARE_PARTS = frozenset(
    {"of", "de", "la", "el", "al", "the", "and", "da", "do", "del", "am", "sur", "upon"}
)
CARDINALS = frozenset(
    {"north", "south", "east", "west", "northern", "southern", "eastern", "western", "central"}
)
"""Lead to a place as prepositions do: "northern Spain"."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: letters and digits, with apostrophes inside; `key` is folded, without 's."""

    start: int
    end: int
    text: str
    key: str
    opens: bool
    """Whether a sentence begins with it."""
    bare_end: int
    """Where it ends without 's."""

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


def places(words: Sequence[Word], joined: Sequence[bool]) -> Iterator[Span]:
    """Names of places among the words; `joined[i]` says whether word i + 1 follows word i with nothing but a
    blank, a hyphen or a stop of an abbreviation between. Of names that begin at one word the longest."""
    list_ = gazetteer()
    prepositions = lists().context["prepositions"]
    firm = lists().context["firm_prepositions"]
    place = 0
    while place < len(words):
        before = words[place - 1].key if place else ""
        is_led = before in prepositions or before in CARDINALS
        length, confidence = 0, 0.0
        if words[place].is_capital or is_led:
            length, confidence = _longest(list_, words, joined, place, is_led, before in firm)
        if length:
            end = words[place + length - 1].bare_end
            yield Span(words[place].start, end, Category.LOCATION, confidence)
        place += length or 1


CARDINALS = frozenset(
    {"north", "south", "east", "west", "northern", "southern", "eastern", "western", "central"}
)


def _bare(text: str) -> str:
    return text[:-2] if text.lower().endswith(("'s", "’s")) else text


def _longest(
    list_: Gazetteer, words: Sequence[Word], joined: Sequence[bool], place: int, is_led: bool, is_firm: bool
) -> tuple[int, float]:
    """Words of the longest name that begins at `place` and how surely it is one; (0, 0) for none."""
    most = 1
    while most < LONGEST and place + most < len(words) and joined[place + most - 1]:
        most += 1
    for length in range(most, 0, -1):
        group = words[place : place + length]
        confidence = _confidence(list_, group, is_led, is_firm)
        if confidence:
            return length, confidence
    return 0, 0.0


def _confidence(list_: Gazetteer, group: Sequence[Word], is_led: bool, is_firm: bool) -> float:
    """0 where the group is no place."""
    key = fold(" ".join(one.key for one in group))
    if key in NEVER:
        return 0.0
    capitals = all(one.is_capital or one.key in NAMES_ARE_PARTS for one in group)
    common = all(is_known(one.key) or len(one.key) < 2 for one in group)
    if key in CAPITALS_ONLY:
        return SURE if all(one.text.isupper() for one in group) else 0.0
    if key in list_.country_keys or key in list_.continents or (key in list_.region_keys and len(key) > 3):
        if capitals and (key not in ALSO_WORDS or is_led or not group[0].opens):
            return SURE
        return LIKELY if is_led and not common and key not in ALSO_WORDS and len(key) >= SHORTEST else 0.0
    people = max(
        (list_.cities[number].population for number, is_own in list_.named(key) if is_own or len(key) > 3),
        default=0,
    )
    if not people:
        return 0.0
    if len(group) > 1:
        is_likely = (capitals and (not common or is_led)) or (is_led and not common and people >= LARGEST)
        return LIKELY if is_likely else 0.0
    return _one_word(group[0], people, common=common, is_led=is_led, is_firm=is_firm)


def _one_word(word: Word, people: int, *, common: bool, is_led: bool, is_firm: bool) -> float:
    if common:
        return LIKELY if word.is_capital and is_firm and people >= TOWN else 0.0
    if not word.is_capital:
        return LIKELY if is_led and people >= LARGEST and len(word.key) >= SHORTEST else 0.0
    if is_led:
        return SURE
    return LIKELY if not word.opens or people >= LARGE else 0.0
