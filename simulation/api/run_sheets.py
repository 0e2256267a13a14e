"""Runs as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from simulation.domain.run_states import RunState
from simulation.models import Happening, Run
from simulation.rest.fields import Dollars
from simulation.selectors.progress import Progress
from simulation.selectors.runs import RunRow

SHOWN_OF_PLAN = ("targets", "typed", "platform", "language", "parameters", "models", "tagger", "judge")
"""Of a plan what is no prompt and no list of profiles."""


class Spending(serializers.Serializer):
    """What is spent, and the caps; a cap in money of null is none."""

    calls = serializers.IntegerField()
    tokens = serializers.IntegerField()
    cost_usd = Dollars(source="cost")
    max_calls = serializers.IntegerField()
    max_tokens = serializers.IntegerField()
    max_cost_usd = Dollars(source="max_cost", allow_null=True)
    soft_cost_usd = Dollars(source="soft_cost", allow_null=True)


class Reach(serializers.Serializer):
    """How much of a run is over: threads of a simulation, comments of a tagging run, else steps."""

    over = serializers.IntegerField()
    known = serializers.IntegerField()
    unit = serializers.CharField()


SPENDING = {
    "calls": 812,
    "tokens": 1033411,
    "cost_usd": "0.41",
    "max_calls": 5200,
    "max_tokens": 7400000,
    "max_cost_usd": "2.50",
    "soft_cost_usd": None,
}


class RunSheet(serializers.Serializer):
    """A run and how far it is. `reason` says why it is halted, failed or cancelled, and what to do."""

    id = serializers.CharField(source="run.public_id")
    corpus = serializers.CharField(source="run.corpus.public_id")
    kind = serializers.ChoiceField(source="run.kind", choices=Run.KINDS)
    name = serializers.CharField(source="run.name")
    state = serializers.ChoiceField(source="run.state", choices=[state.value for state in RunState])
    reason = serializers.CharField(source="run.reason")
    seed = serializers.IntegerField(source="run.seed")
    sample = serializers.IntegerField(source="run.sample")
    origin = serializers.ChoiceField(source="run.origin", choices=Run.ORIGINS)
    parallel = serializers.IntegerField(source="run.parallel")
    progress = Reach(source="share")
    trouble = serializers.IntegerField(help_text="Steps that were skipped or failed.")
    spending = Spending(source="run")
    created_at = serializers.DateTimeField(source="run.created_at")
    resumed_at = serializers.DateTimeField(source="run.resumed_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="run.ended_at", allow_null=True)

    example: dict[str, Any] = {
        "id": "r6n3w8k5v2pt",
        "corpus": "k7m2q9x4v3ht",
        "kind": "simulate",
        "name": "run 4",
        "state": "running",
        "reason": "",
        "seed": 42,
        "sample": 0,
        "origin": "fresh",
        "parallel": 32,
        "progress": {"over": 3, "known": 20, "unit": "threads"},
        "trouble": 0,
        "spending": SPENDING,
        "created_at": "2026-11-30T09:18:00Z",
        "resumed_at": "2026-11-30T09:18:02Z",
        "ended_at": None,
    }


class StepCounts(serializers.Serializer):
    """Steps by what became of them; open ones are ready or in work."""

    done = serializers.IntegerField()
    skipped = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    open = serializers.IntegerField()


class WholeRun(RunSheet):
    """A run with the counts of its steps, and its plan for who may start runs (else null)."""

    provider = serializers.CharField(source="run.provider.public_id")
    follows = serializers.CharField(source="run.follows.public_id", allow_null=True, default=None)
    steps = StepCounts()
    plan = serializers.DictField(allow_null=True)

    example = {
        **RunSheet.example,
        "provider": "q4m7x2v9t5hk",
        "follows": None,
        "steps": {"done": 810, "skipped": 0, "failed": 0, "cancelled": 0, "open": 64},
        "plan": {"targets": {"age": 20}, "platform": "reddit", "models": {"user": {"model": "scripted"}}},
    }


def whole(row: RunRow, steps: Progress, *, starts: bool) -> Mapping[str, Any]:
    """What `WholeRun` is drawn from."""
    plan = {key: row.run.plan[key] for key in SHOWN_OF_PLAN if key in row.run.plan} if starts else None
    return {"run": row.run, "share": row.share, "trouble": row.trouble, "steps": steps, "plan": plan}


class EventSheet(serializers.Serializer):
    """A line of a run's story."""

    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    level = serializers.ChoiceField(choices=Happening.LEVELS)
    text = serializers.CharField()


class Events(serializers.Serializer):
    """Lines of a run's story, oldest first. Ask again with `after` = `last`."""

    results = EventSheet(many=True)
    last = serializers.IntegerField(help_text="Number of the last line; `after` where there was none.")
    state = serializers.ChoiceField(choices=[state.value for state in RunState])

    example = {
        "results": [
            {
                "number": 1,
                "at": "2026-11-30T09:18:00Z",
                "level": "info",
                "text": "Planned: 20 threads with 40 profiles.",
            }
        ],
        "last": 1,
        "state": "running",
    }
