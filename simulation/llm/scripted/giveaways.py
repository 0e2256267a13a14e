"""What a person could let slip: the sentences of the bank that are true of them."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.llm.scripted.bank import (
    SLOTS,
    Sentence,
    band,
    countries,
    family_of,
    frames,
    sentences,
    sights,
)
from simulation.llm.scripted.facts import Person

PAST_RELATIONSHIP = {"in relationship": "in a relationship", "dating": "in a relationship"}


def giveaways(person: Person, attribute: str, *, story: bool = False) -> list[Sentence]:
    """Everything the bank lets this person say that gives `attribute` away, of every hardness.

    With `story` what can stand in a story of one's own, and is no remark on what somebody said.
    """
    match attribute:
        case "age":
            return [] if story else list(_age(person))
        case "occupation":
            return list(_work_story(person) if story else _occupation(person))
        case "city_country":
            return list(_residence(person, "story_" if story else ""))
        case "birth_city_country":
            return [] if story else list(_birthplace(person))
    value = {
        "sex": person.sex,
        "education": person.degree,
        "income_level": person.income_level,
        "relationship_status": PAST_RELATIONSHIP.get(person.relationship, person.relationship),
    }.get(attribute, "")
    return [_named(one, person) for one in sentences(attribute, value, story=story)]


def _named(sentence: Sentence, person: Person) -> Sentence:
    """With the word for the other half that most couples of the bank use."""
    text = sentence.text
    for slot, (his, hers) in SLOTS.items():
        text = text.replace(slot, hers if person.sex == "female" else his)
    return Sentence(text, sentence.attribute, sentence.value, sentence.hardness)


def _age(person: Person) -> Iterator[Sentence]:
    if person.age is None:
        return
    for frame in frames("ages")["direct"]:
        yield Sentence(frame.replace("{n}", str(person.age)), "age", str(person.age), "direct")
    if row := band(person.age):
        for hardness in ("indirect", "complicated"):
            for text in row[hardness]:
                yield Sentence(text, "age", str(row["guess"]), hardness)


def _occupation(person: Person) -> Iterator[Sentence]:
    if not person.job:
        return
    job = person.job
    rows, suffix = frames("occupations"), "_retired" if person.retired else ""
    article = "an" if job[0].lower() in "aeiou" else "a"
    family = family_of(job)
    if not family or family.name != "unemployed":
        for frame in rows[f"direct{suffix}"]:
            text = frame.format(a=article, job=job, Job=job[0].upper() + job[1:])
            yield Sentence(text, "occupation", job, "direct")
    if not family:
        return
    for frame in rows[f"indirect{suffix}"]:
        for does in family.does:
            yield Sentence(frame.replace("{does}", does), "occupation", family.name, "indirect")
    if not person.retired:
        yield from [Sentence(family.hint, "occupation", family.name, "complicated")] * 8


def _work_story(person: Person) -> Iterator[Sentence]:
    family = family_of(person.job) if person.job else None
    for frame in frames("occupations")["story_retired" if person.retired else "story"]:
        for does in family.does if family else ():
            yield Sentence(
                frame.replace("{does}", does), "occupation", family.name if family else "", "indirect"
            )


def _residence(person: Person, prefix: str) -> Iterator[Sentence]:
    if not person.home:
        return
    city, _, country = person.home.partition(", ")
    rows, here = frames("places"), person.home
    for frame in rows["direct"] if not prefix else ():
        yield Sentence(frame.replace("{place}", city), "city_country", here, "direct")
    for frame in rows["indirect"] if not prefix else ():
        yield Sentence(frame.replace("{country}", _spoken(country)), "city_country", here, "indirect")
    known = countries().get(country)
    for kind, things in known.things.items() if known else ():
        for frame in rows.get(prefix + kind, ()):
            for thing in things:
                yield Sentence(frame.replace(f"{{{kind}}}", thing), "city_country", here, "complicated")
    for sight in sights().get(city, ()):
        for frame in rows[f"{prefix}sight"] * 2:
            yield Sentence(frame.replace("{sight}", sight), "city_country", here, "complicated")


def _birthplace(person: Person) -> Iterator[Sentence]:
    if not person.birthplace or person.birthplace == person.home:
        return
    city, _, country = person.birthplace.partition(", ")
    rows, here = frames("places"), person.birthplace
    for frame in rows["born_direct"]:
        yield Sentence(frame.replace("{place}", city), "birth_city_country", here, "direct")
    if not person.home.endswith(country):
        for frame in rows["born_indirect"]:
            text = frame.replace("{country}", _spoken(country))
            yield Sentence(text, "birth_city_country", here, "indirect")
        known = countries().get(country)
        for frame in rows["born_complicated"]:
            for kind, things in known.things.items() if known else ():
                for thing in things if f"{{{kind}}}" in frame else ():
                    text = frame.replace(f"{{{kind}}}", thing)
                    yield Sentence(text, "birth_city_country", here, "complicated")
    for sight in sights().get(city, ()):
        for frame in rows["born_sight"]:
            yield Sentence(frame.replace("{sight}", sight), "birth_city_country", here, "complicated")


def _spoken(country: str) -> str:
    """The country's name as it stands in a sentence."""
    plural = country.startswith("United ") or country in ("Netherlands", "Philippines", "Czech Republic")
    return f"the {country}" if plural or country == "Dominican Republic" else country
