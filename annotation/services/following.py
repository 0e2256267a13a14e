"""What follows a run that is done, where it was asked for: tags a simulation, their check a tagging run."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Suggestion
from annotation.services.judging import start_judging
from annotation.services.tagging import start_tagging
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.run_states import RunState
from simulation.models import Comment, Happening, Provider, Run
from simulation.selectors import providers
from simulation.services import engine

log = logging.getLogger("synthpai.runs")
Starter = Callable[[Run], Run]


def follow_simulations() -> list[Run]:
    """Starts the tagging runs that finished simulations asked for. Asked twice, it starts each once."""
    written = Comment.objects.filter(thread__run_thread__run=OuterRef("pk"), state="active")
    waiting = _waiting(Run.SIMULATE, "tagger").filter(Exists(written))
    return _follow(waiting, _tag, "Its comments are not tagged")


def follow_taggings() -> list[Run]:
    """Starts the checks of tags that finished tagging runs asked for. Asked twice, it starts each once."""
    tags = Suggestion.objects.filter(run=OuterRef("pk"), comment__profile__isnull=False)
    waiting = _waiting(Run.TAG, "judge").filter(Exists(tags))
    return _follow(waiting, _judge, "Its tags are not checked")


def _waiting(kind: str, role: str) -> QuerySet[Run]:
    """Runs that are done, want somebody to follow and are not followed."""
    return Run.objects.filter(
        kind=kind,
        state=RunState.DONE,
        followers=None,
        corpus__trashed_at=None,
        **{f"plan__{role}__model__isnull": False},
    )


def _follow(waiting: QuerySet[Run], start: Starter, otherwise: str) -> list[Run]:
    started = []
    for pk in waiting.values_list("pk", flat=True):
        try:
            if run := _once(pk, start):
                started.append(run)
        except BadPlan as problem:
            _tell_once(pk, f"{otherwise}: {problem}")
        except Exception:  # a fault of ours has no name yet; the runs behind this one must not wait for it
            log.exception("what follows run %s could not be started", pk)
    return started


@transaction.atomic
def _once(followed: int, start: Starter) -> Run | None:
    run = Run.objects.select_for_update(of=("self",)).select_related("corpus", "provider").get(pk=followed)
    return None if Run.objects.filter(follows=run).exists() else start(run)


def _tell_once(pk: int, text: str) -> None:
    """This is tried again and again, for what is missing may come; the run's story says it once."""
    if not Happening.objects.filter(run=pk, text=text[:400]).exists():
        engine.tell(Run.objects.get(pk=pk), text, "danger")


def _tag(run: Run) -> Run:
    """The caps hold for a simulation, its tagging and the check together: this may spend what is left.

    Where nothing is left the run halts before its first call, and says that the cap can be raised.
    """
    tagger = RoleModel(**run.plan["tagger"])
    judge = run.plan.get("judge")
    return start_tagging(
        by=run.created_by,
        corpus=run.corpus,
        name=f"{run.name[:70]}, tags",
        provider=_provider(run, tagger, "tagger"),
        model=tagger,
        judge=RoleModel(**judge) if judge else None,
        follows=run,
        seed=run.seed,
        parallel=run.parallel,
        max_calls=max(0, run.max_calls - run.calls),
        max_tokens=max(0, run.max_tokens - run.tokens),
        soft_cost=_left(run.soft_cost, run.cost),
        max_cost=_left(run.max_cost, run.cost),
    )


def _judge(run: Run) -> Run:
    judge = RoleModel(**run.plan["judge"])
    return start_judging(
        by=run.created_by,
        corpus=run.corpus,
        name=f"{run.name[:70]}, check",
        provider=_provider(run, judge, "judge"),
        model=judge,
        runs=[run],
        follows=run,
        seed=run.seed,
        parallel=run.parallel,
        max_calls=max(0, run.max_calls - run.calls),
        max_tokens=max(0, run.max_tokens - run.tokens),
        soft_cost=_left(run.soft_cost, run.cost),
        max_cost=_left(run.max_cost, run.cost),
    )


def _provider(run: Run, role: RoleModel, name: str) -> Provider:
    try:
        return providers.of_role(run.provider, role)
    except Provider.DoesNotExist:
        raise BadPlan(name, f"the provider of its {name} is not there any more") from None


def _left(cap: int | None, spent: int) -> int | None:
    return None if cap is None else max(0, cap - spent)
