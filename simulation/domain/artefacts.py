"""What a generator left behind in a comment: named general rules, each of which finds places in a text.

The rules know nothing of any corpus. Those of the kind "gives itself away" compare with the author's facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

from simulation.domain import (
    artefact_rules_code,
    artefact_rules_ends,
    artefact_rules_self,
    artefact_rules_signs,
    artefact_rules_talk,
    artefact_rules_words,
)
from simulation.domain.artefact_letters import is_known
from simulation.domain.artefact_rule import Found, Kind, Rule, Written, joined

__all__ = ["RULES", "Found", "Kind", "Rule", "end_of_debris", "find", "first_of_each", "without"]

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.key: rule
        for rule in chain(
            artefact_rules_talk.RULES,
            artefact_rules_words.RULES,
            artefact_rules_ends.RULES,
            artefact_rules_signs.RULES,
            artefact_rules_code.RULES,
            artefact_rules_self.RULES,
        )
    }
)
LONGEST = 20_000
"""Code points that are looked at; what is longer is looked at up to here."""


def find(text: str, facts: Mapping[str, Any] | None = None, username: str = "") -> list[Found]:
    """Every suspicious place, in the order of the text; none for most texts.

    `facts` are the author's own by catalogue keys, `username` the handle.
    """
    if not text or text.isspace():
        return []
    return sorted(_places(Written(text[:LONGEST], facts or {}, username)))


def _places(written: Written) -> Iterator[Found]:
    for rule in RULES.values():
        for start, end in joined(rule.find(written)):
            yield Found(start, end, rule.key)


def first_of_each(found: list[Found]) -> list[Found]:
    """One place a rule: the first, for where a rule counts once a comment; of places that overlap, the longer
    one comes first."""
    first: dict[str, Found] = {}
    for one in found:
        first.setdefault(one.rule, one)
    ordered: list[Found] = []
    begin, reach = 0, -1
    for one in first.values():
        if one.start >= reach:
            begin = len(ordered)
        ordered.append(one)
        ordered[begin:] = sorted(ordered[begin:], key=lambda place: place.start - place.end)
        reach = max(reach, one.end)
    return ordered


TAILS = frozenset({"gibberish", "script", "code", "run_together", "encoding", "encoded", "loop"})
"""Rules whose debris usually runs on to the end of the text."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def end_of_debris(text: str, rule: str, end: int) -> int:
    """Where to cut, from a place of `rule` that ends at `end`: at the end of the text for rules that find
    tails, unless most words behind the place are words of language."""
    behind = [word[0].lower() for word in _WORD.finditer(text, end)]
    known = sum(is_known(word.replace("’", "'")) for word in behind)
    is_language = bool(behind) and known >= 0.7 * len(behind)
    return len(text) if rule in TAILS and not is_language else end


def without(text: str, start: int, end: int) -> str:
    """What is left of a text when one place is cut out, as a proposal for a person: trimmed, no double blanks
    at the seam, no opening bracket or dash left hanging at the end."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    apart = before != text[:start] or after != text[end:]
    glue = " " if apart and before and after and after[0] not in ".,;:!?)" else ""
    return (before + glue + after).strip().rstrip('([{<-–—"“').strip()
