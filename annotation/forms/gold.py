"""The known answer of a gold item, as its form sends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.domain.known import Known, Typed, read_known
from annotation.domain.labels import Problem
from simulation.domain.attributes import TARGETS, Attribute

LONGEST_WHY = 500


@dataclass(frozen=True)
class GoldRow:
    """One attribute of the form with what was typed and what is wrong with it."""

    attribute: Attribute
    typed: Typed
    wrong: Mapping[str, str] = field(default_factory=dict)
    """Field of the row -> what to do."""


@dataclass(frozen=True)
class GoldForm:
    """Either all labels or all problems; `rows` show again what was typed."""

    rows: list[GoldRow]
    why: str
    labels: dict[str, Known]
    problems: list[Problem]


def read_gold(posted: Mapping[str, str]) -> GoldForm:
    """Reads every row of a posted form."""
    given = {
        attribute.key: Typed(
            *(
                posted.get(f"{attribute.key}-{part}", "").strip()
                for part in ("state", "value", "hardness", "certainty")
            )
        )
        for attribute in TARGETS
    }
    why = " ".join(posted.get("why", "").split())
    labels: dict[str, Known] = {}
    problems: list[Problem] = []
    for attribute in TARGETS:
        known = read_known(attribute, given[attribute.key])
        if isinstance(known, Known):
            labels[attribute.key] = known
        elif known:
            problems.extend(known)
    if not labels and not problems:
        problems.append(
            Problem("", "", "Nothing is checked yet: give the answer for at least one attribute.")
        )
    if len(why) > LONGEST_WHY:
        problems.append(Problem("", "why", f"At most {LONGEST_WHY} characters; this has {len(why)}."))
    return GoldForm(rows_of(given, problems), why, labels, problems)


def rows_of(given: Mapping[str, Typed], problems: list[Problem] | None = None) -> list[GoldRow]:
    """The eight rows of the form, filled with `given`."""
    return [
        GoldRow(
            attribute,
            given.get(attribute.key, Typed()),
            {one.field: one.message for one in problems or () if one.attribute == attribute.key},
        )
        for attribute in TARGETS
    ]
