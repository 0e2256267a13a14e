"""A judge model is asked what rules left open: the form, its forecast, and how judges have done so far."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.forms.matching import MatchingForm
from evaluation.selectors import matching, matching_parts
from evaluation.selectors.matching_parts import GUESSES, Size, Which
from evaluation.services.matching import start_matching
from evaluation.services.matching_forecast import calls_of, forecast
from evaluation.views.rooms import corpus_for
from simulation.domain.caps import proposals, proposed
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "Other questions need other caps: they are proposed anew. Look at them, then start the run."


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of such a run; with `look`, or asked by htmx, only its forecast anew."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    offer = matching_parts.offer(corpus)
    form = MatchingForm(request.POST if request.method == "POST" else _first(request, corpus), offer=offer)
    form.full_clean()
    size = matching_parts.size(matching_parts.askable(corpus, form.part), form.together)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, proposed(forecast(size, form.times)))
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form):
            return redirect("run", run_id=run.public_id)
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context: dict[str, Any] = {
        "section": "models",
        "tab": "settle",
        "corpus": corpus,
        "form": form,
        "size": size,
        "dry": _dry(corpus, form, size),
        "any": not offer.is_empty,
        "wrong": wrong,
        "renewed": bool(renewed),
        "providers": Provider.objects.exists(),
        "workers": workers.alive(),
    }
    if not request.htmx:
        context["health"] = matching.judge_health(corpus)
    template = "evaluation/matching_new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _dry(corpus: Corpus, form: MatchingForm, size: Size) -> DryRun | None:
    role = form.role
    if role is None or not size.calls:
        return None
    provider = form.cleaned_data["provider"]
    return dry_runs.of_calls(
        {"judge": calls_of(size, form.times)},
        provider=provider,
        models={"judge": role},
        language=corpus.language,
    )


def _first(request: PersonRequest, corpus: Corpus) -> dict[str, Any]:
    """The form as it is first shown; an address may choose the questions and one attribute."""
    provider = Provider.objects.order_by("name").first()
    asked = request.GET.get("which", "")
    return {
        "name": runs.next_name(corpus, "judge"),
        "which": asked if asked in list(Which) else Which.OPEN.value,
        "attributes": request.GET.getlist("attribute"),
        "waiting": "1",
        "guesses": str(GUESSES),
        "votes": "1",
        "provider": provider.public_id if provider else "",
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: MatchingForm) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said, role = form.cleaned_data, form.role
    assert role is not None  # the form is valid
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            run = start_matching(
                by=request.user,
                corpus=corpus,
                name=said["name"],
                provider=said["provider"],
                model=role,
                part=form.part,
                guesses=form.together,
                votes=form.times,
                form=str(said["form"]),
                **form.caps,
            )
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run
