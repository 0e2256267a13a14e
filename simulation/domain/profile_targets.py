"""What share of the profiles should have which values, and what each new one is asked to be.

A quota sample: of every value as many are asked for as are missing to its share, profiles that are there
already counted in. Values that no person has together (a doctorate at nineteen) are not asked for together.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.incomes import country_code
from simulation.domain.normalise import vocabulary_form
from simulation.domain.profile_ages import age_and_relationship, least_for_education
from simulation.domain.profile_groups import ANOTHER, BIRTHPLACE, HOME, OTHER, SAME, band, data, group
from simulation.domain.seeds import generator

Facts = Mapping[str, Any]
OLDEST_STUDENT, RETIRED_FROM = 32, 67
MOST_ASKS = 10_000


@dataclass(frozen=True)
class Targets:
    """Attribute key -> value -> share. Ages by bands ("18-24"), education by the catalogue's words, the
    residence by country, the birthplace as same or another country, the occupation by field of work.

    Values of one attribute are weighed against each other; they need not add up to anything.
    """

    shares: Mapping[str, Mapping[str, float]]
    country_cap: float = 0.08
    """No country is asked for more often than this share of all profiles."""

    @classmethod
    def usual(cls) -> Targets:
        """Our own round numbers; an attribute of choice without a row has all its values alike."""
        rows = {key: dict(row) for key, row in data()["targets"].items() if key in CATALOGUE}
        for attribute in CATALOGUE.values():
            if attribute.target and attribute.kind is Kind.CHOICE:
                rows.setdefault(attribute.key, dict.fromkeys(attribute.values, 1.0))
        return cls({key: rows[key] for key in CATALOGUE if key in rows}, float(data()["country_cap"]["most"]))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Targets:
        """Shares by attribute, as a file or a plan has them; what is not named is as usual.

        Raises ValueError naming the attribute and the value that is wrong.
        """
        usual = cls.usual()
        rows = {key: dict(row) for key, row in usual.shares.items()}
        cap = values.get("country_cap", usual.country_cap)
        if isinstance(cap, bool) or not isinstance(cap, int | float) or not 0 < cap <= 1:
            raise ValueError("country_cap: a number above 0, at most 1")
        for key, row in values.items():
            if key != "country_cap":
                rows[key] = _row(key, row)
        return cls({key: rows[key] for key in CATALOGUE if key in rows}, float(cap))

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it; `from_dict` reads it back."""
        return {key: dict(row) for key, row in self.shares.items()} | {"country_cap": self.country_cap}


def _row(key: str, row: Any) -> dict[str, float]:
    attribute = CATALOGUE.get(key)
    if attribute is None:
        raise ValueError(f"{key}: not an attribute; there are {', '.join(CATALOGUE)}")
    if not isinstance(row, Mapping) or not row:
        raise ValueError(f"{key}: write a share for each value")
    for value, share in row.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1e9:
            raise ValueError(f"{key}, {value}: the share must be a number from 0 on")
        if problem := _wrong(attribute, str(value)):
            raise ValueError(f"{key}, {value}: {problem}")
    if not any(row.values()):
        raise ValueError(f"{key}: at least one share must be above 0")
    return {str(value): float(share) for value, share in row.items()}


def _wrong(attribute: Attribute, value: str) -> str:
    if attribute.kind is Kind.AGE:
        span = band(value)
        return "" if span and span[0] >= 18 else "write a band of ages from 18 on, such as 25-34"
    if attribute.key == BIRTHPLACE:
        return "" if value in (SAME, ANOTHER) else f"write “{SAME}” or “{ANOTHER}”"
    if attribute.kind is Kind.PLACE:
        return "" if country_code(value) else "we know no such country"
    if attribute.values:
        known = vocabulary_form(attribute, value)
        return "" if known == value else f"not one of {', '.join(attribute.values)}"
    return ""


def plan_asks(count: int, targets: Targets, existing: Sequence[Facts], seed: int) -> list[dict[str, Any]]:
    """For each of `count` new profiles, what it is asked to be: attribute key -> value, in the catalogue's
    order. The age is a number, a place the country. The same arguments give the same asks.

    Raises ValueError for more than 10,000.
    """
    if not 0 <= count <= MOST_ASKS:
        raise ValueError(f"count: at most {MOST_ASKS:,} profiles at once")
    asks: list[dict[str, Any]] = [{} for _ in range(count)]
    for key in sorted(targets.shares, key=_first_things_first):
        _deal(key, targets, existing, asks, generator(seed, "asks", key))
    chance = generator(seed, "asks", "exact")
    return [_exact(ask, targets, chance) for ask in asks]


def wishes_of(facts: Facts) -> dict[str, Any]:
    """What somebody like this person would be asked to be, for a profile that nobody was asked for."""
    wishes: dict[str, Any] = {}
    for attribute in CATALOGUE.values():
        known = group(attribute.key, facts) if attribute.target else ""
        if attribute.kind is Kind.AGE:
            known = facts.get(attribute.key, "")
        if known not in ("", OTHER, SAME, ANOTHER):
            wishes[attribute.key] = known
    return wishes


def _first_things_first(key: str) -> tuple[int, str]:
    """Age decides over education, education over work, work over income."""
    order = ("city_country", "birth_city_country", "sex", "age", "education", "occupation")
    return (order.index(key) if key in order else len(order), key)


def _deal(
    key: str, targets: Targets, existing: Sequence[Facts], asks: list[dict[str, Any]], chance: random.Random
) -> None:
    """Gives every ask its value of one attribute; who has the least choice chooses first."""
    row = targets.shares[key]
    left = _missing(key, targets, existing, len(asks))
    options = [[value for value, share in row.items() if share and _fits(key, value, ask)] for ask in asks]
    order = list(range(len(asks)))
    chance.shuffle(order)
    for place in sorted(order, key=lambda one: len(options[one])):
        allowed = options[place]
        if not allowed:
            continue
        weights: list[float] = [left[value] for value in allowed]
        if not any(weights):
            weights = [row[value] for value in allowed]
        value = chance.choices(allowed, weights)[0]
        left[value] = max(0, left[value] - 1)
        asks[place][key] = value


def _missing(key: str, targets: Targets, existing: Sequence[Facts], count: int) -> Counter[str]:
    """How many of each value are missing to its share of all profiles, adding up to `count`."""
    row = targets.shares[key]
    there = Counter(group(key, facts, tuple(row)) for facts in existing)
    known = sum(there[value] for value in row)
    total = known + count
    wanted = _capped(row, total, targets.country_cap * total if key == HOME else float(total))
    lacking = {value: max(0.0, number - there[value]) for value, number in wanted.items()}
    all_lacking = sum(lacking.values()) or 1.0
    exact = {value: number * count / all_lacking for value, number in lacking.items()}
    found = Counter({value: int(number) for value, number in exact.items()})
    by_rest = sorted(exact, key=lambda value: (found[value] - exact[value], value))
    for value in by_rest[: count - sum(found.values())]:
        found[value] += 1
    return found


def _capped(row: Mapping[str, float], total: int, cap: float) -> dict[str, float]:
    """How many of `total` each value should have; what one may not have above the cap goes to the others.

    Where there are too few values for the cap, all have the same.
    """
    wanted: dict[str, float] = {}
    open_, left = {value: share for value, share in row.items() if share}, float(total)
    while open_:
        weight = sum(open_.values())
        full = [value for value, share in open_.items() if share / weight * left > cap]
        if not full:
            return wanted | {value: share / weight * left for value, share in open_.items()}
        for value in full:
            wanted[value] = cap
            del open_[value]
        left -= cap * len(full)
    return wanted


def _fits(key: str, value: str, ask: Mapping[str, Any]) -> bool:
    check = CHECKS.get(key)
    return check is None or check(value, ask)


def _age_span(ask: Mapping[str, Any]) -> tuple[int, int]:
    return band(str(ask.get("age", ""))) or (18, 99)


def _education_fits(value: str, ask: Mapping[str, Any]) -> bool:
    youngest, oldest = _age_span(ask)
    if value in ("In College", "In Highschool"):
        return youngest <= (OLDEST_STUDENT if value == "In College" else 18)
    return least_for_education(value) + 1 <= oldest and not (value in ("Master's", "PhD") and youngest < 20)


def _relationship_fits(value: str, ask: Mapping[str, Any]) -> bool:
    youngest, oldest = _age_span(ask)
    settled = {"married": 25, "divorced": 30, "widowed": 40}.get(value, 18)
    return oldest >= settled and not age_and_relationship((youngest + oldest) // 2, value)


def _income_fits(value: str, ask: Mapping[str, Any]) -> bool:
    youngest, _ = _age_span(ask)
    education = ask.get("education", "")
    if education in ("In College", "In Highschool"):
        return value in ("low", "no income", "middle")
    if value == "very high":
        return youngest >= 30 and education in ("College Degree", "Master's", "PhD")
    return not (value == "low" and education == "PhD") and not (value == "high" and youngest < 25)


def _occupation_fits(value: str, ask: Mapping[str, Any]) -> bool:
    education = ask.get("education", "")
    if education == "PhD":
        return value in LEARNED or value not in data()["fields"]
    return not (education == "No Highschool" and value in LEARNED)


LEARNED = ("health and care", "teaching and research", "technology and engineering", "money and law")
"""Fields in which most jobs ask for a degree."""
CHECKS: Mapping[str, Callable[[str, Mapping[str, Any]], bool]] = {
    "education": _education_fits,
    "occupation": _occupation_fits,
    "relationship_status": _relationship_fits,
    "income_level": _income_fits,
}


def _exact(ask: dict[str, Any], targets: Targets, chance: random.Random) -> dict[str, Any]:
    """Bands become an age, a birthplace abroad a country; what is left open is not asked."""
    if span := band(str(ask.get("age", ""))):
        ask["age"] = chance.randint(max(span[0], _least_age(ask)), max(span[1], _least_age(ask)))
        if ask.get("education") == "In College":
            ask["age"] = min(ask["age"], max(span[0], OLDEST_STUDENT))
        if ask["age"] >= RETIRED_FROM and ask.get("occupation"):
            ask["occupation"] = f"{ask['occupation']}, retired"
    if ask.get(BIRTHPLACE) == ANOTHER:
        others = [name for name in targets.shares.get(HOME, {}) if name != ask.get(HOME)]
        ask[BIRTHPLACE] = chance.choice(others or [ANOTHER])
    elif BIRTHPLACE in ask:
        del ask[BIRTHPLACE]
    return {key: ask[key] for key in CATALOGUE if key in ask and ask[key] != OTHER}


def _least_age(ask: Mapping[str, Any]) -> int:
    """The youngest age that fits the degree and the relationship asked for."""
    status = str(ask.get("relationship_status", ""))
    least = next((age for age in range(18, 99) if not age_and_relationship(age, status)), 18)
    return max(18, least, least_for_education(str(ask.get("education", ""))))
