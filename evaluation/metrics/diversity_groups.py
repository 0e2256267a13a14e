"""The groups of a corpus as counted tables: profiles by age band, degree, income, place; threads by topic.

For each table, with shares p_i of the groups that occur:

- entropy: -Σ p_i log₂ p_i in bits; 0 for one group, log₂ of the groups for equal ones. C. E. Shannon (1948).
- evenness: entropy / log₂ groups, 0 to 1; None for one group. E. C. Pielou (1966), Journal of Theoretical
  Biology 13, 131-144.
- Simpson's index of diversity: the probability that two members drawn without replacement are of different
  groups, 1 - Σ n_i (n_i - 1) / (N (N - 1)); None for fewer than two. E. H. Simpson (1949), Nature 163, 688.
- effective: 2 to the entropy, the number of equally frequent groups of the same entropy. M. O. Hill (1973),
  Ecology 54, 427-432; L. Jost (2006), Oikos 113, 363-375.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2
from typing import Any

from annotation.metrics.proportions import Interval, wilson
from evaluation.domain.paper.profiles import overlap_numbers
from simulation.domain.diversity import shares

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """`share` is of those counted, with Wilson's interval."""

    name: str
    count: int
    share: float
    interval: Interval


@dataclass(frozen=True)
class Table:
    """Groups from large to small, equal ones by name. `n` were counted, `missing` had no value."""

    groups: tuple[Group, ...]
    n: int
    missing: int
    entropy: float | None
    evenness: float | None
    simpson: float | None
    effective: float | None


def table(counts: Mapping[str, int], missing: int = 0) -> Table:
    """The table of counted groups; groups of 0 are left out. Everything is None where nothing was counted.

    Raises ValueError for a count below 0.
    """
    if missing < 0 or any(count < 0 for count in counts.values()):
        raise ValueError("a count is not below 0")
    kept = sorted(
        ((name, count) for name, count in counts.items() if count), key=lambda one: (-one[1], one[0])
    )
    n = sum(count for _, count in kept)
    if not n:
        return Table((), 0, missing, None, None, None, None)
    groups = []
    for name, count in kept:
        interval = wilson(count, n)
        assert interval is not None
        groups.append(Group(name, count, count / n, interval))
    entropy = max(0.0, -fsum(one.share * log2(one.share) for one in groups))
    pairs = sum(one.count * (one.count - 1) for one in groups)
    return Table(
        tuple(groups),
        n,
        missing,
        entropy,
        entropy / log2(len(groups)) if len(groups) > 1 else None,
        1 - pairs / (n * (n - 1)) if n > 1 else None,
        2**entropy,
    )


def profile_tables(profiles: Sequence[Facts]) -> dict[str, Table]:
    """Attribute -> its groups: ages by bands, education by degree, places by country, birthplaces by whether
    it is the country of residence, occupations by field, the others by their vocabulary."""
    return {
        key: table(counts, len(profiles) - sum(counts.values())) for key, counts in shares(profiles).items()
    }


def birthplace_countries(profiles: Iterable[Facts], key: str = "birth_city_country") -> Table:
    """The countries of birth as they stand behind the last comma, which `profile_tables` does not count."""
    counts: Counter[str] = Counter()
    missing = 0
    for facts in profiles:
        name = str(facts.get(key) or "").rpartition(",")[2].strip()
        missing += not name
        counts[name] += bool(name)
    return table(counts, missing)


def topic_tables(threads: Iterable[tuple[str, Iterable[str]]]) -> dict[str, Table]:
    """Target attribute -> the topics of its threads, letter case and white space around them aside.

    A thread counts once for each of its topics, however often it names it; `missing` are threads without.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    missing: Counter[str] = Counter()
    for target, topics in threads:
        names = {name for topic in topics if (name := topic.strip().casefold())}
        counts[target].update(names)
        missing[target] += not names
    return {target: table(counts[target], missing[target]) for target in sorted(counts)}


def overlap(profiles: Sequence[Facts]) -> dict[str, Any]:
    """Fig. 3: pairs of profiles by the number of target attributes that they share."""
    return overlap_numbers(profiles)
