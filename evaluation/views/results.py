"""Labels and guesses of a corpus: the list, the way in, one prediction run."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from evaluation.exchange import importing_uploads as uploads
from evaluation.forms.results import DescriptionForm, ResultsForm
from evaluation.models import Prediction, PredictionRun, ResultImport
from evaluation.selectors import results as selectors
from evaluation.services.result_imports import SAID, BadDescription, describe
from evaluation.tasks import run_result_import
from evaluation.views.rooms import corpus_for, may
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.exchange")


@needs(Right.SEE_PROFILES)
@require_safe
def results(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """What there is to score and to score against."""
    corpus = corpus_for(request, corpus_id)
    asked = {key: request.GET.get(key, "") for key in ("runs_after", "sets_after", "model")}
    context = {
        "section": "models",
        "tab": "results",
        "corpus": corpus,
        "asked": asked,
        "runs": selectors.prediction_runs(corpus, after=asked["runs_after"], model=asked["model"]),
        "sets": selectors.label_sets(corpus, after=asked["sets_after"]),
        "models": selectors.models(corpus),
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    return render(request, "evaluation/results.html", context)


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def results_import(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """Takes a file and hands it to a worker."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    form = ResultsForm(request.POST or None, request.FILES or None, corpus=corpus)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            one = uploads.receive(
                by=request.user, corpus=corpus, kind=said["kind"], file=said["file"], options=form.options
            )
        except uploads.NameTooLong as error:
            form.add_error("file", str(error))
        else:
            _hand_over(one)
            return redirect("result_import", import_id=one.public_id)
    context = {
        "section": "models",
        "tab": "results",
        "corpus": corpus,
        "form": form,
        "imports": selectors.latest_imports(corpus),
        "workers": workers.alive(),
    }
    return render(request, "evaluation/results_import.html", context, status=422 if form.errors else 200)


def _hand_over(one: ResultImport) -> None:
    """Tells a worker. Where the broker is down the file waits: the sweep sends what nobody was told of."""
    try:
        run_result_import.delay_on_commit(one.pk)  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("results not handed over, the broker does not answer", extra={"import": one.public_id})


@needs(Right.EVALUATE)
@require_safe
def result_import(request: PersonRequest, import_id: str) -> HttpResponse:
    """What became of an upload; asked by htmx, only the part that changes."""
    one = get_object_or_404(
        ResultImport.objects.visible_to(request.user).select_related("corpus"), public_id=import_id
    )
    running = one.state in (ResultImport.QUEUED, ResultImport.RUNNING)
    context = {
        "section": "models",
        "tab": "results",
        "one": one,
        "corpus": one.corpus,
        "running": running,
        "workers": workers.alive() if running else {},
    }
    template = "evaluation/result_import.html" + ("#status" if request.htmx else "")
    return render(request, template, context)


@needs(Right.SEE_PROFILES)
@require_http_methods(["GET", "HEAD", "POST"])
def prediction_run(request: PersonRequest, run_id: str) -> HttpResponse:
    """What a run is and what it guessed; with POST, what is known of its model."""
    run = get_object_or_404(
        PredictionRun.objects.visible_to(request.user).select_related(
            "corpus", "counterpart", "run", "masking"
        ),
        public_id=run_id,
    )
    if request.method == "POST":
        corpus_for(request, run.corpus.public_id, Right.EVALUATE)
    form = DescriptionForm(request.POST or None, instance=run)
    if request.method == "POST" and form.is_valid():
        try:
            describe(run, by=request.user, **{field: form.cleaned_data[field] for field in SAID})
        except BadDescription as error:
            form.add_error(error.field, f"{error}.")
        else:
            messages.success(request, "Saved.")
            return redirect("prediction_run", run_id=run.public_id)
    if form.errors:
        run.refresh_from_db()
    context = _of_run(request, run) | {"form": form}
    return render(request, "evaluation/prediction_run.html", context, status=422 if form.errors else 200)


def _of_run(request: PersonRequest, run: PredictionRun) -> dict[str, Any]:
    attribute, outcome = request.GET.get("attribute", ""), request.GET.get("outcome", "")
    given = request.GET.get("after", "")
    after = int(given) if given.isdecimal() and len(given) < 19 else 0
    outcomes = dict(Prediction.OUTCOMES)
    outcome = outcome if outcome in outcomes else ""
    tallies = selectors.tallies(run)
    return {
        "section": "models",
        "tab": "results",
        "corpus": run.corpus,
        "run": run,
        "scorings": run.scorings.select_related("label_set").order_by("label_set__name", "mode"),
        "tallies": tallies,
        "unanswered": sum(one.unanswered for one in tallies),
        "page": selectors.guesses(run, attribute=attribute, outcome=outcome, after=after),
        "asked": {"attribute": attribute, "outcome": outcome},
        "begun": after > 0,
        "query": urlencode({"attribute": attribute, "outcome": outcome}),
        "outcomes": outcomes,
        "attributes": CATALOGUE.values(),
        "may_evaluate": may(request, run.corpus, Right.EVALUATE),
    }
