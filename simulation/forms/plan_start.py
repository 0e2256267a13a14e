"""What a filled-in form would lead to, and the run that it starts: for the page and for the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulation.domain.attributes import CATALOGUE
from simulation.domain.caps import Caps, proposals, proposed, proposed_cost
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan, Forecast, RoleModel, forecast
from simulation.forms import plan_money
from simulation.forms.simulation import SimulationForm
from simulation.models import Profile, Run, User
from simulation.selectors import presets, runs
from simulation.services import dry_runs
from simulation.services import runs as service

WRITERS = ("author", "user", "interest")
FIELD_OF = {"targets": f"threads_{next(iter(CATALOGUE))}", "tagger": "tagger_model", "language": "platform"}
"""What the service names -> the field beside which it is said."""


@dataclass(frozen=True)
class Preview:
    """What the form, as it stands, would lead to. Without `forecast` a field that it needs is wrong; without
    `dry` it is a field of the models."""

    matching: list[Profile] | None
    threads: int
    forecast: Forecast | None = None
    dry: DryRun | None = None
    caps: Caps | None = None

    uncapped: bool = False
    """Something costs money, and no cap in it stands in the form or is proposed."""


def preview(form: SimulationForm, *, by: User | None) -> Preview:
    """Reads the form and asks for the dry run; writes nothing."""
    form.full_clean()
    targets, topics, parameters = form.asked_targets(), form.asked_topics(), form.asked_parameters()
    matching = _matching(form, by)
    counted = Counter(targets or {}) + Counter(topic.target for topic in topics or ())
    if matching is None or targets is None or topics is None or parameters is None:
        return Preview(matching, counted.total())
    said = form.cleaned_data
    then_tag, then_judge = bool(said.get("then_tag")), bool(said.get("then_judge"))
    likely = forecast(targets=counted, profiles=len(matching), parameters=parameters, then_tag=then_tag)
    models = form.asked_models()
    if models is None:
        return Preview(matching, counted.total(), likely, None, proposed(likely))
    dry = dry_runs.dry_run(
        corpus_language=form.corpus.language,
        provider=said["provider"],
        models=models,
        targets=counted,
        profiles=len(matching),
        parameters=parameters,
        then_tag=then_tag,
        then_judge=then_judge,
        parallel=said.get("parallel") or 32,
        typed=len(topics),
    )
    caps = replace(proposed(likely, dry), cost=proposed_cost(dry.cost_high))
    left_empty = said.get("max_cost") is None and not plan_money.renewed_cost(said, caps.cost)
    return Preview(matching, counted.total(), likely, dry, caps, left_empty and not dry.is_free)


def renewed(form: SimulationForm, seen: Preview) -> dict[str, Any]:
    """The caps to set anew in the form: those that still are as they were proposed."""
    if seen.caps is None:
        return {}
    said = form.cleaned_data
    money = plan_money.renewed_cost(said, seen.caps.cost) if seen.dry else {}
    return proposals(said, seen.caps) | money


def fault(form: SimulationForm, seen: Preview) -> BadPlan | None:
    """What keeps a valid form from starting by the rules of the service; None: nothing. Writes nothing."""
    said, models = form.cleaned_data, form.asked_models()
    assert models is not None  # the form is valid
    counted = Counter(form.asked_targets() or {}) + Counter(one.target for one in form.asked_topics() or ())
    asked = {role: models[role] for role in WRITERS}
    tagger = models["tagger"] if said["then_tag"] else None
    later = {"tagger": tagger, "judge": _judge(said, models)}
    try:
        service.check_asked(
            said["name"],
            list(counted.elements()),
            seen.matching or [],
            asked,
            said["seed"],
            said["then_tag"],
            tagger,
        )
        service.check_prices(said["provider"], asked | {role: one for role, one in later.items() if one})
    except BadPlan as problem:
        return problem
    return None


def start(form: SimulationForm, seen: Preview, *, by: User | None, **options: Any) -> Run:
    """The run of a valid form. Raises BadPlan; `field_of` finds its field."""
    said, parameters, models = form.cleaned_data, form.asked_parameters(), form.asked_models()
    assert parameters is not None  # the form is valid
    assert models is not None
    money = plan_money.read_money(said)
    return service.start_simulation(
        by=by,
        corpus=form.corpus,
        targets=form.asked_targets() or {},
        typed=form.asked_topics() or (),
        profiles=seen.matching or [],
        parameters=parameters,
        models={role: models[role] for role in WRITERS},
        tagger=models["tagger"] if said["then_tag"] else None,
        judge=_judge(said, models),
        soft_cost=money["soft_cost"],
        max_cost=money["max_cost"],
        form=str(said["form"]),
        **{name: said[name] for name in AS_SAID},
        **options,
    )


AS_SAID = (
    "name",
    "provider",
    "seed",
    "max_calls",
    "max_tokens",
    "then_tag",
    "parallel",
    "platform",
)


def field_of(form: SimulationForm, problem: BadPlan) -> str | None:
    """The field of the form that a refused plan is about; None: no single one.

    A model is refused by its role, as "user: ..."; where the role names none of its own, it is the run's.
    """
    if problem.field == "models":
        role = str(problem).partition(":")[0].strip()
        own = any(form.cleaned_data.get(f"{role}_{end}") for end in ("model", "provider"))
        return f"{role}_model" if own and f"{role}_model" in form.fields else "model"
    field = FIELD_OF.get(problem.field, problem.field)
    return field if field in form.fields else None


def _matching(form: SimulationForm, by: User | None) -> list[Profile] | None:
    """The profiles that take part: those of the run taken over, where that is asked for."""
    wanted = form.asked_filter()
    if wanted is None:
        return None
    found = runs.matching(form.corpus, wanted)
    said = form.cleaned_data
    if said.get("same_profiles") and said.get("like"):
        cast = presets.cast_of(by, str(said["like"]))
        found = [one for one in found if one.external_id in cast]
    return found


def _judge(said: Mapping[str, Any], models: Mapping[str, RoleModel]) -> RoleModel | None:
    return models["judge"] if said["then_tag"] and said["then_judge"] else None
