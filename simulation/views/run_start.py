"""Starting a simulation: where, with what, and what it will probably need before anything is spent."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from simulation.domain.caps import Caps, proposals, proposed
from simulation.domain.plans import BadPlan, Forecast, forecast
from simulation.domain.roles import Right
from simulation.forms import SimulationForm
from simulation.models import Corpus, Profile, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import runs as service

FIELD_OF = {"targets": "threads_age", "profiles": None, "models": "model", "tagger": "tagger_model"}
"""What the service names -> the field beside which it is said."""
DRAWN_SEEDS = 1_000_000
CHANGED = (
    "The forecast has changed with what you entered, and the caps with it."
    " Look at both once more, then start the run."
)


@needs(Right.START_RUNS)
@require_safe
def choose(request: PersonRequest) -> HttpResponse:
    """In which corpus? With only one the question is not asked."""
    corpora = list(runs.startable(request.user))
    if len(corpora) == 1:
        return redirect("run_new", corpus_id=corpora[0].public_id)
    return render(request, "runs/choose.html", {"section": "runs", "corpora": corpora})


@dataclass(frozen=True)
class Preview:
    """What the form, as it stands, would lead to. Without `forecast` a field that it needs is wrong."""

    matching: list[Profile] | None
    forecast: Forecast | None
    threads: int
    caps: Caps | None


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew."""
    corpus = get_object_or_404(runs.startable(request.user), public_id=corpus_id)
    providers = list(Provider.objects.all())
    sent = request.POST if request.method == "POST" else _first(corpus, providers)
    form = SimulationForm(sent, providers=providers)
    preview = _preview(corpus, form)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, preview.caps) if preview.caps else {}
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form, preview):
            return redirect("run", run_id=run.public_id)
    elif renewed:
        form = form.with_fields(renewed, providers)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    return _page(request, corpus, providers, form, preview, renewed=bool(renewed))


def _preview(corpus: Corpus, form: SimulationForm) -> Preview:
    form.full_clean()
    wanted, targets, parameters = form.asked_filter(), form.asked_targets(), form.asked_parameters()
    matching = runs.matching(corpus, wanted) if wanted is not None else None
    threads = sum(targets.values()) if targets else 0
    if matching is None or targets is None or parameters is None:
        return Preview(matching, None, threads, None)
    likely = forecast(
        targets=targets,
        profiles=len(matching),
        parameters=parameters,
        then_tag=bool(form.cleaned_data.get("then_tag")),
    )
    return Preview(matching, likely, threads, proposed(likely))


def _start(request: PersonRequest, corpus: Corpus, form: SimulationForm, preview: Preview) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said = form.cleaned_data
    models, parameters = form.asked_models(), form.asked_parameters()
    assert parameters is not None  # the form is valid
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            run = service.start_simulation(
                by=request.user,
                corpus=corpus,
                targets=form.asked_targets() or {},
                profiles=preview.matching or [],
                parameters=parameters,
                models={role: models[role] for role in ("author", "user", "interest")},
                tagger=models["tagger"] if said["then_tag"] else None,
                form=str(said["form"]),
                **{
                    key: said[key]
                    for key in ("name", "provider", "seed", "max_calls", "max_tokens", "then_tag")
                },
            )
    except BadPlan as problem:
        field = FIELD_OF.get(problem.field, problem.field)
        form.add_error(field if field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run


def _first(corpus: Corpus, providers: list[Provider]) -> dict[str, Any]:
    """What stands in the form at first: every default, a drawn seed, caps by the forecast."""
    blank = SimulationForm(providers=providers)
    sent = {name: field.initial for name, field in blank.fields.items() if field.initial is not None}
    if providers:
        sent["provider"] = providers[0].public_id
    sent |= {
        "name": runs.next_name(corpus),
        "form": str(uuid.uuid4()),
        "seed": secrets.randbelow(DRAWN_SEEDS),
    }
    return sent


def _page(
    request: PersonRequest,
    corpus: Corpus,
    providers: list[Provider],
    form: SimulationForm,
    preview: Preview,
    *,
    renewed: bool,
) -> HttpResponse:
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "wrong": wrong,
        "preview": preview,
        "renewed": renewed,
        "n_profiles": corpus.profiles.count(),
        "providers": providers,
        "may_add": runs.starts_everywhere(request.user),
        "workers": workers.alive(),
    }
    template = "runs/new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)
