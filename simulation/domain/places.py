"""Places as people write them -> which place is meant, how two of them relate, what a beginning may mean.

Nothing here rewrites what a person typed: it compares and it suggests.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from simulation.domain.gazetteer import Gazetteer, fold, gazetteer
from simulation.domain.relations import Match, is_slip

LARGE = 600_000
"""People: from here on a bare name means the city before the part of a country that is called the same."""
READINGS = 6
_BRACKETS = re.compile(r"\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Place:
    """As exact as it was given: empty fields were not said. `city` is the list's number for it, or the folded
    word where the list has no such city in that country."""

    continent: str = ""
    country: str = ""
    region: str = ""
    city: int | str = ""

    def holds(self, other: Place) -> bool:
        """Whether `other` is a place within this one; no place is within itself."""
        if self.city != "":
            return False
        if self.region:
            return other.city != "" and (self.country, self.region) == (other.country, other.region)
        if self.country:
            return self.country == other.country and self != other
        return self.continent == other.continent and self != other


def normal(text: str) -> str | None:
    """ "City, Country" or "Country" of the place that `text` most likely means; None where it is unknown.

    Other names, languages and abbreviations are understood ("Wien", "NYC", "UK"), and a bare city stands for
    its largest bearer. A smaller bearer of a name keeps its region: "Portland, Maine, United States".
    """
    for place, is_firm in readings(text)[:1]:
        if is_firm and not isinstance(place.city, str):
            return _name(place)
        if is_firm and place.city == "":
            return _name(place)
    return None


@lru_cache(maxsize=4096)
def relation(one: str, other: str) -> Match:
    """How two places relate.

    The same place is the same, however it is written. A country or region against a place in it is less
    precise (the judge's rule for places), and so is a name that may be the other's: "Cordoba", without
    country, against the one in Spain. A city unknown to the list that is a slip of the pen away from the
    other's, in the same country, is the same. Places of which the list knows nothing are compared as words:
    "Graz, Austria" against "Austria" is less precise by its parts.
    """
    if fold(one) == fold(other):
        return Match.SAME
    ones, others = readings(one), readings(other)
    if not ones or not others:
        parts, more = sorted(({*_parts(one)}, {*_parts(other)}), key=len)
        if parts == more:
            return Match.SAME
        return Match.LESS_PRECISE if parts and parts < more else Match.DIFFERENT
    (first, is_firm), (second, is_also) = ones[0], others[0]
    if is_firm and is_also and (first == second or _misspelt(first, second)):
        return Match.SAME
    either = {place for place, _ in ones}
    if any(place in either for place, _ in others):
        return Match.LESS_PRECISE
    if any(place.holds(second) for place, _ in ones) or any(place.holds(first) for place, _ in others):
        return Match.LESS_PRECISE
    return Match.DIFFERENT


def _misspelt(one: Place, other: Place) -> bool:
    """Same country, and one of the two is no city of the list but nearly the other."""
    if one.country != other.country or not (isinstance(one.city, str) or isinstance(other.city, str)):
        return False
    words = [
        place.city if isinstance(place.city, str) else fold(gazetteer().cities[place.city].name)
        for place in (one, other)
    ]
    return all(words) and is_slip(words[0], words[1])


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[tuple[Place, bool], ...]:
    """What `text` may mean, likeliest first; False beside a reading that leaves a part of `text` aside.

    Countries before regions before cities, but a large city before a region of its name ("New York").
    """
    list_ = gazetteer()
    parts = _parts(text)
    if not parts:
        return ()
    if len(parts) == 1:
        return tuple((place, True) for place in _bare(list_, parts[0]))
    scopes = _scopes(list_, parts[-1])
    if not scopes:
        return tuple((place, False) for place in _bare(list_, parts[0]))
    found = [place for scope in scopes for place in _within(list_, parts[0], parts[1:-1], scope)]
    known = [place for place in found if not isinstance(place.city, str) or place.city == ""]
    return tuple((place, True) for place in (known or found)[:READINGS])


def _parts(text: str) -> list[str]:
    parts = (fold(part) for part in _BRACKETS.sub(" ", text).split(","))
    return [part.removeprefix("the ") if part != "the hague" else part for part in parts if part]


def _bare(list_: Gazetteer, key: str) -> list[Place]:
    found = []
    if key in list_.continents:
        found.append(Place(list_.continents[key]))
    country = list_.country_keys.get(key)
    if country:
        found.append(_country(list_, country))
    cities = [_city(list_, number) for number in _cities(list_, key)]
    # A postal code such as "or" says a state only behind a city.
    regions = [_region(list_, *one) for one in list_.region_keys.get(key, ()) if len(key) > 3]
    large = bool(cities) and list_.cities[int(cities[0].city)].population >= LARGE
    found += cities[:1] + regions + cities[1:] if large else regions + cities
    return list(dict.fromkeys(found))[:READINGS]


def _cities(list_: Gazetteer, key: str, country: str = "", region: str = "") -> list[int]:
    """Numbers of the cities called `key`, likeliest first: the larger one, other names counting a third; in
    a named country first those that are really called so."""
    found: dict[int, tuple[bool, float]] = {}
    for number, is_own in list_.named(key):
        city = list_.cities[number]
        if (country and city.country != country) or (region and city.region != region):
            continue
        weight = (bool(country) and is_own, city.population * (1 if is_own else 1 / 3))
        found[number] = max(weight, found.get(number, weight))
    return sorted(found, key=lambda number: found[number], reverse=True)


def _scopes(list_: Gazetteer, key: str) -> list[Place]:
    country = list_.country_keys.get(key)
    found = [_country(list_, country)] if country else []
    return found + [_region(list_, *one) for one in list_.region_keys.get(key, ())]


def _within(list_: Gazetteer, key: str, between: list[str], scope: Place) -> Iterator[Place]:
    """The places called `key` in `scope`; parts in between are the region where the list knows it."""
    for part in between:
        for country, region in list_.region_keys.get(part, ()):
            if country == scope.country:
                scope = _region(list_, country, region)
    if scope.city != "":  # a city-state
        scope = replace(scope, city="")
    cities = _cities(list_, key, scope.country, scope.region)
    for number in cities:
        yield _city(list_, number)
    regions = [one for one in list_.region_keys.get(key, ()) if one[0] == scope.country and len(key) > 3]
    for one in regions:
        yield _region(list_, *one)
    if list_.country_keys.get(key) == scope.country:
        yield _country(list_, scope.country)
    if not cities and not regions:
        yield replace(scope, city=key)


def _country(list_: Gazetteer, code: str) -> Place:
    country = list_.countries[code]
    if code in list_.city_states:
        for number in _cities(list_, fold(country.name), code)[:1]:
            return _city(list_, number)
    return Place(country.continent, code)


def _region(list_: Gazetteer, country: str, region: str) -> Place:
    return Place(list_.countries[country].continent, country, region)


def _city(list_: Gazetteer, number: int) -> Place:
    city = list_.cities[number]
    country = list_.countries.get(city.country)
    return Place(country.continent if country else "", city.country, city.region, number)


def _name(place: Place) -> str:
    """The form in which a place is suggested."""
    list_ = gazetteer()
    if not place.country:
        return next(key.title() for key, code in list_.continents.items() if code == place.continent)
    country = list_.countries[place.country].name
    region = list_.regions.get((place.country, place.region), "")
    if isinstance(place.city, int):
        city = list_.cities[place.city].name
        is_first = _cities(list_, fold(city), place.country)[0] == place.city
        return f"{city}, {country}" if is_first or not region else f"{city}, {region}, {country}"
    return f"{region}, {country}" if region else country


def suggest(text: str, limit: int = 8) -> list[str]:
    """Up to `limit` places that begin with `text`, in canonical form.

    First what is called exactly that, then what begins so by its people: a city with all of them, under
    another name with a twentieth, a country with a tenth. A part behind a comma is the beginning of the
    country or region. Where nothing begins so, cities a slip of the fingers away.
    """
    list_ = gazetteer()
    key, _, scope = (fold(part) for part in text.partition(","))
    if not key or limit < 1:
        return []
    weights: dict[int | str, float] = {}
    for number, is_own in list_.beginning(key):
        if (is_own or len(key) > 2) and (not scope or _is_in(list_, number, scope)):
            weight = list_.cities[number].population * (1 if is_own else 1 / 20)
            weights[number] = max(weight, weights.get(number, 0))
    if not scope:
        for name, code in list_.country_keys.items():
            if name.startswith(key):
                weights[code] = list_.countries[code].population / 10
    exact = [] if scope else [place for place, _ in readings(key)[:2]]
    best = heapq.nlargest(limit, weights, key=weights.__getitem__)
    found = exact + [_city(list_, one) if isinstance(one, int) else _country(list_, one) for one in best]
    return list(dict.fromkeys(_name(place) for place in found or _nearly(list_, key, scope, limit)))[:limit]


def _is_in(list_: Gazetteer, number: int, scope: str) -> bool:
    """Whether a city lies in a country or region whose name begins with `scope`."""
    city = list_.cities[number]
    country = list_.countries.get(city.country)
    if country and fold(country.name).startswith(scope):
        return True
    if list_.country_keys.get(scope) == city.country:
        return True
    region = (city.country, city.region)
    return fold(list_.regions.get(region, "")).startswith(scope) or region in list_.region_keys.get(scope, ())


def _nearly(list_: Gazetteer, key: str, scope: str, limit: int) -> list[Place]:
    """Large cities whose name begins with the same two letters and is a slip away from `key`."""
    near = {
        number
        for number, is_own in list_.beginning(key[:2])
        if is_own
        and is_slip(key, fold(list_.cities[number].name))
        and (not scope or _is_in(list_, number, scope))
    }
    return [_city(list_, number) for number in sorted(near)[:limit]] if len(key) > 4 else []
