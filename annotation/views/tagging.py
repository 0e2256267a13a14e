"""Starting a run that tags the comments of a corpus."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.forms import TagForm
from annotation.services import tagging
from annotation.views.browse import corpus_for
from simulation.domain.caps import Caps, proposals, proposed
from simulation.domain.plans import BadPlan, Forecast, tagging_forecast
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs

CHANGED = "Other comments need other caps: they are proposed anew. Look at them, then start the run."


@dataclass(frozen=True)
class Preview:
    """How many comments there are to tag, and what tagging the chosen ones will need."""

    all: int
    untagged: int
    chosen: int
    forecast: Forecast
    caps: Caps


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    form = TagForm(request.POST if request.method == "POST" else _first(corpus))
    form.full_clean()
    preview = _preview(corpus, only_untagged=form.cleaned_data.get("which") != "all")
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, preview.caps)
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form):
            return redirect("run", run_id=run.public_id)
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    return _page(request, corpus, form, preview, renewed=bool(renewed))


def _page(
    request: PersonRequest, corpus: Corpus, form: TagForm, preview: Preview, *, renewed: bool
) -> HttpResponse:
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "preview": preview,
        "renewed": renewed,
        "wrong": wrong,
        "providers": Provider.objects.exists(),
        "may_add": runs.starts_everywhere(request.user),
        "workers": workers.alive(),
    }
    template = "runs/tag.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _preview(corpus: Corpus, *, only_untagged: bool) -> Preview:
    everything = corpus.comments.filter(state="active").count()
    untagged = tagging.untagged(corpus).count()
    chosen = untagged if only_untagged else everything
    forecast = tagging_forecast(chosen)
    return Preview(everything, untagged, chosen, forecast, proposed(forecast))


def _first(corpus: Corpus) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    return {
        "name": runs.next_name(corpus, "tags"),
        "provider": provider.public_id if provider else "",
        "which": "untagged",
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: TagForm) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said = form.cleaned_data
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            run = tagging.start_tagging(
                by=request.user,
                corpus=corpus,
                model=said["model"] or said["provider"].default_model,
                only_untagged=said["which"] == "untagged",
                form=str(said["form"]),
                **{key: said[key] for key in ("name", "provider", "max_calls", "max_tokens")},
            )
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run
