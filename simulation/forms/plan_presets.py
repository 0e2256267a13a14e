"""What of the form a preset keeps, and a preset or an earlier run as the fields of the form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simulation.domain.parameters import Parameters
from simulation.domain.plan_values import parameter_values, role_values, thread_values
from simulation.domain.plans import RoleModel
from simulation.forms import plan_how, plan_money, plan_topics
from simulation.forms.simulation import SimulationForm
from simulation.models import Provider, Run

NOT_KEPT = frozenset(
    ("name", "form", "seed", "like", "same_profiles", "preset_name", "preset_overwrite", "typed_paste")
)
"""What is of one run, or of one sitting at the form."""
CAPS = {"max_calls": "suggested_calls", "max_tokens": "suggested_tokens", "max_cost": "suggested_cost"}


def kept(form: SimulationForm) -> dict[str, Any]:
    """The fields of a form without errors as JSON. A cap that still is as proposed is proposed anew later."""
    said = form.cleaned_data
    values: dict[str, Any] = {}
    for name in form.fields:
        if name in NOT_KEPT or name == "typed" or name.startswith("suggested_"):
            continue
        if name in CAPS and said.get(name) == said.get(CAPS[name]):
            continue
        raw = form[name].value()
        values[name] = "" if raw is None else raw
    topics = plan_topics.read_topics(said)
    return values | plan_topics.row_values(
        {"target": one.target, "question": one.question, "description": one.description} for one in topics
    )


def taken_over(run: Run) -> dict[str, Any]:
    """The plan of a run as fields, with its seed, its caps, its posts, and the same profiles."""
    plan = run.plan
    values: dict[str, Any] = {
        "provider": run.provider.public_id,
        "platform": plan.get("platform") or "reddit",
        "seed": run.seed,
        "parallel": run.parallel,
        "max_calls": run.max_calls,
        "max_tokens": run.max_tokens,
        "then_tag": bool(plan.get("tagger")),
        "then_judge": bool(plan.get("judge")),
        "like": run.public_id,
        "same_profiles": True,
    }
    for field, amount in (("max_cost", run.max_cost), ("soft_cost", run.soft_cost)):
        values[field] = "" if amount is None else plan_money.as_dollars(amount)
    values |= parameter_values(Parameters.from_dict(plan.get("parameters", {})))
    models = dict(plan.get("models", {})) | {role: plan.get(role) for role in ("tagger", "judge")}
    for role, model in models.items():
        if model and role in plan_how.ROLES:
            values |= role_values(role, RoleModel(**model))
    return values | thread_values(plan.get("targets", {})) | _posts(run)


def _posts(run: Run) -> dict[str, list[str]]:
    typed = run.run_threads.exclude(typed={}).order_by("index").values_list("target", "typed")
    return plan_topics.row_values({"target": target, **said} for target, said in typed)


def fitting(
    values: Mapping[str, Any], *, providers: Iterable[Provider], platforms: Iterable[str]
) -> tuple[dict[str, Any], list[str]]:
    """The values without what is not there any more, and a sentence about each thing left out."""
    known = {one.public_id for one in providers}
    fits, left_out = dict(values), []
    choices = ["provider", *(f"{role}_provider" for role in plan_how.ROLES)]
    if gone := [name for name in choices if fits.get(name) and fits[name] not in known]:
        for name in gone:
            del fits[name]
        left_out.append("A provider of it is not there any more: see which one is chosen now.")
    if fits.get("platform") and fits["platform"] not in set(platforms):
        del fits["platform"]
        left_out.append("Its platform is not there in the language of this corpus.")
    return fits, left_out
