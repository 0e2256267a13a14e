"""Starts runs and does their steps as a worker would, without a worker."""

import pytest
from django.db import connection
from django.db.models import F, Sum
from django.utils import timezone

from simulation.domain.parameters import Parameters
from simulation.domain.plans import published_models
from simulation.models import CallAttempt, ModelCall, Run, Step
from simulation.services import engine, runs
from simulation.services.simulating import Simulation
from tests.factories.simulation import CorpusFactory, ProfileFactory, ProviderFactory

committing = pytest.mark.django_db(transaction=True)
SMALL = Parameters(rounds=1, actions=2, profiles_asked=3)


def start(corpus=None, *, threads=1, parameters=SMALL, seed=5, **options):
    corpus = corpus or CorpusFactory()
    if not corpus.profiles.exists():
        for number in range(5):
            ProfileFactory(
                corpus=corpus,
                external_id=f"pers{number}",
                username=f"Author{number}",
                facts={"age": 20 + number, "occupation": "nurse"},
                style="Writing style: short.",
            )
    fields = {"max_calls": 500, "max_tokens": 1_000_000, "models": published_models("scripted")} | options
    provider = fields.pop("provider", None) or ProviderFactory()
    return runs.start_simulation(
        by=None,
        corpus=corpus,
        name="a run",
        provider=provider,
        targets={"age": threads},
        profiles=list(corpus.profiles.order_by("pk")),
        parameters=parameters,
        seed=seed,
        **fields,
    )


def work_off(run, work=None, *, most=500):
    """Does steps until none is ready, as one worker would; waits are skipped over."""
    for _ in range(most):
        Step.objects.filter(run=run, state="ready").update(due_at=timezone.now())
        if not engine.advance(run_id=run.pk, work=work or Simulation()):
            break
    return Run.objects.get(pk=run.pk)


def in_thread(run):
    try:
        work_off(run)
    finally:
        connection.close()


def balanced(run):
    """The run's counters are those of the ledger."""
    run = Run.objects.get(pk=run.pk)
    attempts = CallAttempt.objects.filter(call__run=run)
    spent = attempts.aggregate(n=Sum("spent"))["n"] or 0
    held = attempts.filter(state="sent").aggregate(n=Sum("held"))["n"] or 0
    assert (run.calls, run.tokens, run.tokens_held) == (attempts.count(), spent, held)
    cost = attempts.aggregate(n=Sum("cost"))["n"] or 0
    cost_held = attempts.filter(state="sent").aggregate(n=Sum("held_cost"))["n"] or 0
    assert (run.cost, run.cost_held) == (cost, cost_held)
    assert cost == (ModelCall.objects.filter(run=run).aggregate(n=Sum("cost"))["n"] or 0)
    lost = attempts.filter(state="lost")
    assert lost.count() == lost.filter(spent=F("held")).count()
    for call in ModelCall.objects.filter(run=run).exclude(reply=None).exclude(tokens_in=0, tokens_out=0):
        counted = call.attempts.filter(state="answered").aggregate(n=Sum("spent"))["n"]
        assert counted == call.tokens_in + call.tokens_out
    return True
