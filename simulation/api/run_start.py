"""Starting a simulation, from a preset, an earlier run, a plan; and what that would need, before it does."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.urls import reverse
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.api.run_sheets import WholeRun, whole
from simulation.domain.plans import BadPlan
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.forms import plan_sent, plan_start
from simulation.forms.plan_start import Preview
from simulation.forms.simulation import SimulationForm
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.fields import Dollars
from simulation.rest.paging import PageQuery
from simulation.rest.strict import PublicId, Strict
from simulation.selectors import presets, providers, run_watching, runs
from simulation.selectors.progress import progress


class PlanSent(Strict):
    """What a run begins from, and over it the fields of the form of a run, by their names.

    Left out, `provider` is the first one, `seed` is drawn, caps are proposed from the dry run.
    """

    preset = PublicId(required=False, help_text="Public id, or the key of a shipped one: small.")
    like = PublicId(required=False, help_text="A run whose plan is taken over, with its profiles and seed.")
    plan = serializers.DictField(
        required=False,
        default=dict,
        help_text=(
            "Field of the form -> value: name, provider, seed, threads_age, rounds, user_model, max_cost …;"
            " `typed` is a list of posts {target, question, description}."
        ),
    )

    example = {
        "preset": "small",
        "plan": {"name": "nightly", "seed": 7, "threads_age": 2, "user_temperature": 0.9, "max_cost": 2},
    }


class ProposedCaps(serializers.Serializer):
    """Caps as the run would have them."""

    max_calls = serializers.IntegerField(allow_null=True)
    max_tokens = serializers.IntegerField(allow_null=True)
    max_cost_usd = serializers.CharField(allow_null=True)
    soft_cost_usd = serializers.CharField(allow_null=True)


class Fault(serializers.Serializer):
    field = serializers.CharField()
    message = serializers.CharField()


class DryRunSheet(serializers.Serializer):
    """What a plan would need, from low to high; costs are null where a price is not known.

    `problems` says what keeps it from starting.
    """

    profiles = serializers.IntegerField()
    threads = serializers.IntegerField()
    calls_low = serializers.IntegerField()
    calls_high = serializers.IntegerField()
    tokens_low = serializers.IntegerField()
    tokens_high = serializers.IntegerField()
    cost_low_usd = Dollars(source="cost_low", allow_null=True)
    cost_high_usd = Dollars(source="cost_high", allow_null=True)
    seconds_low = serializers.FloatField()
    seconds_high = serializers.FloatField()
    caps = ProposedCaps()
    problems = Fault(many=True)

    example = {
        "profiles": 40,
        "threads": 2,
        "calls_low": 31,
        "calls_high": 62,
        "tokens_low": 21000,
        "tokens_high": 58000,
        "cost_low_usd": "0.01",
        "cost_high_usd": "0.03",
        "seconds_low": 12.0,
        "seconds_high": 40.0,
        "caps": {"max_calls": 93, "max_tokens": 87000, "max_cost_usd": "0.05", "soft_cost_usd": None},
        "problems": [],
    }


class PlanEndpoint(Endpoint):
    """A plan for a corpus."""

    noun = "runs"
    refusals = {plan_sent.BadField: 400}

    def filled(self, corpus_id: str) -> tuple[SimulationForm, Preview]:
        corpus = self.one(runs.startable(self.person), corpus_id)
        sent = self.sent
        return plan_sent.filled(
            corpus,
            by=self.person,
            sent=sent["plan"],
            preset=sent.get("preset", ""),
            like=sent.get("like", ""),
        )


class DryRuns(PlanEndpoint):
    access = {
        "POST": Access(
            Scope.RUN,
            Right.START_RUNS,
            "What a run would need; nothing is started.",
            DryRunSheet,
            body=PlanSent,
        )
    }

    def post(self, request: Request, corpus_id: str) -> Response:
        form, seen = self.filled(corpus_id)
        if seen.dry is None:
            raise ValidationError(_by_field(form))
        said = form.cleaned_data
        caps = {name: said.get(name) for name in ("max_calls", "max_tokens")}
        for name in ("max_cost", "soft_cost"):
            caps[f"{name}_usd"] = None if said.get(name) is None else f"{said[name]:f}"
        found = asdict(seen.dry) | {"profiles": len(seen.matching or ()), "threads": seen.threads}
        problems = plan_sent.problems(form)
        if not problems and (fault := plan_start.fault(form, seen)):
            problems = [{"field": _field_of(form, fault), "message": str(fault)}]
        return self.answer(found | {"caps": caps, "problems": problems})


class CorpusRuns(PlanEndpoint):
    access = {
        "POST": Access(
            Scope.RUN, Right.START_RUNS, "Start a simulation.", WholeRun, body=PlanSent, status=201
        )
    }

    def post(self, request: Request, corpus_id: str) -> Response:
        """It may cost money: send an Idempotency-Key, and a cap. It begins when a worker takes it up."""
        form, seen = self.filled(corpus_id)
        if not form.is_valid():
            raise ValidationError(_by_field(form))
        try:
            run = plan_start.start(form, seen, by=self.person)
        except BadPlan as problem:
            raise ValidationError({_field_of(form, problem): [str(problem)]}) from None
        found = run_watching.visible(self.person).get(pk=run.pk)
        sheet = whole(runs.rows([found])[0], progress(found), starts=True)
        return self.answer(sheet, headers={"Location": reverse("api_run", args=[run.public_id])})


def _field_of(form: SimulationForm, problem: BadPlan) -> str:
    name = plan_start.field_of(form, problem)
    return f"plan.{name}" if name else "plan"


def _by_field(form: SimulationForm) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in plan_sent.problems(form):
        found.setdefault(one["field"], []).append(one["message"])
    return found


class PresetSheet(serializers.Serializer):
    """A filled-in form to begin from. `shipped`: it comes with the product, and its id is a word."""

    id = serializers.CharField()
    name = serializers.CharField()
    shipped = serializers.BooleanField()

    example = {"id": "small", "name": "a small first run", "shipped": True}


class PresetList(serializers.Serializer):
    results = PresetSheet(many=True)

    example = {"results": [PresetSheet.example]}


class Presets(Endpoint):
    noun = "runs"
    access = {
        "GET": Access(Scope.READ, Right.START_RUNS, "The presets of the form of a run.", PresetList),
    }

    def get(self, request: Request) -> Response:
        shipped = [{"id": one.key, "name": one.name, "shipped": True} for one in presets.SHIPPED.values()]
        saved = [{"id": one.public_id, "name": one.name, "shipped": False} for one in presets.listed()]
        return self.answer({"results": [*shipped, *saved]})


class ProviderSheet(serializers.Serializer):
    """Where models are reached, without its address."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    default_model = serializers.CharField()

    example = {"id": "q4m7x2v9t5hk", "name": "scripted", "default_model": "scripted"}


class Providers(Endpoint):
    noun = "runs"
    access = {
        "GET": Access(
            Scope.READ,
            Right.START_RUNS,
            "The providers that runs may call.",
            ProviderSheet,
            query=PageQuery,
            paged=True,
        )
    }

    def get(self, request: Request) -> Response:
        return self.page(providers.listed())
