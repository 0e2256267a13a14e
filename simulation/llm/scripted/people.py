"""Invents people: what a wish leaves open comes from the bank of places and jobs, so that all fits together.

About one in twenty has something that does not fit, for whoever checks profiles to find.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.incomes import country_code, typical_text
from simulation.domain.normalise import vocabulary_form
from simulation.domain.profile_ages import least_for_education
from simulation.llm.scripted.bank import countries, data
from simulation.llm.scripted.brief import Brief

LINE = re.compile(r"^(\w+):\s*(.+)$", re.M)
MISMATCHES = 0.05
TIMES = {"no income": 0.03, "low": 0.6, "middle": 1.05, "high": 1.9, "very high": 4.2}
"""A level of income as a multiple of what is typical in the country."""
YEARS = {"In College": (18, 27), "PhD": (28, 75), "Master's": (24, 70)}


def answer(brief: Brief) -> str:
    """A person in the form asked for."""
    person = invent(_wishes(brief.block("wishes")), brief.chance("person"), _fields(brief.block("fields")))
    if brief.json:
        return json.dumps(person, ensure_ascii=False)
    return "\n".join(f"{key}: {value}" for key, value in person.items())


def _wishes(text: str) -> dict[str, str]:
    return {key: words.strip() for key, words in LINE.findall(text)}


def _fields(text: str) -> list[str]:
    return [key for key, _ in LINE.findall(text)] or list(CATALOGUE)


def invent(wishes: Mapping[str, str], rng: random.Random, fields: list[str]) -> dict[str, Any]:
    """Facts for the fields: what is wished, and what goes with it."""
    known = {key: _wished(CATALOGUE[key], words) for key, words in wishes.items() if key in CATALOGUE}
    home = known.get("city_country") or rng.choice(sorted(_homes()))
    level = known.get("education") or rng.choice(["HS Diploma", "College Degree", "Master's"])
    age = known.get("age") or str(rng.randint(*YEARS.get(level, (20, 72))))
    degree, job = _work(wishes.get("occupation", ""), level, int(age), rng)
    income = known.get("income_level") or rng.choice(["low", "middle", "middle", "high"])
    person: dict[str, Any] = {
        "age": int(age),
        "city_country": _city(home, rng),
        "birth_city_country": _city(known.get("birth_city_country") or home, rng),
        "education": degree,
        "occupation": job,
        "income_level": income,
        "income": typical_text(country_code(home), TIMES.get(income, 1.0) * rng.uniform(0.9, 1.15))
        or "unknown",
    }
    for key in fields:
        if key in CATALOGUE and key not in person:
            person[key] = known.get(key) or _any(CATALOGUE[key], rng)
    if rng.random() < MISMATCHES:
        _spoil(person, rng)
    return {key: person[key] for key in fields if key in person}


def _wished(attribute: Attribute, words: str) -> str:
    """The value within the words of a wish; empty where there is none that we know."""
    if attribute.kind is Kind.AGE:
        found = re.search(r"\d{2}", words)
        return found[0] if found else ""
    if attribute.kind is Kind.PLACE:
        named = [name for name in _homes() if name.casefold() in words.casefold()]
        return max(named, key=len, default="")
    if attribute.values:
        known = {value: value for value in attribute.values}
        for language in attribute.languages.values():
            known |= {word: value for value, word in language.values.items()}
        named = [word for word in known if re.search(rf"\b{re.escape(word)}(?!\w)", words)]
        return vocabulary_form(attribute, words) or known.get(max(named, key=len, default=""), "")
    return words


def _homes() -> Mapping[str, Any]:
    return {name: one for name, one in countries().items() if typical_text(country_code(name), 1)}


def _city(country: str, rng: random.Random) -> str:
    known = countries().get(country)
    return f"{rng.choice(known.cities)}, {country}" if known else country


def _work(wish: str, level: str, age: int, rng: random.Random) -> tuple[str, str]:
    """(education, occupation) of a field, on a level; the old are retired."""
    rows = data("people")["field"]
    named = [row for row in rows if row["name"] in wish]
    row = named[0] if named else rng.choice(rows)
    subject = rng.choice(row["subjects"].split("|"))
    if level == "In College":
        return f"studying towards a Bachelors in {subject}", f"part-time {rng.choice(row['side'].split('|'))}"
    learned = level in ("College Degree", "Master's", "PhD")
    job = rng.choice(row[{"PhD": "doctoral"}.get(level, "learned" if learned else "plain")].split("|"))
    if age >= 67 or "retired" in wish:
        job = f"retired {job}"
    words = {"College Degree": "Bachelors in", "Master's": "Masters in", "PhD": "PhD in"}
    degree = (
        f"{words[level]} {subject}"
        if learned
        else {
            "No Highschool": "left school without a diploma",
            "In Highschool": "currently in high school",
        }.get(level, "High School Diploma")
    )
    return degree, job


def _any(attribute: Attribute, rng: random.Random) -> str:
    if attribute.kind is Kind.AGE:
        return str(rng.randint(20, 70))
    if attribute.values:
        return rng.choice(attribute.values)
    if attribute.kind is Kind.PLACE:
        return _city(rng.choice(sorted(_homes())), rng)
    return f"nothing special about {attribute.label.lower()}"


def _spoil(person: dict[str, Any], rng: random.Random) -> None:
    """One thing that does not fit the rest."""
    slip = rng.choice(["young", "currency", "level", "city"])
    if slip == "young" and least_for_education("PhD") > 19:
        person |= {"age": 19, "education": "PhD in History"}
    elif slip == "currency":
        person["income"] = "45 thousand Swiss francs" if "Switz" not in person["city_country"] else "900 baht"
    elif slip == "level":
        person |= {"income_level": "low", "occupation": "surgeon", "education": "High School Diploma"}
    else:
        city = person["city_country"].partition(", ")[0]
        person["city_country"] = f"{city}, {'Norway' if 'Norway' not in person['city_country'] else 'Peru'}"
