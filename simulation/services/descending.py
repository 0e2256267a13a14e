"""Runs that come from other runs: replayed from the ledger, asked once more, or forked from a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState, StepState
from simulation.models import (
    CastMember,
    CommentEdit,
    Corpus,
    Profile,
    Run,
    RunThread,
    Step,
    User,
)
from simulation.selectors.sequences import next_sequence
from simulation.services import audit, engine, forks
from simulation.services.corpora import create_corpus
from simulation.services.runs import check_limits, check_name, check_prices, free_ids

SAMPLES = 16_000
"""The most samples of one plan: calls number them."""


@transaction.atomic
def replay(*, by: User | None, run: Run, corpus_name: str) -> Run:
    """Builds the same threads once more, in a new corpus, from the replies in the ledger: no call is made.

    It proves where each sentence came from: every prompt is put together anew, and must be the one that was
    sent. Raises BadPlan for a run that is not a simulation or not over, and for a name that is taken.
    """
    if run.kind != Run.SIMULATE or run.state != RunState.DONE or run.origin in (Run.FORK, Run.REPLAY):
        raise BadPlan("run", "Only a simulation that is done can be replayed, and no fork or replay.")
    _check_untouched(run)
    try:
        with transaction.atomic():
            corpus = create_corpus(
                name=corpus_name,
                by=by,
                description=f"Replayed from run “{run.name}” of {run.corpus.name}.",
                licence=run.corpus.licence,
                language=run.corpus.language,
            )
    except IntegrityError:
        raise BadPlan("corpus", "There is a corpus of this name already.") from None
    made = _copy(by, run, corpus, f"{run.name[:70]}, replay", origin=Run.REPLAY, sample=run.sample)
    _cast_in(made, run, corpus)
    _threads_again(made, run, run.run_threads.order_by("index"), as_then=True)
    return _started(by, made, "Replays the ledger: no call will be made.")


@transaction.atomic
def rerun(
    *,
    by: User | None,
    run: Run,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None,
    max_cost: int | None,
    form: str = "",
) -> Run:
    """The same plan, cast and seed once more in the same corpus, with other answers: another sample.

    `form` is the mark of the form that asks for it, by which one that is sent twice is told.
    Raises BadPlan for a run that is not a simulation, for wrong caps, and for a price that is not known.
    """
    if run.kind != Run.SIMULATE or run.origin == Run.FORK:
        raise BadPlan("run", "Only a simulation can be run again, and no fork.")
    _ready_for_more(run)
    first = _first(run)
    caps = _caps(max_calls, max_tokens, soft_cost, max_cost)
    sample = _next_sample(first)
    made = _copy(by, run, run.corpus, f"{first.name[:60]}, sample {sample}", Run.RERUN, sample, caps, form)
    made.source = first
    made.save(update_fields=["source"])
    _cast_as_then(made, run)
    _threads_again(made, run, run.run_threads.order_by("index"), as_then=False)
    return _started(by, made, f"Sample {sample} of “{first.name}”: the same plan, other answers.")


@transaction.atomic
def fork(
    *,
    by: User | None,
    run: Run,
    thread: int,
    turn: int,
    name: str,
    max_calls: int,
    max_tokens: int,
    soft_cost: int | None,
    max_cost: int | None,
    seed: int | None = None,
    models: Mapping[str, RoleModel] | None = None,
    form: str = "",
) -> Run:
    """One thread of a simulation, copied up to its turn number `turn` (0: the post alone) and written on.

    What was copied costs nothing and keeps its place. From there on `seed` decides who answers whom (None: as
    in the source), and `models` may name other models for roles. `form` as in `rerun`. Raises BadPlan naming
    what is wrong.
    """
    check_name(name)
    caps = _caps(max_calls, max_tokens, soft_cost, max_cost)
    source = run.run_threads.select_related("author", "thread").filter(index=thread).first()
    if run.kind != Run.SIMULATE or source is None or source.thread is None:
        raise BadPlan("thread", "This run has no such thread with a post.")
    turns = source.steps.filter(kind="turn")
    if not 0 <= turn <= turns.count():
        raise BadPlan("turn", f"A turn from 0 to {turns.count()}.")
    if turns.filter(number__lte=turn, state__in=[StepState.READY, StepState.LEASED]).exists():
        raise BadPlan("turn", "That part of the thread is still being written.")
    _ready_for_more(run)
    made = _copy(by, run, run.corpus, name, Run.FORK, _next_sample(_first(run)), caps, form)
    plan = made.plan | {"fork": {"run": run.public_id, "thread": thread, "turn": turn}}
    if models:
        check_prices(run.provider, models)
        plan["models"] = plan["models"] | {role: one.as_dict() for role, one in models.items()}
    made.plan, made.seed = plan, made.seed if seed is None else seed
    made.save(update_fields=["plan", "seed"])
    _cast_as_then(made, run)
    copied = forks.copied_thread(made, source, turn)
    forks.copied_steps(made, source, copied, turn)
    return _started(by, made, f"Forked from “{run.name}”, thread {thread + 1}, after turn {turn}.")


def _caps(
    max_calls: int, max_tokens: int, soft_cost: int | None, max_cost: int | None
) -> dict[str, int | None]:
    check_limits(max_calls, max_tokens, soft_cost, max_cost)
    return {"max_calls": max_calls, "max_tokens": max_tokens, "soft_cost": soft_cost, "max_cost": max_cost}


def _check_untouched(run: Run) -> None:
    """What people changed while the run wrote stands in its prompts, and not in the ledger's replies."""
    edited = CommentEdit.objects.filter(comment__thread__run_thread__run=run, at__lt=run.ended_at)
    if edited.exists() or run.steps.filter(reason="withdrawn").exists():
        raise BadPlan("run", "A comment was edited or withdrawn while it ran: a replay cannot repeat that.")


def _ready_for_more(run: Run) -> None:
    """The corpus is locked, so that two runs never plan the same ids and places. Raises BadPlan for one in
    the trash, and for a cast of which somebody is not approved any more."""
    # Not FOR UPDATE: workers of its runs, who hold their run, refer to the corpus with each comment.
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=run.corpus_id)
    if corpus.trashed_at is not None:
        raise BadPlan("run", "Its corpus is in the trash.")
    gone = run.cast.filter(profile__state__in=[Profile.PROPOSED, Profile.REJECTED])
    if names := list(gone.values_list("username", flat=True)[:5]):
        raise BadPlan("run", f"Only approved profiles enter a run; not approved: {', '.join(names)}.")


def _first(run: Run) -> Run:
    """The run with which a family of samples began."""
    return run.source if run.origin == Run.RERUN and run.source is not None else run


def _next_sample(first: Run) -> int:
    """One more than any run that shares its plan has. The first run's row is locked for it."""
    Run.objects.select_for_update(no_key=True).get(pk=first.pk)
    family = Run.objects.filter(source=first) | Run.objects.filter(pk=first.pk)
    sample = max(family.values_list("sample", flat=True)) + 1
    if sample > SAMPLES:
        raise BadPlan("run", f"This plan has {SAMPLES:,} samples already.")
    return sample


def _copy(
    by: User | None,
    run: Run,
    corpus: Corpus,
    name: str,
    origin: str,
    sample: int,
    caps: Mapping[str, int | None] | None = None,
    form: str = "",
) -> Run:
    models = {role: RoleModel(**one) for role, one in run.plan["models"].items()}
    if origin != Run.REPLAY:
        check_prices(run.provider, models)
    plan: dict[str, Any] = dict(run.plan) | {"form": form}
    if origin == Run.REPLAY:
        plan |= {"tagger": None, "judge": None}
    limits = caps or {"max_calls": 1, "max_tokens": 1, "soft_cost": None, "max_cost": 0}
    return Run.objects.create(
        corpus=corpus,
        kind=run.kind,
        name=name.strip(),
        plan=plan,
        seed=run.seed,
        provider=run.provider,
        parallel=run.parallel,
        created_by=by,
        origin=origin,
        source=run,
        sample=sample,
        **limits,
    )


def _cast_in(made: Run, run: Run, corpus: Corpus) -> None:
    """The cast as profiles of a new corpus, as they were when the run began."""
    members = list(run.cast.order_by("id"))
    profiles = Profile.objects.bulk_create(
        Profile(
            corpus=corpus,
            external_id=one.external_id,
            username=one.username,
            facts=one.facts,
            style=one.style,
            source=Profile.IMPORTED,
        )
        for one in members
    )
    CastMember.objects.bulk_create(
        _member(made, one, profile) for one, profile in zip(members, profiles, strict=True)
    )


def _cast_as_then(made: Run, run: Run) -> None:
    CastMember.objects.bulk_create(
        _member(made, one, one.profile) for one in run.cast.select_related("profile")
    )


def _member(made: Run, one: CastMember, profile: Profile | None) -> CastMember:
    return CastMember(
        run=made,
        profile=profile,
        external_id=one.external_id,
        username=one.username,
        facts=one.facts,
        style=one.style,
        version=one.version,
    )


def _threads_again(made: Run, run: Run, threads: Any, *, as_then: bool) -> None:
    """The threads of a run, to be written anew: under their own names (`as_then`), or under free ones."""
    source = list(threads.select_related("author"))
    by_name = {one.external_id: one for one in made.corpus.profiles.filter(external_id__in=_authors(source))}
    ids = _planned_ids(source) if as_then else free_ids(made.corpus, [one.target for one in source])
    first = min(one.first_sequence for one in source)
    shift = 0 if as_then else next_sequence(made.corpus) - first
    copies = RunThread.objects.bulk_create(
        RunThread(
            run=made,
            index=one.index,
            target=one.target,
            typed=one.typed,
            author=by_name[one.author.external_id],
            asked=one.asked,
            external_id=external_id,
            first_sequence=one.first_sequence + shift,
            last_sequence=one.last_sequence + shift,
            forked_from=one,
        )
        for one, external_id in zip(source, ids, strict=True)
    )
    Step.objects.bulk_create(
        Step(
            run=made,
            run_thread=one,
            key=f"t{one.index}/topic",
            kind="topic",
            number=0,
            due_at=timezone.now(),
        )
        for one in copies
    )


def _planned_ids(source: list[RunThread]) -> list[str]:
    return [one.external_id for one in source]


def _authors(source: list[RunThread]) -> set[str]:
    return {one.author.external_id for one in source}


def _started(by: User | None, made: Run, text: str) -> Run:
    audit.record(
        by=by,
        action=f"run.{made.origin}",
        target=made,
        corpus=made.corpus,
        details={"source": made.source.public_id if made.source else ""},
    )
    engine.tell(made, text)
    engine.wake(made)
    return made
