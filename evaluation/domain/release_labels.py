"""Which label of an attribute of a comment is released, from what several people said. Rules, no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.domain.adjudication import Opinion, agreed, relate, relation
from annotation.domain.labels import State
from evaluation.domain.releasing import ADJUDICATED, AGREEING, SINGLE
from simulation.domain.attributes import Attribute
from simulation.domain.matching import Match

DECIDED, AGREED = "decided", "agreed"


@dataclass(frozen=True)
class Voice:
    """What one person says. `at` orders them in time; of two by one person the later counts."""

    who: str
    at: tuple[float, int]
    opinion: Opinion


@dataclass(frozen=True)
class Decided:
    """What an adjudicator decided; `at` orders the decisions of several queues."""

    at: int
    opinion: Opinion
    reason: str
    note: str


@dataclass(frozen=True)
class Released:
    """A label with how it came about: see release_schema.LABELS."""

    opinion: Opinion
    basis: str
    people: int
    agreeing: int
    reason: str = ""
    note: str = ""


def released(
    attribute: Attribute,
    policy: str,
    agreeing: int | None,
    voices: Sequence[Voice],
    decisions: Sequence[Decided] = (),
) -> Released | None:
    """The label by the policy; None where there is none.

    An untouched row says nothing, except that under `adjudicated` it keeps a value that another person gave
    from being agreed. `agreeing`: of groups that say the same the largest, if it has enough people and no
    other has as many.
    """
    latest = {one.who: one for one in sorted(voices, key=lambda one: one.at)}
    all_said = [one.opinion for one in sorted(latest.values(), key=lambda one: one.at)]
    said = [one for one in all_said if one.said]
    if policy == ADJUDICATED and decisions:
        last = max(decisions, key=lambda one: one.at)
        n = _same(attribute, said, last.opinion)
        return Released(last.opinion, DECIDED, len(said), n, last.reason, last.note)
    if not said:
        return None
    if policy == ADJUDICATED:
        if relation(attribute, all_said) is not Match.SAME:
            return None
        return Released(agreed(said), AGREED, len(said), len(said))
    if policy == AGREEING:
        return _agreeing(attribute, said, agreeing or 1)
    own = [one for one in sorted(voices, key=lambda one: one.at) if one.opinion.said]
    return Released(own[-1].opinion, SINGLE, len(said), _same(attribute, said, own[-1].opinion))


def _agreeing(attribute: Attribute, said: Sequence[Opinion], wanted: int) -> Released | None:
    groups = {
        tuple(place for place, one in enumerate(said) if relate(attribute, one, center) is Match.SAME)
        for center in said
    }
    most = max(len(group) for group in groups)
    largest = [group for group in groups if len(group) == most]
    if most < wanted or len(largest) > 1:
        return None
    return Released(agreed([said[place] for place in largest[0]]), AGREEING, len(said), most)


def _same(attribute: Attribute, said: Sequence[Opinion], label: Opinion) -> int:
    return sum(relate(attribute, one, label) is Match.SAME for one in said)


def is_complete_alone(policy: str, agreeing: int | None) -> bool:
    """Whether what one person alone says is a label, as far as this policy goes."""
    return policy in (ADJUDICATED, SINGLE) or (policy == AGREEING and (agreeing or 1) == 1)


__all__ = ["AGREED", "DECIDED", "Decided", "Released", "State", "Voice", "is_complete_alone", "released"]
