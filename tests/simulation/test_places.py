"""Places: which one is meant, how two relate, what is suggested. Only public lists are asked."""

import gzip
import json
import sys

import pytest

from simulation.domain import gazetteer, places
from simulation.domain.relations import Match
from tests.published import FOLDER, needs_published_data

SAME, LESS, DIFFERENT = Match.SAME, Match.LESS_PRECISE, Match.DIFFERENT


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("graz, österreich", "Graz, Austria"),
        ("Wien", "Vienna, Austria"),
        ("Zuerich", "Zürich, Switzerland"),
        ("SAO  PAULO, brasil", "São Paulo, Brazil"),
        ("NYC", "New York, United States"),
        ("London, UK", "London, United Kingdom"),
        ("Edinburgh, Scotland", "Edinburgh, United Kingdom"),
        ("Abidjan, Ivory Coast", "Abidjan, Ivory Coast"),
        ("Côte d'Ivoire", "Ivory Coast"),
        ("holland", "Netherlands"),
        ("The Hague, the Netherlands", "The Hague, Netherlands"),
        ("singapore", "Singapore, Singapore"),
        ("Hong Kong", "Hong Kong, China"),
        ("Austin, TX", "Austin, United States"),
        ("Portland, Maine", "Portland, Maine, United States"),
        ("Portland, Maine, United States", "Portland, Maine, United States"),
        ("Ohio", "Ohio, United States"),
        ("Lisbon, Portugal (maybe Brazil)", "Lisbon, Portugal"),
        ("New Delhi, India", "New Delhi, India"),
        ("Frankfurt", "Frankfurt am Main, Germany"),
    ],
)
def test_other_names_languages_and_abbreviations_are_understood(written, meant):
    assert places.normal(written) == meant
    assert places.normal(meant) == meant


@pytest.mark.parametrize("unknown", ["", "  ", ",", "Tatooine", "Smallville, Kansas", "Graz, Tatooine", "or"])
def test_what_the_list_does_not_know_has_no_normal_form(unknown):
    assert places.normal(unknown) is None


@pytest.mark.parametrize(
    ("one", "other", "match"),
    [
        ("Graz", "graz, Austria", SAME),
        ("Munich, Germany", "München, Deutschland", SAME),
        ("Graz, Austria", "Austria", LESS),
        ("Europe", "Graz, Austria", LESS),
        ("Scotland", "UK", LESS),
        ("Cleveland, Ohio", "Ohio", LESS),
        ("Cleveland, Ohio", "Texas", DIFFERENT),
        ("Graz, Austria", "Linz, Austria", DIFFERENT),
        ("Paris, Texas", "Paris, France", DIFFERENT),
        ("Portland, Maine", "Portland, Oregon", DIFFERENT),
        ("London", "Canada", DIFFERENT),
        # a name that several places bear may be the other's
        ("Cordoba", "Cordoba, Spain", LESS),
        ("Portland, USA", "Portland, Maine", LESS),
        ("Georgia", "Atlanta, USA", LESS),
        ("Georgia", "Tbilisi, Georgia", LESS),
        # slips of the fingers, only where the list knows no such city
        ("Bejiing, China", "Beijing, China", SAME),
        ("Dehli, India", "Delhi", SAME),
        ("Dallas, USA", "Dalls, Canada", DIFFERENT),
        # unknown places: as words, and by their parts
        ("Smallville, Kansas", "USA", LESS),
        ("tatooine, outer rim", "Outer Rim, Tatooine", SAME),
        ("Tatooine, Outer Rim", "Outer Rim", LESS),
        ("Tatooine", "Graz", DIFFERENT),
        ("", "Graz", DIFFERENT),
    ],
)
def test_places_relate_by_what_lies_in_what(one, other, match):
    assert places.relation(one, other) is match
    assert places.relation(other, one) is match


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("mün", "Munich, Germany"),
        ("MUNICH", "Munich, Germany"),
        ("wien", "Vienna, Austria"),
        ("graz, au", "Graz, Austria"),
        ("london, ont", "London, Canada"),
        ("port, main", "Portland, Maine, United States"),
        ("uk", "United Kingdom"),
        ("usa", "United States"),
        ("holl", "Netherlands"),
        ("aus", "Australia"),
        ("san fr", "San Francisco, United States"),
        ("guaquil", "Guayaquil, Ecuador"),
    ],
)
def test_the_likeliest_place_is_suggested_first(typed, first):
    assert places.suggest(typed)[0] == first


def test_suggestions_are_few_distinct_and_canonical():
    for typed in ("s", "san", "new", "c", "ivory", "the", "北京", "x" * 100):
        found = places.suggest(typed)
        assert len(found) == len(set(found)) <= 8
        assert [places.normal(one) for one in found] == found
    assert "Ivory Coast" in places.suggest("ivo")
    assert places.suggest("san", limit=3) == places.suggest("san")[:3]


@pytest.mark.parametrize("nothing", ["", " ", ",", ", austria", "qqqqqq", "%", "\x00"])
def test_nothing_is_suggested_for_nothing(nothing):
    assert places.suggest(nothing) == []


def test_the_list_is_compact_and_read_once():
    list_ = gazetteer.gazetteer()
    assert gazetteer.gazetteer() is list_
    assert len(list_.cities) > 30_000
    size = sys.getsizeof(list_.keys) + sys.getsizeof(list_.entries) + sys.getsizeof(list_.cities)
    size += sum(map(sys.getsizeof, list_.keys))
    size += sum(sys.getsizeof(city) + sys.getsizeof(city.name) + 28 for city in list_.cities)
    assert size < 20 * 1024 * 1024


@pytest.mark.published
@needs_published_data
def test_every_place_of_the_published_profiles_is_known_but_for_two_slips():
    profiles = json.loads(gzip.decompress((FOLDER / "profiles.json.gz").read_bytes()))
    written = {one[key] for one in profiles.values() for key in ("city_country", "birth_city_country")}
    assert len(written) > 190
    assert {place for place in written if places.normal(place) is None} == {
        "Bejiing, China",
        "Guaquil, Ecuador",
    }
