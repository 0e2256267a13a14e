"""Incomes in words: how much in which currency, and whether that fits a country and a level.

"250 thousand swiss francs" is read, and so are lakh and crore, symbols and codes. What cannot be read is
passed over: an income is a free text, and a check that guesses would cry wolf.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simulation.domain.gazetteer import fold, gazetteer

SCALES = {
    "hundred": 100,
    "k": 1_000,
    "thousand": 1_000,
    "tsd": 1_000,
    "tausend": 1_000,
    "lakh": 100_000,
    "m": 1_000_000,
    "million": 1_000_000,
    "mio": 1_000_000,
    "millionen": 1_000_000,
    "crore": 10_000_000,
    "billion": 1_000_000_000,
    "mrd": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
PLURALS = {
    "dollar",
    "franc",
    "pound",
    "euro",
    "peso",
    "rupee",
    "shilling",
    "dinar",
    "dirham",
    "riyal",
    "rial",
    "sole",
}
"""Units that take an s; others stay as they are."""
_NUMBER = re.compile(r"\d+(?:[ ,.'’]\d{3})*(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?")
_WORD = re.compile(r"[^\W\d_]+|[€$£¥]")


@dataclass(frozen=True)
class Income:
    """What a text says: units a year, and the codes of the currencies that its words may mean."""

    amount: float
    currencies: frozenset[str]
    named: bool
    """Whether there are words for a currency at all, known or not."""


@cache
def _file() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("incomes.toml").read_text(encoding="utf-8"))


@cache
def _units() -> Mapping[str, tuple[str, ...]]:
    """How a unit is called -> the currencies with such a unit."""
    found: dict[str, tuple[str, ...]] = {}
    for code, row in _file()["currencies"].items():
        for unit in row["unit"].split("|"):
            found[fold(unit)] = (*found.get(fold(unit), ()), code)
    return found


@cache
def _owners(code: str) -> tuple[str, ...]:
    return tuple(fold(words) for words in _file()["currencies"][code]["of"].split("|"))


def read_income(text: str) -> Income | None:
    """The amount and currency of a text; None where it names no number, such as "unknown"."""
    found = _NUMBER.search(text)
    if not found:
        return None
    amount = _number(found[0])
    words = [fold(word) for word in _WORD.findall(text[found.end() :])]
    before = [fold(word) for word in _WORD.findall(text[: found.start()])]
    scaled = [word for word in words if _scale(word)]
    for word in scaled[:1]:
        amount *= _scale(word)
    rest = before + [word for word in words if word not in scaled]
    unit = next(
        (one for word in reversed(rest) for one in (word, word.removesuffix("s")) if one in _units()), ""
    )
    if not unit:
        return Income(amount, frozenset(), named=bool(rest))
    return Income(amount, _meant(unit, f" {' '.join(rest)} "), named=True)


def _scale(word: str) -> int:
    return SCALES.get(word) or SCALES.get(word.removesuffix("s"), 0)


def _number(text: str) -> float:
    """ "1,200" and "1.200" are twelve hundred, "2.5" is two and a half."""
    if re.fullmatch(r"\d{1,3}(?:[ ,.'’]\d{3})+", text):
        return float(re.sub(r"\D", "", text))
    whole, _, part = re.sub(r"[ '’]", "", text).replace(",", ".").rpartition(".")
    return float(f"{whole.replace('.', '')}.{part}") if whole else float(part)


def _meant(unit: str, words: str) -> frozenset[str]:
    """The currencies with such a unit; of those only the ones whose owner is named, where one is."""
    codes = _units()[unit]
    owned = {
        code: max((len(owner) for owner in _owners(code) if f" {owner} " in words), default=0)
        for code in codes
    }
    longest = max(owned.values())
    return (
        frozenset(code for code, length in owned.items() if length == longest)
        if longest
        else frozenset(codes)
    )


def currencies_of(country: str) -> Mapping[str, float]:
    """Currency code -> typical yearly income in thousands, by a country's code; empty where not known.
    Below 0 where the number does not hold for long."""
    found: Mapping[str, float] = _file()["countries"].get(country, {})
    return found


def is_foreign(income: Income, country: str) -> bool:
    """Whether the currency is none of the country's. What is not known is not foreign."""
    own = currencies_of(country)
    return bool(own and income.currencies and not income.currencies & set(own))


def multiple(income: Income, country: str) -> float | None:
    """The income as a multiple of what is typical in the country; None where nobody can say."""
    own = currencies_of(country)
    typical = next((own[code] for code in sorted(income.currencies & set(own))), 0)
    if not income.named and own:
        typical = next(iter(own.values()))
    return income.amount / (typical * 1000) if typical > 0 else None


def level_span(level: str) -> tuple[float, float] | None:
    """From how many times to how many times the typical income a level is believed; None: no such level."""
    span = _file()["levels"].get(level)
    return (float(span[0]), float(span[1])) if span else None


def typical_text(country: str, times: float) -> str:
    """An income in words, so many times what is typical in the country; empty for an unknown country."""
    for code, typical in currencies_of(country).items():
        return f"{_in_words(abs(typical) * times * 1000)} {currency_name(code)}"
    return ""


def currency_name(code: str) -> str:
    """As an income names it: "swiss francs"."""
    row = _file()["currencies"][code]
    unit = str(row["unit"].split("|")[0])
    unit += "s" if unit in PLURALS else ""
    return unit if code == "EUR" else f"{row['of'].split('|')[0]} {unit}"


def _in_words(amount: float) -> str:
    for scale, word in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if amount >= scale:
            return f"{float(f'{amount / scale:.2g}'):g} {word}"
    return f"{round(amount)}"


def country_code(name: str) -> str:
    """The code of a country by any of its names; empty where the list has none."""
    return gazetteer().country_keys.get(fold(name), "")
