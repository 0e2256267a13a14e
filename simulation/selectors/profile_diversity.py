"""How the profiles of a corpus are spread over values, and how much any two of them have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from simulation.domain import diversity
from simulation.domain.attributes import CATALOGUE, Attribute
from simulation.domain.profile_pairs import pairs_alike
from simulation.domain.profile_targets import Targets
from simulation.models import Corpus, Profile
from simulation.selectors import profile_checks

MOST = 1_000
"""So many of the latest profiles are compared with each other: pairs grow with the square."""
MOST_PAIRS = 5
MOST_VALUES = 14
"""Values of an attribute that are listed; rarer ones are summed up."""
PUBLISHED = {0: 27.0, 1: 44.0, 2: 23.0, 3: 5.0, 4: 0.5}
"""Percent of all pairs of the 300 published profiles with so many facts exactly alike: figure 3 of
Yukhymenko et al., A Synthetic Dataset for Personal Attribute Inference (arXiv 2406.07217)."""


@dataclass(frozen=True)
class Spread:
    """How many profiles have one value, and how many should by the targets."""

    value: str
    n: int
    percent: float
    aim: float | None
    """Percent; None: nobody asked for a share of this value."""


@dataclass(frozen=True)
class Overlap:
    """Pairs of profiles with exactly `alike` facts in common."""

    alike: int
    pairs: int
    percent: float
    published: float


@dataclass(frozen=True)
class Pair:
    one: tuple[str, str]
    other: tuple[str, str]
    """Public id and username."""
    alike: int


@dataclass(frozen=True)
class Diversity:
    mark: str
    profiles: int
    """Approved and proposed ones that were counted."""
    limited: bool
    """Whether there are more, which were left out."""
    spreads: Sequence[tuple[Attribute, Sequence[Spread], int]]
    """Attribute, its values, and how many profiles have a value that is not listed."""
    overlaps: Sequence[Overlap]
    pairs: Sequence[Pair]

    @property
    def n_pairs(self) -> int:
        return sum(one.pairs for one in self.overlaps)

    @property
    def widest(self) -> float:
        """The largest percent that the overlap bars show."""
        return max([max(one.percent, one.published) for one in self.overlaps], default=100.0) or 100.0


@dataclass(frozen=True)
class Measured:
    """What takes time to find, for one state of a corpus."""

    profiles: int
    limited: bool
    shares: Mapping[str, Mapping[str, int]]
    overlaps: Mapping[int, int]
    pairs: Sequence[Pair]


def of_corpus(corpus: Corpus) -> Diversity:
    """Of the profiles that were not rejected. Three queries; two while nothing has changed."""
    mark = profile_checks.mark(corpus)
    found = _measured(corpus.pk, mark)
    run = profile_checks.last_generation(corpus)
    targets = Targets.from_dict(run.plan["targets"]) if run else Targets.usual()
    return Diversity(
        mark=mark,
        profiles=found.profiles,
        limited=found.limited,
        spreads=[
            _spreads(one, found, targets.shares.get(key, {})) for key, one in CATALOGUE.items() if one.target
        ],
        overlaps=_overlaps(found.overlaps),
        pairs=found.pairs,
    )


@lru_cache(maxsize=64)
def _measured(corpus_pk: int, mark: str) -> Measured:
    rows = Profile.objects.filter(corpus_id=corpus_pk).exclude(state=Profile.REJECTED)
    latest = list(rows.order_by("-pk").values_list("public_id", "username", "facts")[: MOST + 1])
    counted = latest[:MOST][::-1]
    facts = [one[2] for one in counted]
    overlaps = diversity.overlap_histogram(facts)
    highest = max((alike for alike, pairs in overlaps.items() if pairs), default=0)
    return Measured(
        profiles=len(counted),
        limited=len(latest) > MOST,
        shares=diversity.shares(facts),
        overlaps=overlaps,
        pairs=[
            Pair(counted[one][:2], counted[other][:2], highest)
            for one, other in (pairs_alike(facts, highest, MOST_PAIRS) if highest else ())
        ],
    )


def _spreads(
    attribute: Attribute, found: Measured, weights: Mapping[str, float]
) -> tuple[Attribute, list[Spread], int]:
    numbers, total = found.shares.get(attribute.key, {}), sum(weights.values())
    known = sorted({*numbers, *weights}, key=lambda value: _place(value, attribute, numbers, weights))
    shown = known[:MOST_VALUES]
    rows = [
        Spread(
            value,
            numbers.get(value, 0),
            100 * numbers.get(value, 0) / found.profiles if found.profiles else 0.0,
            100 * weights[value] / total if value in weights and total else None,
        )
        for value in shown
    ]
    return attribute, rows, sum(numbers.get(value, 0) for value in known[len(shown) :])


def _place(
    value: str, attribute: Attribute, numbers: Mapping[str, int], weights: Mapping[str, float]
) -> tuple[float, ...]:
    """A short list of wishes keeps its order, a long one begins with what is frequent."""
    wishes = list(weights)
    if len(wishes) > MOST_VALUES:
        return (-numbers.get(value, 0), -weights.get(value, 0.0))
    return (wishes.index(value) if value in weights else len(wishes), -numbers.get(value, 0))


def _overlaps(found: Mapping[int, int]) -> list[Overlap]:
    pairs = sum(found.values())
    last = max([*(alike for alike, n in found.items() if n), *PUBLISHED])
    return [
        Overlap(
            alike,
            found.get(alike, 0),
            100 * found.get(alike, 0) / pairs if pairs else 0.0,
            PUBLISHED.get(alike, 0.0),
        )
        for alike in range(last + 1)
    ]
