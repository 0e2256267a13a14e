"""The lanes that a run uses: one for each model at each provider, whatever role it plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from simulation.llm.lanes import Lanes, LaneState, lane_of
from simulation.models import Provider, Run

ROLES = ("author", "user", "interest", "tagger", "judge")
"""In the order in which a simulation asks them; other roles come behind."""


@dataclass(frozen=True)
class LaneRow:
    """A lane, the roles of the run that use it, and its state; None where the broker does not answer."""

    model: str
    provider: str
    roles: Sequence[str]
    state: LaneState | None


def of_run(run: Run, lanes: Lanes) -> list[LaneRow]:
    """In the order of the roles; one query where a role has a provider of its own, one round trip."""
    uses = list(_uses(run))
    others = {provider for _, _, provider in uses if provider and provider != run.provider.public_id}
    known = {one.public_id: one for one in Provider.objects.filter(public_id__in=others)} if others else {}
    grouped: dict[str, tuple[str, Provider, list[str]]] = {}
    for role, model, public_id in uses:
        provider = known.get(public_id, run.provider)
        grouped.setdefault(lane_of(provider.base_url, model), (model, provider, []))[2].append(role)
    states = _states(lanes, list(grouped))
    return [
        LaneRow(model, provider.name, roles, states.get(lane))
        for lane, (model, provider, roles) in grouped.items()
    ]


def models(run: Run) -> list[str]:
    """The names of the models that a run asks, each once."""
    return list(dict.fromkeys(model for _, model, _ in _uses(run)))


def _uses(run: Run) -> Iterator[tuple[str, str, str]]:
    models: Mapping[str, Any] = run.plan.get("models") or {}
    for role in sorted(models, key=lambda role: (ROLES.index(role) if role in ROLES else len(ROLES), role)):
        one = models[role]
        if isinstance(one, Mapping) and one.get("model"):
            yield role, str(one["model"]), str(one.get("provider") or "")


def _states(lanes: Lanes, asked: list[str]) -> Mapping[str, LaneState]:
    try:
        return lanes.all(asked) if asked else {}
    except (RedisError, OSError):
        return {}
