"""Starting a simulation with a frozen plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from simulation.domain.attributes import CATALOGUE
from simulation.domain.money import MOST_NANO
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, RoleModel, TypedTopic
from simulation.domain.seeds import plan_asked, plan_authors
from simulation.models import (
    CastMember,
    Corpus,
    Profile,
    Provider,
    Run,
    RunThread,
    Step,
    Thread,
    User,
)
from simulation.selectors.providers import of_role
from simulation.selectors.sequences import next_sequence
from simulation.services import audit, engine, prices, prompts

ROLES = ("author", "user", "interest")
MOST_THREADS = 10_000
LARGEST_SEED = 2**63 - 1
Wanted = tuple[str, TypedTopic | None]
"""A thread that is wanted: its target attribute, and the post where a person wrote it."""


@transaction.atomic
def start_simulation(
    *,
    by: User | None,
    corpus: Corpus,
    name: str,
    provider: Provider,
    targets: Mapping[str, int],
    profiles: Sequence[Profile],
    parameters: Parameters,
    models: Mapping[str, RoleModel],
    seed: int,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None = None,
    max_cost: int | None = None,
    typed: Sequence[TypedTopic] = (),
    then_tag: bool = False,
    tagger: RoleModel | None = None,
    judge: RoleModel | None = None,
    parallel: int = 32,
    platform: str = prompts.PLATFORM,
    form: str = "",
) -> Run:
    """A run that writes `targets[key]` threads for each attribute key, with agents from `profiles`, and one
    thread for each of the `typed` posts.

    What chance decides about who and whom comes from `seed`. `then_tag` asks for a tagging run over the
    comments once they are there, by the model `tagger`; `judge` then checks the tags. Costs are nano-dollars.
    `form` marks the form it came from, so that one sent twice can be told. Raises BadPlan naming the field.
    """
    targets = {key: count for key, count in targets.items() if count}
    wanted: list[Wanted] = [(key, None) for key, count in targets.items() for _ in range(count)]
    wanted += [(one.target, one) for one in typed]
    check_asked(name, [target for target, _ in wanted], profiles, models, seed, then_tag, tagger)
    check_limits(max_calls, max_tokens, soft_cost, max_cost)
    asked = {role: models[role] for role in ROLES} | _later(then_tag, tagger, judge)
    check_prices(provider, asked)
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.SIMULATE,
        name=name.strip(),
        seed=seed,
        provider=provider,
        max_calls=max_calls,
        max_tokens=max_tokens,
        soft_cost=soft_cost,
        max_cost=max_cost,
        parallel=parallel,
        created_by=by,
        plan=_frozen(corpus, targets, typed, profiles, parameters, asked, platform) | {"form": form},
    )
    cast(run, profiles)
    _plan_threads(run, wanted, profiles, parameters)
    details = {"threads": len(wanted), "max_calls": max_calls, "max_tokens": max_tokens, "max_cost": max_cost}
    audit.record(by=by, action="run.started", target=run, corpus=corpus, details=details)
    engine.tell(run, f"Planned: {len(wanted)} threads with {len(profiles)} profiles.")
    engine.wake(run)
    return run


def _frozen(
    corpus: Corpus,
    targets: Mapping[str, int],
    typed: Sequence[TypedTopic],
    profiles: Sequence[Profile],
    parameters: Parameters,
    asked: Mapping[str, RoleModel],
    platform: str,
) -> dict[str, Any]:
    """The plan as it stays for ever."""
    return {
        "version": 2,
        "language": corpus.language,
        "platform": platform,
        "targets": dict(targets),
        "typed": len(typed),
        "parameters": parameters.as_dict(),
        "profiles": [profile.external_id for profile in profiles],
        "models": {role: asked[role].as_dict() for role in ROLES},
        "tagger": asked["tagger"].as_dict() if "tagger" in asked else None,
        "judge": asked["judge"].as_dict() if "judge" in asked else None,
        "prompts": prompts.freeze_thread(language=corpus.language, platform=platform),
    }


def _later(then_tag: bool, tagger: RoleModel | None, judge: RoleModel | None) -> dict[str, RoleModel]:
    """The models that are asked once the simulation is over."""
    if not then_tag or tagger is None:
        return {}
    return {"tagger": tagger} if judge is None else {"tagger": tagger, "judge": judge}


def cast(run: Run, profiles: Sequence[Profile]) -> None:
    """Keeps the profiles as they are now: what a run asks does not change with a later edit."""
    CastMember.objects.bulk_create(
        CastMember(
            run=run,
            profile=one,
            external_id=one.external_id,
            username=one.username,
            facts=one.facts,
            style=one.style,
            version=one.version,
        )
        for one in profiles
    )


def check_asked(
    name: str,
    targets: Sequence[str],
    profiles: Sequence[Profile],
    models: Mapping[str, RoleModel],
    seed: int,
    then_tag: bool,
    tagger: RoleModel | None,
) -> None:
    """Raises BadPlan for what no simulation can be asked for; `targets` has an attribute for each thread."""
    check_name(name)
    if unknown := sorted(set(targets) - set(CATALOGUE)):
        raise BadPlan("targets", f"Not in the catalogue of attributes: {', '.join(unknown)}.")
    if not 1 <= len(targets) <= MOST_THREADS:
        raise BadPlan("targets", f"Ask for 1 to {MOST_THREADS:,} threads in all.")
    if len(profiles) < 2:
        raise BadPlan("profiles", "At least two profiles: one writes the post, others answer.")
    if waiting := [one.username for one in profiles if one.state != Profile.APPROVED]:
        raise BadPlan(
            "profiles", f"Only approved profiles enter a run; not approved: {', '.join(waiting[:5])}."
        )
    if missing := [role for role in ROLES if role not in models]:
        raise BadPlan("models", f"A model is missing for: {', '.join(missing)}.")
    if then_tag and tagger is None:
        raise BadPlan("tagger", "Name the model that tags.")
    if not 0 <= seed <= LARGEST_SEED:
        raise BadPlan("seed", "A whole number from 0 to 9,223,372,036,854,775,807.")


def check_name(name: str) -> None:
    """Raises BadPlan for a name that a run cannot have."""
    if not 1 <= len(name.strip()) <= 80:
        raise BadPlan("name", "A name of 1 to 80 characters.")


def check_caps(max_calls: int, max_tokens: int) -> None:
    """Raises BadPlan for caps that allow nothing or that no column holds."""
    for field, cap in (("max_calls", max_calls), ("max_tokens", max_tokens)):
        if not 1 <= cap <= 10**15:
            raise BadPlan(field, "A whole number from 1 to 1,000,000,000,000,000.")


def check_limits(max_calls: int, max_tokens: int, soft_cost: int | None, max_cost: int | None) -> None:
    """All caps of a run; costs in nano-dollars. Raises BadPlan naming the one that is wrong."""
    check_caps(max_calls, max_tokens)
    check_money(soft_cost, max_cost)


def check_money(soft_cost: int | None, max_cost: int | None) -> None:
    """Raises BadPlan for caps in nano-dollars that allow nothing or contradict each other."""
    for field, cap in (("soft_cost", soft_cost), ("max_cost", max_cost)):
        if cap is not None and not 0 <= cap <= MOST_NANO:
            raise BadPlan(field, "An amount from 0 to 9,000,000,000 dollars.")
    if soft_cost is not None and max_cost is not None and soft_cost > max_cost:
        raise BadPlan("soft_cost", "It warns before the hard cap: not more than that.")


def check_prices(provider: Provider, models: Mapping[str, RoleModel]) -> None:
    """Raises BadPlan where the price of a model is not known: what it costs cannot be kept below a cap."""
    for role, model in models.items():
        try:
            prices.require([(of_role(provider, model), model.model)])
        except prices.UnknownPrice as unknown:
            raise BadPlan("models", f"{role}: {unknown}") from None
        except Provider.DoesNotExist:
            raise BadPlan("models", f"{role}: there is no such provider.") from None


def _plan_threads(
    run: Run,
    wanted: Sequence[Wanted],
    profiles: Sequence[Profile],
    parameters: Parameters,
) -> None:
    by_name = {profile.external_id: profile for profile in profiles}
    names = list(by_name)
    authors = plan_authors(names, len(wanted), run.seed)
    ids = free_ids(run.corpus, [target for target, _ in wanted])
    sequence = next_sequence(run.corpus)
    block = 1 + parameters.profiles_asked * parameters.rounds * parameters.actions
    threads = RunThread.objects.bulk_create(
        RunThread(
            run=run,
            index=index,
            target=target,
            typed={"question": typed.question, "description": typed.description} if typed else {},
            author=by_name[author],
            asked=plan_asked(names, author, parameters.profiles_asked, run.seed, index),
            external_id=external_id,
            first_sequence=sequence + index * block,
            last_sequence=sequence + (index + 1) * block - 1,
        )
        for index, ((target, typed), author, external_id) in enumerate(zip(wanted, authors, ids, strict=True))
    )
    Step.objects.bulk_create(
        Step(
            run=run,
            run_thread=one,
            key=f"t{one.index}/topic",
            kind="topic",
            number=0,
            due_at=timezone.now(),
        )
        for one in threads
    )


def free_ids(corpus: Corpus, targets: Sequence[str]) -> list[str]:
    """thread_<target>_<k>, with the numbers that neither the corpus nor a run under way has taken."""
    taken = set(Thread.objects.filter(corpus=corpus).values_list("external_id", flat=True))
    taken |= set(RunThread.objects.filter(run__corpus=corpus).values_list("external_id", flat=True))
    ids: list[str] = []
    for target in targets:
        number = 1
        while (name := f"thread_{target}_{number}") in taken:
            number += 1
        taken.add(name)
        ids.append(name)
    return ids
