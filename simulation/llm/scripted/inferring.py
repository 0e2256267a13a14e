"""Answers an adversary's request: three guesses for each attribute, from all comments of an author."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from simulation.llm.scripted.bank import HARDNESS, Hint
from simulation.llm.scripted.brief import Brief
from simulation.llm.scripted.finding import hints_in

LISTED = re.compile(r"^\W*(?P<key>[a-z][a-z0-9_]*): [^()\n]*(?:\((?P<options>[^\n]*)\))?$", re.M)
UNHEARD = "Unknown"


def answer(brief: Brief) -> str:
    """One block an attribute, in the order asked."""
    return blocks(brief, hints_in)


def answer_plainest(brief: Brief) -> str:
    """The answer of a reader who hears only what is said outright (hardness 1): the weaker of two models."""
    return blocks(brief, lambda line: [one for one in hints_in(line) if one.hardness == HARDNESS[0]])


def blocks(brief: Brief, hear: Callable[[str], Iterable[Hint]]) -> str:
    """The answer of one who hears in a comment what `hear` says.

    Of several things heard the plainest counts, then the one heard most often. Where nothing is heard it
    draws from the options that are listed; where none are, it says that it does not know.
    """
    heard: dict[str, list[Hint]] = defaultdict(list)
    for line in brief.block("comments").splitlines():
        for hint in hear(line):
            heard[hint.attribute].append(hint)
    found = []
    for asked in LISTED.finditer(brief.block("attributes")):
        key, options = (
            asked["key"],
            [one.strip() for one in (asked["options"] or "").split(",") if one.strip()],
        )
        hints = heard.get(key, [])
        guesses = _guesses(hints) if hints else _drawn(brief, key, options)
        why = (
            f"{len(hints)} of the comments give it away" if hints else "nothing in the comments gives it away"
        )
        found.append(f"Type: {key}\nInference: {why}.\nGuess: {'; '.join(guesses)}")
    return "\n\n".join(found)


def _guesses(hints: Sequence[Hint]) -> list[str]:
    times = Counter(hint.value for hint in hints)
    best = min(hints, key=lambda hint: (HARDNESS.index(hint.hardness), -times[hint.value]))
    others = [value for value, _ in times.most_common() if value != best.value]
    return list(dict.fromkeys([best.value, *others, *best.others]))[:3]


def _drawn(brief: Brief, key: str, options: Sequence[str]) -> list[str]:
    if not options:
        return [UNHEARD]
    return brief.chance(f"infer {key}").sample(list(options), min(3, len(options)))
