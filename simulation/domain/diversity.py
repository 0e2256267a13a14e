"""How alike the profiles of a corpus are: the exact overlap of the paper's Fig. 3, near twins, shares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from simulation.domain.attributes import CATALOGUE, TARGET_KEYS
from simulation.domain.normalise import vocabulary_form
from simulation.domain.profile_groups import group
from simulation.domain.profile_targets import Targets, plan_asks

__all__ = ["TWIN_FROM", "Targets", "overlap_histogram", "plan_asks", "shares", "twins"]

Facts = Mapping[str, Any]
TWIN_FROM = 6
"""Attributes of eight with the same value from which two profiles are near twins."""


def overlap_histogram(facts_list: Sequence[Facts]) -> dict[int, int]:
    """Number of target attributes with identical values -> how many unordered pairs of profiles have it.

    Values are compared as they stand, as in the paper's figure; a value that is missing equals none. Counts
    stand for 0 up to the number of target attributes. Columns of bits are added up, one column a profile, so
    that 2,000 profiles (two million pairs) take a few hundredths of a second.
    """
    columns = [_columns(facts_list, key) for key in TARGET_KEYS]
    found = dict.fromkeys(range(len(TARGET_KEYS) + 1), 0)
    width = len(TARGET_KEYS).bit_length()
    everybody = (1 << len(facts_list)) - 1
    for place in range(len(facts_list)):
        later = everybody >> (place + 1) << (place + 1)
        planes = [0] * width
        for column in columns:
            _add(planes, column[place] & later)
        for number in found:
            found[number] += _exactly(planes, number, later).bit_count()
    return found


def _columns(facts_list: Sequence[Facts], key: str) -> list[int]:
    """For each profile the set of those with its value, as bits."""
    alike: dict[Any, int] = defaultdict(int)
    values = [_raw(facts.get(key)) for facts in facts_list]
    for place, value in enumerate(values):
        if value:
            alike[value] |= 1 << place
    return [alike[value] if value else 0 for value in values]


def _raw(value: Any) -> str:
    return "" if value is None or value == "" else repr(value)


def _add(planes: list[int], bits: int) -> None:
    """Adds 0 or 1 to the number that each column of the planes spells."""
    for level, plane in enumerate(planes):
        planes[level], bits = plane ^ bits, plane & bits


def _exactly(planes: Sequence[int], number: int, among: int) -> int:
    for level, plane in enumerate(planes):
        among &= plane if number >> level & 1 else ~plane
    return among


def twins(facts: Facts, others: Sequence[Facts], least: int = TWIN_FROM) -> list[int]:
    """Places in `others` of the profiles that share at least `least` target attributes with `facts`.

    Letter case, white space and the vocabulary's synonyms do not matter here: a model is not more original
    for writing Nurse.
    """
    mine = [(key, value) for key in TARGET_KEYS if (value := _plain(key, facts.get(key)))]
    spare = len(mine) - least
    return [place for place, other in enumerate(others) if _is_near(mine, other, spare)]


def _is_near(mine: Sequence[tuple[str, str]], other: Facts, spare: int) -> bool:
    """Whether at most `spare` of the values differ; it is looked no further than the answer needs."""
    for key, value in mine:
        if spare < 0:
            return False
        spare -= _plain(key, other.get(key)) != value
    return spare >= 0


def _plain(key: str, value: Any) -> str:
    text = str(value if value is not None else "")
    if CATALOGUE[key].values:
        text = vocabulary_form(CATALOGUE[key], text) or text
    return " ".join(text.split()).casefold()


def shares(facts_list: Sequence[Facts]) -> dict[str, dict[str, int]]:
    """Target attribute -> group -> how many profiles, largest first: ages by bands, places by country,
    education by degree, occupations by field. What is missing is not counted."""
    found = {}
    for key in TARGET_KEYS:
        counted = Counter(name for facts in facts_list if (name := group(key, facts)))
        found[key] = dict(sorted(counted.items(), key=lambda one: (-one[1], one[0])))
    return found
