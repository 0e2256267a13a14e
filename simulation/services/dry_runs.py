"""The dry run of a plan: what it will need, before anything is spent. Nothing is written or sent."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone
from redis.exceptions import RedisError

from simulation.domain.dry_run import ROLES, DryRun, PerCall, Task, rule_of_thumb
from simulation.domain.dry_run import dry_run as arithmetic
from simulation.domain.money import UnitPrice
from simulation.domain.parameters import Parameters
from simulation.domain.plans import Range, RoleModel, expected_calls
from simulation.llm.lanes import lane_of
from simulation.models import Provider
from simulation.selectors import past_calls
from simulation.selectors import prices as selectors
from simulation.services.lanes import lanes


def dry_run(
    *,
    corpus_language: str,
    provider: Provider,
    models: Mapping[str, RoleModel],
    targets: Mapping[str, int],
    profiles: int,
    parameters: Parameters,
    then_tag: bool,
    then_judge: bool,
    parallel: int,
    typed: int = 0,
) -> DryRun:
    """What a simulation with this plan will need. `models` by role; `profiles`: how many there are to ask.

    Rests on past calls of the same model in the same language, else on rules of thumb.
    """
    calls = expected_calls(
        targets=targets,
        profiles=profiles,
        parameters=parameters,
        then_tag=then_tag,
        then_judge=then_judge,
        typed=typed,
    )
    return of_calls(
        calls,
        provider=provider,
        models=models,
        threads=sum(targets.values()),
        parallel=parallel,
        language=corpus_language,
    )


def of_calls(
    calls: Mapping[str, Range],
    *,
    provider: Provider,
    models: Mapping[str, RoleModel],
    threads: int = 0,
    parallel: int = 32,
    language: str = "",
    known: Mapping[str, PerCall] | None = None,
) -> DryRun:
    """The same from the calls by purpose: of a tagging run {"tag": ..}, of a check of tags {"judge": ..}.

    `known`: what a call of a purpose takes, where the plan tells it better than calls of the past.
    """
    wanted = {purpose: models[ROLES[purpose]] for purpose in calls if ROLES.get(purpose) in models}
    where = _providers(provider, wanted)
    pairs = {(where[role.provider].pk, role.model) for role in wanted.values()}
    past = past_calls.of_models(pairs, language=language)
    widths = _widths({(where[role.provider].base_url, role.model) for role in wanted.values()}, parallel)
    tasks = []
    for purpose, role in wanted.items():
        its = where[role.provider]
        tasks.append(
            Task(
                purpose=purpose,
                model=role.model,
                provider=its.public_id,
                provider_name=its.name,
                calls=calls[purpose],
                per_call=(known or {}).get(purpose)
                or past.get((its.pk, role.model, purpose))
                or rule_of_thumb(purpose, max_tokens=role.max_tokens),
                price=_price(its, role.model),
                width=widths[its.base_url, role.model],
            )
        )
    return arithmetic(tasks, threads=threads)


def _providers(default: Provider, wanted: Mapping[str, RoleModel]) -> dict[str, Provider]:
    """Public id -> provider; the empty id is the run's own. One that is not there is the run's own too."""
    named = {role.provider for role in wanted.values() if role.provider}
    known = {one.public_id: one for one in Provider.objects.filter(public_id__in=named)} if named else {}
    return {"": default} | {name: known.get(name, default) for name in named}


def _price(provider: Provider, model: str) -> UnitPrice | None:
    """As `prices.price_of`, without keeping what the list says: a look at a form writes nothing."""
    now = timezone.now()
    if (row := selectors.current(provider, model, now)) is not None:
        return row.unit
    found = selectors.proposed(provider, model, now)
    return found.unit if found else None


def _widths(addresses: set[tuple[str, str]], parallel: int) -> dict[tuple[str, str], int]:
    """How many calls of each model may be under way: the run's own limit, or its lane's if that is less."""
    try:
        states = lanes().all([lane_of(*address) for address in addresses])
    except (RedisError, OSError):
        return dict.fromkeys(addresses, parallel)
    return {address: min(parallel, states[lane_of(*address)].limit) for address in addresses}
