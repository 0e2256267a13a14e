"""The profiles: distributions of appendix A.3 and the overlap of Fig. 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.domain.paper.summaries import Counts, counts, summary
from simulation.domain.attributes import CATALOGUE, TARGETS, Kind
from simulation.domain.diversity import overlap_histogram

Facts = Mapping[str, Any]
PLACES = tuple(one.key for one in TARGETS if one.kind is Kind.PLACE)
HOME, BIRTH = "city_country", "birth_city_country"
FREE = (*(key for key, one in CATALOGUE.items() if one.kind not in (Kind.AGE, Kind.CHOICE)), "username")
"""Fields without a fixed vocabulary: their different values are counted as they stand."""


def profile_numbers(profiles: Sequence[Facts]) -> dict[str, Any]:
    """The numbers of appendix A.3 by the names that the expected numbers have.

    Values are compared as they stand, letter case included. A place is split at `", "`; its last part is the
    country.
    """
    found: dict[str, Any] = {"n": len(profiles), "fields": sorted({key for one in profiles for key in one})}
    for one in TARGETS:
        if one.kind is Kind.AGE:
            found[one.key] = summary(Counter[float](_numbers(profiles, one.key)))
        elif one.kind is Kind.CHOICE:
            found[one.key] = counts(Counter(_values(profiles, one.key)))
    found["unique"] = {key: len(set(_values(profiles, key))) for key in FREE}
    found["unique_birth_city_names"] = len({place.split(", ")[0] for place in _values(profiles, BIRTH)})
    tuples = {place for key in PLACES for place in _values(profiles, key)}
    found["unique_location_or_birth_tuples"] = len(tuples)
    folded = {occupation.casefold() for occupation in _values(profiles, "occupation")}
    found["unique_occupation_casefolded"] = len(folded)
    found["countries"] = {key: len({_country(place) for place in _values(profiles, key)}) for key in PLACES}
    found["born_in_country_of_residence"] = sum(
        _country(str(facts[HOME])) == _country(str(facts[BIRTH]))
        for facts in profiles
        if facts.get(HOME) and facts.get(BIRTH)
    )
    return found


def _values(profiles: Iterable[Facts], key: str) -> list[str]:
    return [str(facts[key]) for facts in profiles if facts.get(key)]


def _numbers(profiles: Iterable[Facts], key: str) -> list[float]:
    return [facts[key] for facts in profiles if isinstance(facts.get(key), int | float)]


def _country(place: str) -> str:
    return place.split(", ")[-1]


def overlap_numbers(profiles: Sequence[Facts]) -> dict[str, Any]:
    """Fig. 3: of all unordered pairs of profiles, how many share 0, 1, 2 .. of the eight attributes.

    Values are compared as they stand; the income in words is not among the eight.
    """
    histogram = overlap_histogram(profiles)
    pairs = sum(histogram.values())
    found: dict[str, Any] = {"pairs": pairs, "counts": counts(histogram)}
    if pairs:
        shares = {str(number): times / pairs for number, times in histogram.items() if times}
        found["fraction"] = Counts(shares)
        found["fraction_at_most_1"] = (histogram[0] + histogram[1]) / pairs
    return found
