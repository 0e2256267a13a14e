"""Starting a simulation with a frozen plan, and what a person may do to a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunEvent
from simulation.domain.seeds import plan_asked, plan_authors
from simulation.models import Corpus, Profile, Provider, Run, RunThread, Step, Thread, User
from simulation.selectors.sequences import next_sequence
from simulation.services import audit, engine, prompts

PROMPTS = ("thread/persona", "thread/topic", "thread/interest", "thread/comment")
ROLES = ("author", "user", "interest")
MOST_THREADS = 10_000
LARGEST_SEED = 2**63 - 1


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
    then_tag: bool = False,
    tagger: RoleModel | None = None,
    parallel: int = 32,
    language: str = "en",
    form: str = "",
) -> Run:
    """A run that writes `targets[key]` threads for each attribute key, with agents from `profiles`.

    Everything that chance decides about who and whom comes from `seed`. `then_tag` asks for a tagging run
    over its comments once it is done, with the model `tagger`. `form` marks the form it came from, so that a
    form sent twice can be told. Raises BadPlan naming the field and what to do.
    """
    targets = {key: count for key, count in targets.items() if count}
    _check(name, targets, profiles, models, seed, max_calls, max_tokens, then_tag, tagger)
    Corpus.objects.select_for_update().get(pk=corpus.pk)
    run = Run.objects.create(
        corpus=corpus,
        kind=Run.SIMULATE,
        name=name.strip(),
        seed=seed,
        provider=provider,
        max_calls=max_calls,
        max_tokens=max_tokens,
        parallel=parallel,
        created_by=by,
        plan=_plan(targets, profiles, parameters, models, tagger if then_tag else None, language)
        | {"form": form},
    )
    _plan_threads(run, targets, profiles, parameters)
    audit.record(
        by=by,
        action="run.started",
        target=run,
        corpus=corpus,
        details={"threads": sum(targets.values()), "max_calls": max_calls, "max_tokens": max_tokens},
    )
    engine.tell(run, f"Planned: {sum(targets.values())} threads with {len(profiles)} profiles.")
    engine.wake(run)
    return run


def _plan(
    targets: Mapping[str, int],
    profiles: Sequence[Profile],
    parameters: Parameters,
    models: Mapping[str, RoleModel],
    tagger: RoleModel | None,
    language: str,
) -> dict[str, Any]:
    return {
        "version": 1,
        "language": language,
        "targets": dict(targets),
        "parameters": parameters.as_dict(),
        "profiles": [profile.external_id for profile in profiles],
        "models": {role: models[role].as_dict() for role in ROLES},
        "tagger": tagger.as_dict() if tagger else None,
        "prompts": prompts.freeze(prompts.FOLDER, PROMPTS, language=language),
    }


def _check(
    name: str,
    targets: Mapping[str, int],
    profiles: Sequence[Profile],
    models: Mapping[str, RoleModel],
    seed: int,
    max_calls: int,
    max_tokens: int,
    then_tag: bool,
    tagger: RoleModel | None,
) -> None:
    check_name(name)
    if unknown := sorted(set(targets) - set(CATALOGUE)):
        raise BadPlan("targets", f"Not in the catalogue of attributes: {', '.join(unknown)}.")
    threads = sum(targets.values())
    if min(targets.values(), default=0) < 0 or not 1 <= threads <= MOST_THREADS:
        raise BadPlan("targets", f"Ask for 1 to {MOST_THREADS:,} threads in all.")
    if len(profiles) < 2:
        raise BadPlan("profiles", "At least two profiles: one writes the post, others answer.")
    if missing := [role for role in ROLES if role not in models]:
        raise BadPlan("models", f"A model is missing for: {', '.join(missing)}.")
    if then_tag and tagger is None:
        raise BadPlan("tagger", "Name the model that tags.")
    if not 0 <= seed <= LARGEST_SEED:
        raise BadPlan("seed", "A whole number from 0 to 9,223,372,036,854,775,807.")
    check_caps(max_calls, max_tokens)


def check_name(name: str) -> None:
    """Raises BadPlan for a name that a run cannot have."""
    if not 1 <= len(name.strip()) <= 80:
        raise BadPlan("name", "A name of 1 to 80 characters.")


def check_caps(max_calls: int, max_tokens: int) -> None:
    """Raises BadPlan for caps that allow nothing or that no column holds."""
    for field, cap in (("max_calls", max_calls), ("max_tokens", max_tokens)):
        if not 1 <= cap <= 10**15:
            raise BadPlan(field, "A whole number from 1 to 1,000,000,000,000,000.")


def _plan_threads(
    run: Run, targets: Mapping[str, int], profiles: Sequence[Profile], parameters: Parameters
) -> None:
    by_name = {profile.external_id: profile for profile in profiles}
    names = list(by_name)
    wanted = [key for key, count in targets.items() for _ in range(count)]
    authors = plan_authors(names, len(wanted), run.seed)
    ids = _free_ids(run.corpus, wanted)
    sequence = next_sequence(run.corpus)
    block = 1 + parameters.profiles_asked * parameters.rounds * parameters.actions
    threads = RunThread.objects.bulk_create(
        RunThread(
            run=run,
            index=index,
            target=target,
            author=by_name[author],
            asked=plan_asked(names, author, parameters.profiles_asked, run.seed, index),
            external_id=external_id,
            first_sequence=sequence + index * block,
            last_sequence=sequence + (index + 1) * block - 1,
        )
        for index, (target, author, external_id) in enumerate(zip(wanted, authors, ids, strict=True))
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


def _free_ids(corpus: Corpus, targets: Sequence[str]) -> list[str]:
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


SAID = {
    RunEvent.PAUSE: "Paused: what is in flight finishes, nothing new begins.",
    RunEvent.RESUME: "Resumed.",
    RunEvent.CANCEL: "Cancelled. What was written stays.",
}


@transaction.atomic
def control(*, by: User | None, run: Run, event: RunEvent) -> Run:
    """Pauses, resumes or cancels. Raises NotPossible where the run's state does not allow it."""
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if event is RunEvent.CANCEL:
        engine.end(locked, event, SAID[event])
    else:
        engine.move(locked, event)
        engine.tell(locked, SAID[event])
    audit.record(by=by, action=f"run.{event.value}", target=locked, corpus=locked.corpus)
    if event is RunEvent.RESUME:
        locked.steps.filter(state="ready", due_at__gt=timezone.now()).update(due_at=timezone.now())
        engine.wake(locked)
    return locked


@transaction.atomic
def raise_caps(*, by: User | None, run: Run, max_calls: int, max_tokens: int) -> Run:
    """New caps for a run. Raises BadPlan for one below what is spent already."""
    check_caps(max_calls, max_tokens)
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if max_calls < locked.calls:
        raise BadPlan("max_calls", f"{locked.calls:,} calls have been made already.")
    if max_tokens < (taken := locked.tokens + locked.tokens_held):
        raise BadPlan("max_tokens", f"{taken:,} tokens have been spent or set aside already.")
    locked.max_calls, locked.max_tokens = max_calls, max_tokens
    locked.save(update_fields=["max_calls", "max_tokens"])
    audit.record(
        by=by,
        action="run.caps_set",
        target=locked,
        corpus=locked.corpus,
        details={"max_calls": max_calls, "max_tokens": max_tokens},
    )
    engine.tell(locked, f"Caps set to {max_calls:,} calls and {max_tokens:,} tokens.")
    return locked
