"""Starting a run that names communities for the threads of a corpus."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.forms.communities import NamingForm
from evaluation.selectors.communities import Need, need
from evaluation.services.naming import ANSWER_CAP, PURPOSE, ROLE, Wish, forecast, start_naming
from evaluation.views.rooms import corpus_for
from simulation.domain.caps import proposals, proposed
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan, Range
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "The corpus has changed, and needs other caps: they are proposed anew. Look at them, then start."


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    form = NamingForm(request.POST if request.method == "POST" else _first(corpus))
    form.full_clean()
    found = need(corpus, ANSWER_CAP)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, proposed(forecast(found)))
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form):
            return redirect("run", run_id=run.public_id)
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
        form.full_clean() if looking else None
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context: dict[str, Any] = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "need": found,
        "dry": _dry(corpus, form, found),
        "wrong": wrong,
        "renewed": bool(renewed),
        "providers": Provider.objects.exists(),
        "workers": workers.alive(),
    }
    template = "evaluation/communities_new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _dry(corpus: Corpus, form: NamingForm, found: Need) -> DryRun | None:
    role = form.role
    if role is None or not found.threads:
        return None
    return dry_runs.of_calls(
        {PURPOSE: Range(found.threads, found.threads + found.threads // 5)},
        provider=form.cleaned_data["provider"],
        models={ROLE: role},
        language=corpus.language,
        known={PURPOSE: found.per_call},
    )


def _first(corpus: Corpus) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    return {
        "name": runs.next_name(corpus, "communities"),
        "provider": provider.public_id if provider else "",
        "model": "",
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: NamingForm) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said, role = form.cleaned_data, form.role
    assert role is not None  # the form is valid
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            wish = Wish(
                name=said["name"],
                provider=said["provider"],
                model=role,
                askreddit=said["askreddit"],
                form=str(said["form"]),
                **form.caps,
            )
            run = start_naming(corpus, wish, by=request.user)
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run
