"""A masker of rules and word lists: nothing to download, the same answer for the same text, English first.

It stands in for the commercial recogniser of the published run, which is not reproducible, and is the first
rung of the comparison of anonymisers. It finds

- what is told by its form (`masking_patterns`),
- places of the gazetteer with rules of context (`masking_places`),
- words and phrases of the lists (`masking_lists`): kinds of people, generic places, organisations, events,
  times, ages, currencies, numbers, first names,
- words that are no common ones and are written with a capital inside a sentence: names, weakly.

The confidence is a rank of the rules, not a probability. The time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.domain.masking import PLACEHOLDER, Category, Span
from evaluation.domain.masking_lists import Entry, Lists, Needs, lists, singular
from evaluation.domain.masking_patterns import found
from evaluation.domain.masking_places import Word, places
from simulation.domain.artefact_letters import is_known
from simulation.domain.gazetteer import fold

UNKNOWN_NAME = 0.45
NAMED = 0.5
"""A weak word with a modifier before it says which one is meant: "staff room"."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_GAP = re.compile(r"(?: |[ ]?[-–/][ ]?|\. ?|['’] )")
_ENDS = frozenset('.!?…\n:;"“”(*')
_EXTENDED = frozenset({Category.LOCATION, Category.EVENT, Category.PERSON_TYPE, Category.ORGANIZATION})
"""Categories whose nouns take the modifiers before them along: "coffee shop"."""
_CAPITALS = 0.5
"""Share of words with a capital from which capitals say nothing: a title, or somebody shouting."""


@dataclass(frozen=True)
class RulesMasker:
    """The masker of rules. `name` and `version` go into the record of a masked corpus."""

    name: str = "rules"
    version: str = "1"

    def spans(self, text: str) -> list[Span]:
        """Everything found, in order of the text; spans may overlap. What masking left behind earlier
        (asterisks, <LOCATION>) is not looked into."""
        shielded = [match.span() for match in PLACEHOLDER.finditer(text)]
        words = list(_words(text))
        joined = [_joined(text, one, after) for one, after in pairwise(words)]
        spans = [*found(text), *places(words, joined), *_phrases(words, joined), *_names(words, joined)]
        return sorted(_outside(spans, shielded))


@dataclass(frozen=True)
class FormsMasker:
    """What is told by its form alone (`masking_patterns`): no lists, no places, no names without a sign.

    The least that a masker does, and what the others have to beat.
    """

    name: str = "forms"
    version: str = "1"

    def spans(self, text: str) -> list[Span]:
        """Everything found, in order of the text, as `RulesMasker.spans` says."""
        shielded = [match.span() for match in PLACEHOLDER.finditer(text)]
        return sorted(_outside([*found(text)], shielded))


def _outside(spans: Sequence[Span], shielded: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The spans that share no character with a placeholder."""
    starts = [start for start, _ in shielded]
    for one in spans:
        before = bisect_right(starts, one.end - 1) - 1
        if before < 0 or shielded[before][1] <= one.start:
            yield one


def _words(text: str) -> Iterator[Word]:
    end = 0
    for match in _WORD.finditer(text):
        between = text[end : match.start()]
        written = match[0]
        bare = written[:-2] if written.lower().endswith(("'s", "’s")) else written
        opens = end == 0 or any(sign in _ENDS for sign in between)
        end = match.end()
        yield Word(match.start(), end, written, fold(bare), opens, match.start() + len(bare))


def _joined(text: str, one: Word, after: Word) -> bool:
    return after.start - one.end <= 3 and bool(_GAP.fullmatch(text, one.end, after.start))


def _phrases(words: Sequence[Word], joined: Sequence[bool]) -> Iterator[Span]:
    """The longest phrase of the lists that begins at each word not yet taken, with its modifiers."""
    ours = lists()
    place = taken = 0
    while place < len(words):
        length, entry = _longest(ours, words, joined, place)
        if entry is None:
            place += 1
            continue
        first = place
        while entry.category in _EXTENDED and first > taken and joined[first - 1]:
            if (words[first - 1].key,) not in ours.modifiers:
                break
            first -= 1
        last = words[place + length - 1]
        end = last.bare_end if length == 1 else last.end
        confidence = max(entry.confidence, NAMED if first < place else 0.0)
        yield Span(words[first].start, end, entry.category, confidence)
        place = taken = place + length


def _longest(
    ours: Lists, words: Sequence[Word], joined: Sequence[bool], place: int
) -> tuple[int, Entry | None]:
    for beginning in singular(words[place].key):
        most = ours.beginnings.get(beginning, 0)
        for length in range(min(most, len(words) - place), 0, -1):
            if not all(joined[place : place + length - 1]):
                continue
            entry = _entry(ours, words[place : place + length], beginning)
            if entry and _holds(ours, words, place, entry):
                return length, entry
    return 0, None


def _entry(ours: Lists, group: Sequence[Word], beginning: str) -> Entry | None:
    if len(group) == 1:
        return ours.phrases.get((beginning,))
    head = (group[0].key, *(one.key for one in group[1:-1]))
    return next((e for last in singular(group[-1].key) if (e := ours.phrases.get((*head, last)))), None)


def _holds(ours: Lists, words: Sequence[Word], place: int, entry: Entry) -> bool:
    """Whether what a phrase needs is there."""
    before = words[place - 1].key if place else ""
    if entry.needs is Needs.ARTICLE:
        return before in ours.context["articles"] or (before,) in ours.modifiers
    if entry.needs is Needs.COPULA:
        after = words[place + 1].key if place + 1 < len(words) else ""
        stands_first = words[place].opens and after in ours.context["follow"]
        return stands_first or before in ours.context["copulas"]
    if entry.needs is Needs.CAPITAL:
        return words[place].is_capital
    return True


def _names(words: Sequence[Word], joined: Sequence[bool]) -> Iterator[Span]:
    """Names by title, and uncommon words with a capital inside a sentence; a run of them is one name."""
    ours = lists()
    counted = [one for one in words if one.text[0].isalpha()]
    if sum(one.is_capital for one in counted) > _CAPITALS * len(counted) and len(counted) > 3:
        return
    place = 0
    while place < len(words):
        before = words[place - 1] if place else None
        titled = before is not None and before.is_capital and before.key in ours.context["titles"]
        titled = titled and joined[place - 1]
        length = 0
        while place + length < len(words) and (length == 0 or joined[place + length - 1]):
            if not _is_name(words[place + length], ours, titled=titled and not length, follows=length > 0):
                break
            length += 1
        if length:
            confidence = 0.8 if titled else UNKNOWN_NAME
            yield Span(words[place].start, words[place + length - 1].bare_end, Category.PERSON, confidence)
        place += length or 1


def _is_name(word: Word, ours: Lists, *, titled: bool, follows: bool) -> bool:
    """Behind a title or a name (`follows`) a common word may be one too: "Ms Brown"."""
    if not word.is_capital or len(word.key) < 3 or word.key in ours.context["no_names"]:
        return False
    if titled or word.opens:
        return titled
    return follows or not (word.text.isupper() or is_known(word.key))
