"""Starting a simulation: where, with what, and what it will probably need before anything is spent."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from simulation.domain.plan_values import SHIPPED
from simulation.domain.plans import BadPlan
from simulation.domain.roles import Right
from simulation.forms import SimulationForm, plan_presets, plan_start, plan_topics
from simulation.forms.plan_start import Preview
from simulation.models import Corpus, Provider, Run
from simulation.selectors import presets, runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import presets as preset_service

DRAWN_SEEDS = 1_000_000
CHANGED = (
    "The forecast has changed with what you entered, and the caps with it."
    " Look at both once more, then start the run."
)
SHOWN_PRESETS = 5


@needs(Right.START_RUNS)
@require_safe
def choose(request: PersonRequest) -> HttpResponse:
    """In which corpus? With only one the question is not asked. `?preset=` goes on to the form."""
    corpora, preset = list(runs.startable(request.user)), request.GET.get("preset", "")
    behind = f"?{urlencode({'preset': preset})}" if preset else ""
    if len(corpora) == 1:
        return redirect(reverse("run_new", args=[corpora[0].public_id]) + behind)
    return render(request, "runs/choose.html", {"section": "runs", "corpora": corpora, "behind": behind})


@dataclass
class Sitting:
    """One request for the form of a corpus."""

    request: PersonRequest
    corpus: Corpus
    providers: list[Provider]
    said: dict[str, Any] = field(default_factory=dict)
    """What the page says besides: where the form began, what was left out, what was saved."""

    def form(self, sent: Any) -> SimulationForm:
        return SimulationForm(sent, corpus=self.corpus, providers=self.providers)


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form. With `look`, `more` (a row) or `save` (a preset), or asked by htmx, nothing is started."""
    corpus = get_object_or_404(runs.startable(request.user), public_id=corpus_id)
    sitting = Sitting(request, corpus, list(Provider.objects.all()))
    posted = request.method == "POST"
    form = sitting.form(request.POST if posted else _first(sitting))
    seen = plan_start.preview(form, by=request.user)
    looking = not posted or bool(request.htmx) or not {"look", "more", "save"}.isdisjoint(request.POST)
    renewed = plan_start.renewed(form, seen)
    if renewed:
        form = form.with_fields(renewed)
    if not looking and form.is_valid():
        if renewed:
            form.add_error(None, CHANGED)
        elif run := _start(sitting, form, seen):
            return redirect("run", run_id=run.public_id)
    if "save" in request.POST and not request.htmx:
        _save_preset(sitting, form)
    return _page(sitting, form, seen, renewed=bool(renewed))


def _start(sitting: Sitting, form: SimulationForm, seen: Preview) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=sitting.corpus.pk)
            if already := runs.of_form(sitting.corpus, form.cleaned_data["form"]):
                return already
            run = plan_start.start(form, seen, by=sitting.request.user)
    except BadPlan as problem:
        name = plan_start.field_of(form, problem)
        form.add_error(name, str(problem))
        if problem.field == "models":
            sitting.said["unpriced"] = name
        return None
    messages.success(sitting.request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run


def _save_preset(sitting: Sitting, form: SimulationForm) -> None:
    """The form as it stands under a name. A name that is taken asks whether to replace."""
    person, sitting.said["saving"] = sitting.request.user, True
    form.full_clean()
    if form.errors:
        form.add_error(None, "Something needs mending; no preset was saved.")
        return
    name, overwrite = form.cleaned_data["preset_name"], form.cleaned_data["preset_overwrite"]
    try:
        saved = preset_service.save(by=person, name=name, values=plan_presets.kept(form), overwrite=overwrite)
    except preset_service.NameTaken as taken:
        sitting.said["replaces"] = taken.preset
        form.add_error("preset_name", f"{taken} Replace it, or choose another name.")
    except preset_service.BadName as problem:
        form.add_error("preset_name", str(problem))
    else:
        sitting.said["saved"] = saved


def _first(sitting: Sitting) -> dict[str, Any]:
    """What stands in the form at first: every default, a drawn seed; and over it what it begins from."""
    blank = SimulationForm(corpus=sitting.corpus, providers=sitting.providers)
    sent = {name: one.initial for name, one in blank.fields.items() if one.initial is not None}
    if sitting.providers:
        sent["provider"] = sitting.providers[0].public_id
    sent |= {
        "name": runs.next_name(sitting.corpus),
        "form": str(uuid.uuid4()),
        "seed": secrets.randbelow(DRAWN_SEEDS),
    }
    begun, left_out = plan_presets.fitting(
        _begun(sitting),
        providers=sitting.providers,
        platforms=[one.key for one in blank.platforms],
    )
    sitting.said["left_out"] = left_out
    return sent | plan_topics.refilled(begun)


def _begun(sitting: Sitting) -> dict[str, Any]:
    """The fields of the preset or run that the address names; 404 for one that is not there to be seen."""
    asked = sitting.request.GET
    if key := asked.get("preset"):
        preset = presets.found(key)
        if preset is None:
            raise Http404("There is no such preset.")
        sitting.said["begun"] = preset
        return dict(preset.values)
    if key := asked.get("like"):
        run = presets.like(sitting.request.user, key)
        if run is None:
            raise Http404("There is no such run.")
        sitting.said["like"] = run
        values = plan_presets.taken_over(run)
        return values if run.corpus_id == sitting.corpus.pk else values | {"same_profiles": False}
    return {}


def _page(sitting: Sitting, form: SimulationForm, seen: Preview, *, renewed: bool) -> HttpResponse:
    request = sitting.request
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx and "more" not in request.POST
    if (key := form["like"].value()) and "like" not in sitting.said:
        sitting.said["like"] = presets.like(request.user, str(key))
    saved = list(presets.listed()[: SHOWN_PRESETS + 1])
    context = {
        "section": "runs",
        "corpus": sitting.corpus,
        "form": form,
        "wrong": wrong,
        "preview": seen,
        "renewed": renewed,
        "n_profiles": sitting.corpus.profiles.filter(state="approved").count(),
        "waiting": sitting.corpus.profiles.filter(state="proposed").count(),
        "providers": sitting.providers,
        "may_add": runs.starts_everywhere(request.user),
        "workers": workers.alive(),
        "shipped": SHIPPED.values(),
        "saved_presets": saved[:SHOWN_PRESETS],
        "more_presets": len(saved) > SHOWN_PRESETS,
        **sitting.said,
    }
    # By what is to be replaced: htmx sends the button that was pressed last with every later look.
    part = "#topics" if request.htmx.target == "topics" else "#look"
    template = "runs/new.html" + (part if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)
