"""Which two profiles have most in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from simulation.domain.attributes import TARGET_KEYS

Facts = Mapping[str, Any]


def pairs_alike(facts_list: Sequence[Facts], least: int, most: int) -> list[tuple[int, int]]:
    """Up to `most` pairs of places with at least `least` (1 or more) target attributes in common, the latest
    first, each with its earlier place in front.

    Values are compared as they stand, as `diversity.overlap_histogram` does; one that is missing equals none.
    """
    return list(islice(_pairs(facts_list, least), most))


def _pairs(facts_list: Sequence[Facts], least: int) -> Iterator[tuple[int, int]]:
    alike: dict[tuple[str, str], int] = defaultdict(int)
    rows = [[(key, repr(facts[key])) for key in TARGET_KEYS if facts.get(key)] for facts in facts_list]
    for place, row in enumerate(rows):
        for value in row:
            alike[value] |= 1 << place
    for later in range(len(rows) - 1, 0, -1):
        # shared[n]: the earlier profiles, as bits, that share n or more of the values looked at so far.
        shared = [(1 << later) - 1] + [0] * least
        for value in rows[later]:
            for number in range(least, 0, -1):
                shared[number] |= shared[number - 1] & alike[value]
        found = shared[least]
        while found:
            earlier = found.bit_length() - 1
            yield earlier, later
            found ^= 1 << earlier
