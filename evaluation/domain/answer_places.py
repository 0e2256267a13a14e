"""Which commas of a list of places separate places, and which stand within one (“City, Country”)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulation.domain.gazetteer import fold, gazetteer
from simulation.domain.places import readings

MOST = 40
"""Parts; a longer list is a loop of the model, and is kept as it stands."""
_BRACKETS = re.compile(r"\([^()]*\)")
_CODE = re.compile(r"[A-Z][A-Z.]{1,3}")
_REGION_WORDS = re.compile(r"\b(?:area|region|county|province|state|suburb|coast|valley)\b", re.I)


def place_groups(parts: Sequence[str]) -> list[str]:
    """The places that the comma-separated `parts` name, each “City”, “City, Country” or “City, Region,
    Country”; nothing where they name one place, or where it cannot be told.

    A country ends a place, a region or code of it belongs to the city before, and any other known name
    begins the next one. Two parts are two places only where both are countries.
    """
    if not 2 <= len(parts) <= MOST or any(len(part.split()) > 8 for part in parts):
        return []
    groups: list[list[str]] = []
    is_open = False
    for part in parts:
        if is_open and _belongs(groups[-1], part):
            groups[-1].append(part)
            is_open = not _country(part)
        elif not is_open and groups and len(groups[-1]) > 1 and _holds(part, groups[-1][-1]):
            groups[-1].append(part)
        elif not groups or _country(part) or readings(_bare(part)):
            groups.append([part])
            is_open = not _country(part)
        else:
            return []
    if len(parts) == 2 and not all(map(_country, parts)):
        return []
    return [", ".join(group) for group in groups] if len(groups) > 1 else []


def _bare(part: str) -> str:
    return _BRACKETS.sub(" ", part).strip(" .")


def _country(part: str) -> str:
    """The code of the country that `part` names; nothing where it names none."""
    return gazetteer().country_keys.get(fold(_bare(part)).removeprefix("the "), "")


def _belongs(group: Sequence[str], part: str) -> bool:
    """Whether `part` says more exactly where the open place of `group` lies."""
    if _country(part) or _CODE.fullmatch(_bare(part)) or _REGION_WORDS.search(part):
        return True
    found = readings(f"{_bare(group[0])}, {_bare(part)}")
    return bool(found) and found[0][1] and isinstance(found[0][0].city, int)


def _holds(country: str, region: str) -> bool:
    """Whether `country` is the country of what was taken for a country before: “Georgia”, “USA”."""
    code = _country(country)
    return bool(code) and any(of == code for of, _ in gazetteer().region_keys.get(fold(_bare(region)), ()))
