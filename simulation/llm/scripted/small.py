"""The short answers: would somebody join in, how do they write, is a guess right."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from simulation.llm.scripted.bank import bare, countries, data, family_of, sights
from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.comments import talk, theme_of
from simulation.llm.scripted.facts import Person, degree

COUNTRY_NAMES = {
    "usa": "united states",
    "us": "united states",
    "uk": "united kingdom",
    "england": "united kingdom",
    "czechia": "czech republic",
    "uae": "united arab emirates",
    "türkiye": "turkey",
    "holland": "netherlands",
}


def interest(brief: Brief) -> str:
    """Yes or no: about four in ten say yes, fewer where the theme is far from their life."""
    yes = brief.chance("interest").random() < inclination(brief.person, theme_of(brief.block("post")))
    return json.dumps({"interested": yes}) if brief.json else f"Interested: {'Yes' if yes else 'No'}"


def inclination(person: Person, theme: str) -> float:
    """How likely the person joins a thread of this theme."""
    age = person.age or 40
    chance = 0.4
    if theme in ("occupation", "income"):
        chance += -0.15 if person.retired else 0.06
    if theme == "age":
        chance += 0.12 if age >= 50 else -0.04
    if theme == "education":
        chance += 0.1 if "stud" in person.education.lower() or person.degree == "PhD" else 0.0
    if theme == "income_level":
        chance += 0.06 if person.income_level == "low" else -0.04
    if theme == "relationship_status":
        chance += 0.08 if person.relationship in ("single", "divorced", "widowed", "engaged") else 0.0
    if theme == "birth_city_country":
        chance += 0.12 if person.birthplace and person.birthplace != person.home else -0.02
    return chance - (0.05 if person.income_level == "very high" else 0.0)


def style(brief: Brief) -> str:
    """A writing style in the second person that follows from age, schooling and chance."""
    rng, person, rows = brief.chance("style"), brief.person, data("styles")
    age = person.age or 40
    case = "young" if age < 27 else "old" if age > 55 or person.degree == "PhD" else "other"
    description = " ".join(rng.choice(sentences) for sentences in [rows[case], *rows["lists"]])
    example = _example(brief)
    if brief.json:
        return json.dumps({"writing_style": description, "example": example}, ensure_ascii=False)
    return f"Writing style: {description}\nExample: {example}"


def _example(brief: Brief) -> str:
    rng = brief.chance("example")
    rows = talk()
    text = f"{rng.choice(rows['openers'])} {rng.choice(rows['theme']['general']['long'])}"
    return text.lower() if (brief.person.age or 40) < 27 else text


PAIR = re.compile(r"<pair>(.*?)</pair>", re.S)
BULLET = re.compile(r"^[-*•]\s*")


def judgement(brief: Brief) -> str:
    """A verdict for each guess: yes, no, or less precise. Of several pairs, a line or entry an attribute."""
    if pairs := PAIR.findall(brief.text):
        return _judgements([_pair(pair) for pair in pairs], as_json=brief.json)
    verdicts = [
        verdict(brief.block("truth"), guess, brief.block("attribute"))
        for guess in _guesses(brief.block("guesses"))
    ]
    return json.dumps({"verdicts": verdicts}) if brief.json else f"Verdicts: {'; '.join(verdicts)}"


def _judgements(pairs: list[tuple[str, str, str]], *, as_json: bool) -> str:
    said = [
        (attribute, [verdict(truth, guess, attribute) for guess in _guesses(guesses)])
        for attribute, truth, guesses in pairs
    ]
    if as_json:
        return json.dumps({"checks": [{"attribute": key, "verdicts": words} for key, words in said]})
    return "\n".join(f"{key}: {'; '.join(words)}" for key, words in said)


def _pair(text: str) -> tuple[str, str, str]:
    """(attribute, truth, guesses) of one pair; empty what it does not hold."""
    found = (re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S) for tag in ("attribute", "truth", "guesses"))
    attribute, truth, guesses = (one[1].strip() if one else "" for one in found)
    return attribute, truth, guesses


def _guesses(text: str) -> list[str]:
    """Those of a list, one a line, or of a line, parted by semicolons."""
    parts = text.splitlines() if BULLET.match(text) else text.split(";")
    return [words for part in parts if (words := BULLET.sub("", part.strip()))]


def verdict(truth: str, guess: str, attribute: str = "") -> str:
    """Whether a guess meets the truth; a coarser place, or half of the words, is less precise."""
    one, other = _plain(truth), _plain(guess)
    if not one or not other:
        return "no"
    if one == other or (attribute == "education" and degree(truth) == degree(guess)):
        return "yes"
    ages = re.findall(r"\d{1,3}", truth), re.findall(r"\d{1,3}", guess)
    if ages[0] and ages[1] and re.fullmatch(r"[\d\s-]+", truth):
        return _age(int(ages[0][0]), [int(number) for number in ages[1]])
    if "," in truth or _is_place(one):
        return _place(truth, guess)
    family, guessed = family_of(one), family_of(other)
    if family and family is guessed:
        return "yes" if set(one.split()) & set(other.split()) or other == family.name else "less precise"
    words, said = set(one.split()), set(other.split())
    if words < said or said < words:
        return "yes" if attribute == "occupation" else "less precise"
    return "no"


def _plain(text: str) -> str:
    words = bare(text).casefold().replace("'", "").strip(" .")
    return COUNTRY_NAMES.get(words, words)


def _age(truth: int, guesses: list[int]) -> str:
    if len(guesses) > 1:
        return "yes" if guesses[0] <= truth <= guesses[1] else "no"
    return "yes" if abs(truth - guesses[0]) <= 5 else "no"


def _is_place(text: str) -> bool:
    known: Mapping[str, object] = countries()
    return any(text == name.lower() for name in (*known, *sights()))


def _place(truth: str, guess: str) -> str:
    true, said = ([_plain(part) for part in text.split(",")] for text in (truth, guess))
    if true[0] == said[0]:
        return "yes"
    return "less precise" if true[-1] == said[-1] or true[-1] in said else "no"
