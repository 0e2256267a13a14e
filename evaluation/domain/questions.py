"""What a question is known by, and what its opinions amount to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.domain.verdicts import Rung
from simulation.domain.normalise import squeeze

LONGEST = 1000
"""Characters of a truth or a guess that are kept; of longer ones the beginning counts."""


def spelled(text: str) -> str:
    """A truth or guess as it is kept and shown: blanks squeezed, bounded length."""
    return squeeze(text[: 4 * LONGEST])[:LONGEST]


def key_of(attribute: str, truth: str, guess: str) -> str:
    """Equal for questions that differ in letter case and blanks only."""
    parts = (attribute, spelled(truth).casefold(), spelled(guess).casefold())
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Said:
    """One opinion. `who` is the person's key, or the name of a run or file; `score` None: could not say."""

    source: str
    who: str
    score: float | None
    at: datetime
    resolves: bool = False
    withdrawn: bool = False


@dataclass(frozen=True)
class Standing:
    """What opinions amount to: a score with its rung, a dispute among people, or nothing yet (open)."""

    score: float | None = None
    rung: Rung | None = None
    is_disputed: bool = False
    people: int = 0
    """How many people say something now."""

    @property
    def state(self) -> str:
        """As the question's row calls it."""
        if self.is_disputed:
            return "disputed"
        return "open" if self.score is None else "settled"


def amount_to(opinions: Sequence[Said], *, wants: int = 1) -> Standing:
    """The standing of a question from its opinions in the order in which they came.

    Of each person and each file the latest counts, unless withdrawn. People come before a judge, a judge
    before files. Of judges the latest that could say counts; files that differ say nothing. Fewer people than
    are wanted: the question stays open for people, and what a judge or files said stands until then. People
    who differ are a dispute, until one of them resolves it, having seen what the others said; an opinion
    given after that opens it again where it differs. Who could not say is not counted among the people.
    """
    people = [one for one in _latest(opinions, "person") if one.score is not None]
    found = _of_machines(opinions, len(people))
    if not people:
        return found
    resolved = max((place for place, one in enumerate(people) if one.resolves), default=None)
    counting = people if resolved is None else people[resolved:]
    if len({one.score for one in counting}) > 1:
        return Standing(is_disputed=True, people=len(people))
    if resolved is None and len(people) < wants:
        return found
    return Standing(people[-1].score, Rung.PERSON, people=len(people))


def _of_machines(opinions: Sequence[Said], people: int) -> Standing:
    judge = [one for one in opinions if one.source == "judge" and one.score is not None and not one.withdrawn]
    if judge:
        return Standing(judge[-1].score, Rung.JUDGE, people=people)
    files = {one.score for one in _latest(opinions, "recorded")}
    if len(files) == 1 and None not in files:
        return Standing(files.pop(), Rung.RECORDED, people=people)
    return Standing(people=people)


def _latest(opinions: Sequence[Said], source: str) -> list[Said]:
    """The standing opinion of each of a source, the latest last."""
    standing: dict[str, Said] = {}
    for one in opinions:
        if one.source == source:
            standing.pop(one.who, None)
            if not one.withdrawn:
                standing[one.who] = one
    return list(standing.values())
