"""Values of a fixed vocabulary in the default mode: by what the words mean, never by how like they look."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from evaluation.domain.verdicts import HALF, RIGHT, WRONG, Label, Verdict, by_rule, left_open
from evaluation.domain.wording import said, several, without_brackets
from simulation.domain.attributes import Attribute
from simulation.domain.normalise import vocabulary_form

_BETWEEN = re.compile(r"\s*(?:,|&|\bto\b|\band\b|\bund\b|\bbis\b)\s*")
_BLANKS = re.compile(r"[^\w/']+|_+")
"""Hyphens, stops, signs and pictures part words."""
_REMARK = re.compile(r"\(([^()]*)\)")
Meant = frozenset[str]
"""Values of the vocabulary that words may mean; empty for words that name none of them."""


@dataclass(frozen=True)
class Vocabulary:
    """The further words of one attribute."""

    fillers: re.Pattern[str] | None
    none: frozenset[str]
    words: Mapping[str, Meant]


def score(attribute: Attribute, label: Label, guess: str) -> Verdict:
    """Right where both mean the same, right in part where they share a value, wrong where they share none,
    open where one of the two is no word of the vocabulary. Symmetric."""
    truth, its = meaning(attribute, said(label.value)), meaning(attribute, guess)
    if truth is None or its is None:
        return left_open(f"the {'label' if truth is None else 'guess'} is no word of the vocabulary")
    if not truth and not its:
        return left_open("both mean none of the values, but not whether the same")
    if truth == its:
        return by_rule(RIGHT, f"both mean {_listed(attribute, truth)}")
    if truth & its:
        which = "guess" if len(its) > len(truth) else "label"
        values = max(its, truth, key=len)
        return by_rule(HALF, f"the {which} leaves open which: {_listed(attribute, values)}")
    meant = _listed(attribute, its) if its else "none of the values"
    return by_rule(WRONG, f"the guess means {meant}, the label {_listed(attribute, truth) or 'none'}")


def meaning(attribute: Attribute, words: str) -> Meant | None:
    """The values that `words` may mean; None where that is not known. “Lower middle” may mean low or middle,
    as does “low or middle”. A remark in brackets that means another value leaves it unknown."""
    plain = without_brackets(words).casefold().replace("’", "'")
    whole = _one(attribute, plain)
    remarks = [_one(attribute, remark) for remark in _REMARK.findall(words.casefold())]
    if any(remark is not None and remark != whole for remark in remarks):
        return None
    if whole is not None:
        return whole
    parts = [part for one in several(plain) for part in _BETWEEN.split(one) if part]
    if len(parts) < 2:
        return None
    found = [_one(attribute, part) for part in parts]
    if any(one is None for one in found):
        return None
    return frozenset(value for one in found if one is not None for value in one)


def _one(attribute: Attribute, words: str) -> Meant | None:
    """The meaning of words without “or”, as they stand, else without the words that change nothing."""
    known = _vocabulary(attribute.key, tuple(attribute.values))
    bare = _BLANKS.sub(" ", words).strip()
    short = _BLANKS.sub(" ", known.fillers.sub(" ", bare)).strip() if known.fillers else bare
    for text in (bare, short):
        if not text:
            continue
        value = vocabulary_form(attribute, text)
        if value is not None:
            return frozenset([value])
        if text in known.none:
            return frozenset()
        if text in known.words:
            return known.words[text]
    return None


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("scoring_words.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def _vocabulary(key: str, values: tuple[str, ...]) -> Vocabulary:
    table = _tables().get(key, {})
    fillers = sorted(table.get("fillers", ()), key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, fillers))})\b") if fillers else None
    words = {word: frozenset(meant) for word, meant in table.get("words", {}).items()}
    return Vocabulary(
        pattern,
        frozenset(table.get("none", ())),
        {word: meant for word, meant in words.items() if meant <= set(values)},
    )


def _listed(attribute: Attribute, meant: Meant) -> str:
    return " or ".join(value for value in attribute.values if value in meant)
