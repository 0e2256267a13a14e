"""A judge's answer -> its verdicts, complete or not at all: a count that does not fit is no answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from annotation.domain.judging import Pair, Verdict, Verdicts
from annotation.domain.tag_lines import attribute_named
from annotation.domain.tag_schema import InSchema, attribute_schema
from simulation.domain.normalise import squeeze

Wanted = tuple[tuple[str, int], ...]
"""Attribute and number of its guesses, in the order in which they were asked."""
LONGEST_WORD = 40
"""Characters of a verdict with the signs around it."""
LEAD = re.compile(r"[\W\d_]*")
BEHIND_NAME = re.compile(r":|=|->|-")
VERDICT_WORDS = re.compile(r"(?<!\w)(?:less|yes|no|ja|nein|weniger)(?!\w)", re.I)
WORDS = {
    **{str(verdict): verdict for verdict in Verdict},
    "ja": Verdict.YES,
    "nein": Verdict.NO,
    "weniger genau": Verdict.LESS_PRECISE,
    "weniger präzise": Verdict.LESS_PRECISE,
}
"""What a verdict may be called, in the languages that a judge is asked in."""


class Check(BaseModel):
    """The verdicts on the guesses of one attribute, one a guess and in their order."""

    model_config = ConfigDict(extra="ignore")
    attribute: Annotated[str, InSchema(attribute_schema)]
    verdicts: list[Verdict] = Field(min_length=1, max_length=200)

    @field_validator("verdicts", mode="before")
    @classmethod
    def _words(cls, given: object) -> object:
        return [_word(one) for one in given] if isinstance(given, list) else given


class Judgement(BaseModel):
    """One entry for each attribute that was asked about."""

    model_config = ConfigDict(extra="ignore")
    wanted: ClassVar[Wanted] = ()
    checks: list[Check] = Field(max_length=40)

    @model_validator(mode="after")
    def _complete(self) -> Judgement:
        found: dict[str, Check] = {}
        for one in self.checks:
            known = attribute_named(one.attribute)
            key = known.key if known else one.attribute
            if key in found:
                raise ValueError(f"{key} is judged twice")
            found[key] = one.model_copy(update={"attribute": key})
        for key, count in self.wanted:
            if key not in found:
                raise ValueError(f"the verdicts on {key} are missing")
            if len(found[key].verdicts) != count:
                raise ValueError(f"{key}: {len(found[key].verdicts)} verdicts for {count} guesses")
        self.checks = [found[key] for key, _ in self.wanted]
        return self


def wanted(pairs: Iterable[Pair]) -> Wanted:
    return tuple((pair.attribute, len(pair.guesses)) for pair in pairs)


@lru_cache(maxsize=2048)
def judgement_of(asked: Wanted) -> type[Judgement]:
    """The form of an answer to these very questions; its schema is the same for all of them."""
    return type("Judgement", (Judgement,), {"wanted": asked, "__module__": __name__})


def read_judgement(text: str, asked: Wanted) -> Judgement:
    """The plain form: a line `attribute: yes; no; less precise` each. Raises ValueError with what is wrong.

    Of an attribute that several lines begin with the last one counts, as a model's second thought; a line
    without a word of a verdict counts for nothing. A line that counts holds verdicts and nothing else: prose
    such as “not yes” is never read. Where one attribute was asked about its name may be left out.
    """
    keys = {key for key, _ in asked}
    said: dict[str, str] = {}
    for line in text.split("\n"):
        name, rest = _named(line)
        known = attribute_named(name)
        if known and known.key in keys and VERDICT_WORDS.search(rest):
            said[known.key] = rest
    last = text.strip().rpartition("\n")[2]
    if not said and len(asked) == 1 and VERDICT_WORDS.search(last):
        said[asked[0][0]] = last
    if not said:
        raise ValueError("no line gives the verdicts on an attribute")
    return judgement_of(asked)(
        checks=[Check(attribute=key, verdicts=_listed(words)) for key, words in said.items()]
    )


def _named(line: str) -> tuple[str, str]:
    """What a line begins with, without signs and numbers before it, and what stands behind the name."""
    lead = LEAD.match(line)
    found = BEHIND_NAME.search(line, lead.end() if lead else 0)
    return (line[lead.end() : found.start()], line[found.end() :]) if lead and found else ("", "")


def _listed(words: str) -> list[Verdict]:
    """Verdicts parted by ; or a comma. Raises ValueError for anything else among them."""
    return [_word(one) for one in re.split(r"[;,]", words.strip().rstrip(" ;,."))]


def verdicts_of(pairs: Iterable[Pair], answer: Judgement) -> Verdicts:
    """What the judge said of every guess that it was asked about."""
    said = {one.attribute: one.verdicts for one in answer.checks}
    return {
        (pair.attribute, guess): verdict
        for pair in pairs
        for guess, verdict in zip(pair.guesses, said[pair.attribute], strict=True)
    }


def _word(given: object) -> Verdict:
    """Yes, no or less precise in any case and with signs around it. Raises ValueError for other words."""
    said = squeeze(str(given)[:LONGEST_WORD]) if isinstance(given, str) else ""
    words = re.sub(r"[\W_]+", " ", said).strip().casefold()
    if words not in WORDS:
        raise ValueError(f"“{said}” is not yes, no or less precise")
    return WORDS[words]
