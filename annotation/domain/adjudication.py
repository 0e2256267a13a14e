"""What annotators see differently: how answers relate, what they say together. Rules only, no database."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from string import ascii_uppercase
from typing import TypeVar

from annotation.domain.comparing import Said, compare_labels
from annotation.domain.labels import Quote, State
from simulation.domain.attributes import TARGETS, Attribute
from simulation.domain.matching import Match

T = TypeVar("T")
_ORDER = (Match.SAME, Match.LESS_PRECISE, Match.DIFFERENT)


@dataclass(frozen=True)
class Opinion:
    """What one person, or all of them together, say about one attribute. Marks are 1-5 or not given."""

    state: State
    value: str = ""
    hardness: int | None = None
    certainty: int | None = None
    evidence: tuple[Quote, ...] = ()

    @property
    def said(self) -> bool:
        """Whether anybody judged it at all."""
        return self.state is not State.UNTOUCHED


NOTHING = Opinion(State.UNTOUCHED)
_NONE = Opinion(State.NONE)


def relate(attribute: Attribute, one: Said, other: Said) -> Match:
    """How two answers relate. An untouched row says nothing: it differs from a value, not from "none"."""
    first, second = (_NONE if said.state == State.UNTOUCHED else said for said in (one, other))
    return compare_labels(attribute, first, second)


def worst(matches: Iterable[Match]) -> Match:
    """The strongest difference among `matches`; SAME for none."""
    return max(matches, key=_ORDER.index, default=Match.SAME)


def relation(attribute: Attribute, opinions: Sequence[Said]) -> Match:
    """The strongest difference between any two of `opinions`."""
    return worst(
        relate(attribute, one, other) for place, one in enumerate(opinions) for other in opinions[place + 1 :]
    )


def differing(answers: Sequence[Mapping[str, Said]]) -> list[str]:
    """Keys of the attributes on which any two of `answers` (attribute key -> what was said) differ, in the
    catalogue's order. A missing key is an untouched row; marks alone make no difference."""
    return [
        attribute.key
        for attribute in TARGETS
        if relation(attribute, [answer.get(attribute.key, NOTHING) for answer in answers]) is not Match.SAME
    ]


def standing(attribute: Attribute, opinions: Sequence[Said]) -> list[Match]:
    """For each opinion how it relates to what most say; where no two say the same more often than others,
    the strongest difference to any of the rest."""
    table = [[relate(attribute, one, other) for other in opinions] for one in opinions]
    votes = [row.count(Match.SAME) for row in table]
    most = max(votes, default=0)
    leaders = [place for place, n in enumerate(votes) if n == most]
    together = all(table[leaders[0]][place] is Match.SAME for place in leaders) if leaders else False
    found = [row[leaders[0]] for row in table] if most > 1 and together else []
    # A value in the middle may be the same as two that differ: then nobody would be marked.
    return found if worst(found) is not Match.SAME else [worst(row) for row in table]


def shuffled(voices: Iterable[T], rng: random.Random) -> list[tuple[str, T]]:
    """Gives each voice a letter, in an order that `rng` alone decides: letters do not say who is who."""
    order = list(voices)
    rng.shuffle(order)
    return [(_letter(place), voice) for place, voice in enumerate(order)]


def _letter(place: int) -> str:
    """A to Z, then AA, BA, CA and so on: gold items may have many answers."""
    more, place = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[place] + "A" * more


def middle(marks: Iterable[int | None]) -> int | None:
    """The median of the marks that were given, rounded towards the lower; None where none was."""
    given = [mark for mark in marks if mark is not None]
    return int(median(given)) if given else None


def merged(opinions: Iterable[Opinion]) -> tuple[Quote, ...]:
    """The quotes of all, each once, in the order of their places."""
    quotes = {quote for opinion in opinions for quote in opinion.evidence}
    return tuple(sorted(quotes, key=lambda quote: (quote.comment, quote.start, quote.end)))


def agreed(opinions: Sequence[Opinion]) -> Opinion:
    """What opinions that do not differ say together; NOTHING where nobody judged the attribute.

    The value as most wrote it, else the first in the order of the alphabet; marks are the median; quotes are
    merged. The order of the opinions does not matter.
    """
    said = [opinion for opinion in opinions if opinion.said]
    if not said:
        return NOTHING
    spellings = Counter(opinion.value for opinion in said)
    value = min(spellings, key=lambda words: (-spellings[words], words))
    return Opinion(
        said[0].state,
        value,
        middle(opinion.hardness for opinion in said),
        middle(opinion.certainty for opinion in said),
        merged(said),
    )


def spread(marks: Iterable[int | None]) -> tuple[int, int] | None:
    """The lowest and the highest mark where they are not all the same."""
    given = {mark for mark in marks if mark is not None}
    return (min(given), max(given)) if len(given) > 1 else None


def settled_by(decided: Iterable[str], differing: Iterable[str]) -> bool:
    """Whether the decisions (attribute keys) leave nothing open of what differs."""
    return set(differing) <= set(decided)
