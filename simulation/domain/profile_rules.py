"""Whether a profile can be kept, and whether its facts fit together.

What an attribute may hold is judged by its kind in the catalogue, so that one that is added there is checked
without code. Whether facts fit together is asked of the attributes we know something about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulation.domain import profile_ages
from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.gazetteer import fold, gazetteer
from simulation.domain.incomes import (
    currencies_of,
    currency_name,
    is_foreign,
    level_span,
    multiple,
    read_income,
)
from simulation.domain.normalise import BadValue, canonical, squeeze, vocabulary_form
from simulation.domain.places import readings

YOUNGEST, OLDEST = 18, 99
LONGEST_STYLE = 5000
"""Characters."""


@dataclass(frozen=True)
class Warning:
    """Something that does not fit together; a person decides whether it is meant."""

    rule: str
    attributes: tuple[str, ...]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """As `Profile.warnings` keeps it."""
        return {"rule": self.rule, "attributes": list(self.attributes), "text": self.text}


def normalised(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as they are kept: white space squeezed, closed vocabularies in the catalogue's spelling, ages as
    numbers.

    Only keys of the catalogue, in its order. What cannot be read stays as it is, for `problems` to name.
    """
    return {key: _normal(CATALOGUE[key], facts[key]) for key in CATALOGUE if key in facts}


def _normal(attribute: Attribute, value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return ""
    text = squeeze(str(value))
    if attribute.kind is Kind.AGE:
        return int(text) if re.fullmatch(r"[0-9]{1,3}", text) else text
    return vocabulary_form(attribute, text) or text if attribute.kind is Kind.CHOICE else text


def problems(facts: Mapping[str, Any]) -> dict[str, str]:
    """Attribute key -> what must be mended before the profile can be kept. Empty: it can."""
    found: dict[str, str] = {}
    known = normalised(facts)
    for attribute in CATALOGUE.values():
        value = known.get(attribute.key, "")
        problem = _problem(attribute, value) if value != "" else "Missing: write a value."
        if problem:
            found[attribute.key] = problem
    return found


def _problem(attribute: Attribute, value: Any) -> str:
    if attribute.kind is Kind.AGE:
        fits = isinstance(value, int) and YOUNGEST <= value <= OLDEST
        return "" if fits else f"A whole number from {YOUNGEST} to {OLDEST}."
    try:
        canonical(attribute, str(value))
    except BadValue as bad:
        return bad.problem
    if attribute.kind is Kind.PLACE:
        parts = str(value).split(", ")
        if len(parts) != 2 or not all(part.strip(" ,") for part in parts):
            return "Write City, Country: with exactly one comma and a blank behind it."
    return ""


def warnings(facts: Mapping[str, Any], style: str = "") -> list[Warning]:
    """What does not fit together, in the order of the catalogue. Of what is missing nothing is said."""
    known = {key: value for key, value in normalised(facts).items() if value != ""}
    found: list[Warning] = []
    for rule, keys, check in RULES:
        if all(key in known for key in keys) and (text := check(*(known[key] for key in keys))):
            found.append(Warning(rule, keys, text))
    for attribute in CATALOGUE.values():
        if attribute.kind is Kind.PLACE and (text := _place(str(known.get(attribute.key, "")))):
            found.append(Warning("place", (attribute.key,), text))
    return found + _style(known, style)


def _aged(check: Callable[[int, str], str]) -> Callable[..., str]:
    """The check, for an age that is a number."""
    return lambda age, other: check(age, str(other)) if isinstance(age, int) else ""


def _currency(text: Any, place: Any) -> str:
    income, country = read_income(str(text)), _country(str(place))
    if income is None or not is_foreign(income, country):
        return ""
    own = " or ".join(currency_name(code) for code in currencies_of(country))
    return f"“{text}”: in {gazetteer().countries[country].name} people earn {own}."


def _level(text: Any, level: Any, place: Any) -> str:
    income, span = read_income(str(text)), level_span(str(level))
    times = multiple(income, _country(str(place))) if income else None
    if times is None or span is None or span[0] <= times <= span[1]:
        return ""
    much = f"about {times:.1f} times" if times >= 0.1 else "a small part of"
    return f"“{text}” is {much} what is typical there: not {level}."


def _country(place: str) -> str:
    """The code of the country of "City, Country"; empty where the list does not know it."""
    return next((one.country for one, _ in readings(place)[:1]), "")


def _place(text: str) -> str:
    city, _, country = text.rpartition(", ")
    if not city:
        return ""
    found = readings(text)
    if not found or not found[0][1]:
        return f"We know no country or region that is called “{country}”."
    if not isinstance(found[0][0].city, str) or found[0][0].city == "":
        return ""
    elsewhere = [one for one, _ in readings(city) if isinstance(one.city, int)]
    if elsewhere:
        other = gazetteer().countries[elsewhere[0].country].name
        return f"We know no {city} in {country}, but one in {other}."
    return f"We know no {city} in {country}: it may be small, or misspelt."


def _style(known: Mapping[str, Any], style: str) -> list[Warning]:
    """A style may be described by where somebody comes from; its example is what comments are modelled on."""
    if not style.strip():
        return [Warning("style_missing", (), "There is no writing style yet.")]
    words = fold(style.rpartition("Example:")[2])
    found = []
    for attribute in CATALOGUE.values():
        value = str(known.get(attribute.key, ""))
        if attribute.kind is Kind.PLACE:
            value = value.partition(", ")[0]
        elif attribute.kind is not Kind.AGE:
            continue
        if value and re.search(rf"\b{re.escape(fold(value))}\b", words):
            text = f"The example comment of the style says “{value}”: comments would copy it."
            found.append(Warning("style_tells", (attribute.key,), text))
    return found


RULES: tuple[tuple[str, tuple[str, ...], Callable[..., str]], ...] = (
    ("age_education", ("age", "education"), _aged(profile_ages.age_and_education)),
    ("age_occupation", ("age", "occupation"), _aged(profile_ages.age_and_occupation)),
    ("age_relationship", ("age", "relationship_status"), _aged(profile_ages.age_and_relationship)),
    ("education_occupation", ("education", "occupation"), profile_ages.education_and_occupation),
    ("income_currency", ("income", "city_country"), _currency),
    ("income_level", ("income", "income_level", "city_country"), _level),
)
"""Name, what it looks at, and the check: a sentence where something does not fit."""
