"""Who a run's authors are: their facts and style as the run has them, for who may see profiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from simulation.domain.attributes import CATALOGUE
from simulation.models import CastMember, Profile, Run


@dataclass(frozen=True)
class Persona:
    """`version` is the profile's when the run was planned, None where the run keeps no cast of its own."""

    external_id: str
    username: str
    facts: Sequence[tuple[str, Any]]
    """Label of the attribute, value."""
    style: str
    version: int | None
    profile_id: str
    """Public id of the profile, empty where it is gone."""
    newer: bool = False
    """Whether the profile was edited since."""


def persona(run: Run, external_id: str) -> Persona | None:
    """The cast's member, else the profile as it is now; None where the run's corpus has neither."""
    member = CastMember.objects.select_related("profile").filter(run=run, external_id=external_id).first()
    if member is not None:
        now = member.profile
        newer = now is not None and now.version != member.version
        return Persona(
            external_id,
            member.username,
            _facts(member.facts),
            member.style,
            member.version,
            now.public_id if now else "",
            newer,
        )
    profile = Profile.objects.filter(corpus=run.corpus_id, external_id=external_id).first()
    if profile is None:
        return None
    return Persona(
        external_id, profile.username, _facts(profile.facts), profile.style, None, profile.public_id
    )


def usernames(run: Run, external_ids: Iterable[str]) -> dict[str, str]:
    """External id -> name: the cast's, else the profile's; two queries."""
    wanted = {one for one in external_ids if one}
    profiles = Profile.objects.filter(corpus=run.corpus_id, external_id__in=wanted)
    members = CastMember.objects.filter(run=run, external_id__in=wanted)
    names = dict(profiles.values_list("external_id", "username"))
    return names | dict(members.values_list("external_id", "username"))


def _facts(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Those of the catalogue in its order, then whatever else is known."""
    known = [(one.label, facts[key]) for key, one in CATALOGUE.items() if facts.get(key) not in (None, "")]
    return known + [(key, value) for key, value in facts.items() if key not in CATALOGUE]
