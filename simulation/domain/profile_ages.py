"""Whether age, education, occupation and relationship of one person can go together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simulation.domain.schooling import LADDER, schooling


@dataclass(frozen=True)
class Job:
    """What occupations of one kind ask for. `any` counts for helpers in it as well."""

    who: re.Pattern[str]
    least: int = 0
    most: int = 200
    rank: str = ""
    any: bool = False


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("profile_ages.toml").read_text(encoding="utf-8"))


@cache
def _jobs() -> tuple[Job, ...]:
    return tuple(Job(**{**row, "who": re.compile(row["who"])}) for row in _file()["occupation"])


@cache
def _helpers() -> re.Pattern[str]:
    return re.compile(_file()["helpers"]["words"])


def least_for_education(education: str) -> int:
    """The youngest age at which somebody may have this education; 0 where it says nothing."""
    known = schooling(education)
    rows = _file()["under_way"] if known.towards else _file()["held"]
    return int(rows.get(known.towards or known.held, 0))


def age_and_education(age: int, education: str) -> str:
    """What does not fit, in a sentence; empty where nothing speaks against it."""
    least = least_for_education(education)
    if age < least:
        return f"{age} is young for “{education}”: usually from {least} on."
    if schooling(education).category == "In Highschool" and age > 21:
        return f"{age} is old for “{education}”."
    return ""


def age_and_occupation(age: int, occupation: str) -> str:
    """As above. Who is retired may be of any age above the one to retire at."""
    words = occupation.casefold()
    is_retired = _jobs()[0].who.search(words) is not None
    for job in _asked(words):
        if age < job.least:
            return f"{age} is young for “{occupation}”: usually from {job.least} on."
        if age > job.most and not is_retired:
            return f"{age} is old for “{occupation}”: usually up to {job.most}."
    return ""


def education_and_occupation(education: str, occupation: str) -> str:
    """As above. Nothing is said of an education that names no degree."""
    rank = schooling(education).rank
    for job in _asked(occupation.casefold()):
        if job.rank and 0 <= rank < LADDER.index(job.rank):
            return f"“{occupation}” asks for more than “{education}”: at least {job.rank}."
    return ""


def _asked(words: str) -> list[Job]:
    helps = _helpers().search(words) is not None
    return [job for job in _jobs() if (job.any or not helps or job.most < 200) and job.who.search(words)]


def age_and_relationship(age: int, relationship: str) -> str:
    """As above."""
    least = int(_file()["relationship"].get(relationship, 0))
    return f"{age} is young to be {relationship}." if age < least else ""
