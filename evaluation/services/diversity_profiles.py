"""Profiles of a corpus counted one by one: groups by attribute, ages, and a sample for pairs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from evaluation.domain.corpus_diversity import BIRTH, Group, Groups
from evaluation.metrics.diversity_groups import Table, overlap, table
from evaluation.metrics.diversity_words import Distinct
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, Kind
from simulation.domain.profile_groups import BIRTHPLACE, group

COMPARED = 5_000
"""Profiles of which all pairs are compared, at most: pairs grow with the square."""
FREE = tuple(key for key in TARGET_KEYS if CATALOGUE[key].kind not in (Kind.AGE, Kind.CHOICE))
"""Attributes whose different values are counted as they stand."""


class ProfileTally:
    """Takes the facts of profiles; keeps counts, and a sample of `most` profiles for pairs (algorithm R)."""

    def __init__(self, *, seed: int, most: int = COMPARED) -> None:
        self.profiles = 0
        self.ages: Counter[float] = Counter()
        self._random = random.Random(seed)  # noqa: S311 - a sample, no secret
        self._most = most
        self._sample: list[Mapping[str, Any]] = []
        self._groups: dict[str, Counter[str]] = {key: Counter() for key in (*TARGET_KEYS, BIRTH)}
        self._different = {key: Distinct() for key in FREE}

    def take(self, facts: Mapping[str, Any]) -> None:
        """Counts one profile."""
        self.profiles += 1
        for key in TARGET_KEYS:
            if name := group(key, facts):
                self._groups[key][name] += 1
            if CATALOGUE[key].kind is Kind.AGE and isinstance(facts.get(key), int | float):
                self.ages[facts[key]] += 1
        for key in FREE:
            if facts.get(key):
                self._different[key].add(str(facts[key]))
        if born := str(facts.get(BIRTHPLACE) or "").rpartition(",")[2].strip():
            self._groups[BIRTH][born] += 1
        self._keep({key: facts.get(key) for key in TARGET_KEYS})

    def _keep(self, facts: Mapping[str, Any]) -> None:
        if len(self._sample) < self._most:
            self._sample.append(facts)
        elif (place := self._random.randrange(self.profiles)) < self._most:
            self._sample[place] = facts

    def overlap(self) -> dict[str, int]:
        """Attributes that two profiles share -> pairs of the sample (Fig. 3)."""
        return {key: int(count) for key, count in overlap(self._sample)["counts"].items()}

    @property
    def compared(self) -> int:
        """Profiles of the sample."""
        return len(self._sample)

    def groups(self) -> dict[str, Groups]:
        """Attribute -> its groups; the countries of birth beside them."""
        found = {}
        for key, counts in self._groups.items():
            different = self._different.get(key)
            made = table(counts, self.profiles - counts.total())
            found[key] = as_groups(made, round(different.count()) if different else None)
        return found


def as_groups(made: Table, different: int | None = None) -> Groups:
    """The table as a report keeps it."""
    return Groups(
        tuple(
            Group(one.name, one.count, one.share, one.interval.low, one.interval.high) for one in made.groups
        ),
        made.n,
        made.missing,
        made.entropy,
        made.evenness,
        made.simpson,
        made.effective,
        different,
    )
