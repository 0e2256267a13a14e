"""Values of a profile in the groups in which diversity is counted: bands of age, countries, fields."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.gazetteer import gazetteer
from simulation.domain.normalise import squeeze, vocabulary_form
from simulation.domain.places import readings
from simulation.domain.schooling import schooling

SAME, ANOTHER = "same country", "another country"
"""Groups of birthplaces, beside the country that somebody lives in."""
HOME, BIRTHPLACE, EDUCATION, OCCUPATION = "city_country", "birth_city_country", "education", "occupation"
OTHER = "other"
BAND = re.compile(r"^(\d{2})-(\d{2})$")


@cache
def data() -> Mapping[str, Any]:
    """The file of targets and fields; not to be changed."""
    return tomllib.loads(Path(__file__).with_name("profile_targets.toml").read_text(encoding="utf-8"))


def band(text: str) -> tuple[int, int] | None:
    """Lowest and highest age of a band such as "18-24"; None for anything else."""
    found = BAND.match(text)
    low, high = (int(found[1]), int(found[2])) if found else (1, 0)
    return (low, high) if low <= high else None


def group(key: str, facts: Mapping[str, Any], bands: tuple[str, ...] = ()) -> str:
    """The group of one attribute of a profile; empty where the value is missing or says nothing."""
    attribute, text = CATALOGUE[key], squeeze(str(facts.get(key) or ""))
    if not text:
        return ""
    if attribute.kind is Kind.AGE:
        return _band_of(text, bands or tuple(data()["targets"]["age"]))
    if key == BIRTHPLACE:
        home = country(str(facts.get(HOME) or ""))
        return (SAME if country(text) == home else ANOTHER) if home else ""
    if attribute.kind is Kind.PLACE:
        return country(text)
    if key == EDUCATION:
        return schooling(text).category or OTHER
    if key == OCCUPATION:
        return field(text)
    return vocabulary_form(attribute, text) or text


def _band_of(text: str, bands: tuple[str, ...]) -> str:
    if not text.isdecimal():
        return ""
    spans = {name: band(name) for name in bands}
    return next((name for name, span in spans.items() if span and span[0] <= int(text) <= span[1]), OTHER)


def country(place: str) -> str:
    """The country of "City, Country" as we call it; the last part as it stands where the list has none."""
    last = place.rpartition(",")[2].strip()
    code = next((one.country for one, _ in readings(place)[:1] if one.country), "")
    return gazetteer().countries[code].name if code in gazetteer().countries else last


@cache
def _fields() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(words)) for name, words in data()["fields"].items())


def field(occupation: str) -> str:
    """The field of work that an occupation belongs to."""
    words = occupation.casefold()
    return next((name for name, sign in _fields() if sign.search(words)), OTHER)
