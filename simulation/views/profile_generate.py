"""Starting runs that make profiles: new ones, or styles for those without; with a forecast before anything
is spent."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from simulation.domain.caps import proposals, proposed
from simulation.domain.money import UnitPrice
from simulation.domain.plans import BadPlan, Forecast
from simulation.domain.roles import Right
from simulation.forms.profile_generation import GenerationForm, StylesForm
from simulation.models import Corpus, Profile, Provider, Run
from simulation.selectors import prices, profile_checks, runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import profile_runs as service
from simulation.services.profile_asking import AUTHOR, STYLER
from simulation.views.profile_check import DRAWN_SEEDS, address

PROFILES, STYLES = "profiles", "styles"
CHANGED = (
    "The forecast has changed with what you entered, and the caps with it."
    " Look at both once more, then start the run."
)
FIELD_OF = {"models": "provider"}
"""What the service names -> the field beside which it is said."""


@dataclass(frozen=True)
class Cost:
    """The most that the tokens of a forecast may cost: all of them at the dearer price of its models."""

    most: int | None
    """Nano-dollars; None: the price of one of the models is not known."""
    unknown: str
    """The model whose price nobody knows."""


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def generate(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew."""
    corpus = get_object_or_404(runs.startable(request.user), public_id=corpus_id)
    sent = request.POST if request.method == "POST" else request.GET
    what = STYLES if sent.get("what") == STYLES else PROFILES
    providers = list(Provider.objects.all())
    waiting = list(profile_checks.without_style(corpus)) if what == STYLES else []
    make = StylesForm if what == STYLES else GenerationForm
    form = make(
        request.POST if request.method == "POST" else _first(make, corpus, providers), providers=providers
    )
    likely = _forecast(form, what, waiting)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, proposed(likely)) if likely else {}
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form, waiting):
            messages.success(request, f"“{run.name}” is planned. Profiles appear here as they are made.")
            return redirect(address(corpus, {}))
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context = {
        "section": "corpora",
        "corpus": corpus,
        "what": what,
        "form": form,
        "wrong": wrong,
        "likely": likely,
        "cost": _cost(form, likely) if likely else None,
        "renewed": bool(renewed),
        "n_approved": sum(one.state == Profile.APPROVED for one in waiting),
        "n_waiting": len(waiting) if what == STYLES else profile_checks.without_style(corpus).count(),
        "n_profiles": corpus.profiles.exclude(state=Profile.REJECTED).count(),
        "providers": providers,
        "may_add": runs.starts_everywhere(request.user),
        "workers": workers.alive(),
        "open_run": profile_checks.open_run(corpus),
    }
    template = "profiles/generate.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _first(make: type[StylesForm], corpus: Corpus, providers: list[Provider]) -> dict[str, Any]:
    """What stands in the form at first: every default, a drawn seed, caps by the forecast."""
    blank = make(providers=providers)
    sent = {name: field.initial for name, field in blank.fields.items() if field.initial is not None}
    if providers:
        sent["provider"] = providers[0].public_id
    return sent | {
        "name": runs.next_name(corpus, "profiles" if make is GenerationForm else "styles"),
        "form": str(uuid.uuid4()),
        "seed": secrets.randbelow(DRAWN_SEEDS),
    }


def _forecast(form: StylesForm, what: str, waiting: list[Profile]) -> Forecast | None:
    """What the run will need; None where the number of profiles is wrong or nothing."""
    form.full_clean()
    if what == STYLES:
        return service.forecast_styles(len(waiting)) if waiting else None
    count = form.cleaned_data.get("count")
    return service.forecast_generation(count) if count else None


def _cost(form: StylesForm, likely: Forecast) -> Cost | None:
    provider = form.cleaned_data.get("provider")
    if provider is None:
        return None
    now, dearest = timezone.now(), 0
    for model in {form.model_of(role).model for role in form.roles_asked}:
        price = prices.current(provider, model, now) or prices.proposed(provider, model, now)
        if price is None:
            return Cost(None, model)
        dearest = max(dearest, _at_most(price.unit, likely.tokens_high))
    return Cost(dearest, "")


def _at_most(unit: UnitPrice, tokens: int) -> int:
    return max(unit.cost(input=tokens, output=0), unit.cost(input=0, output=tokens))


def _start(request: PersonRequest, corpus: Corpus, form: StylesForm, waiting: list[Profile]) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said = form.cleaned_data
    fields: dict[str, Any] = {
        key: said[key] for key in ("name", "provider", "seed", "max_calls", "max_tokens")
    }
    fields |= form.cost_caps() | {"by": request.user, "corpus": corpus, "form": str(said["form"])}
    fields["styler"] = form.model_of(STYLER)
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            if isinstance(form, GenerationForm):
                return service.start_generation(
                    model=form.model_of(AUTHOR),
                    count=said["count"],
                    targets=form.asked_targets(),
                    **fields,
                )
            return service.start_styles(profiles=waiting, **fields)
    except BadPlan as problem:
        field = FIELD_OF.get(problem.field, problem.field)
        form.add_error(field if field in form.fields else None, str(problem))
        return None
