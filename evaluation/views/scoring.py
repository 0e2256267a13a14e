"""Scoring prediction runs, and looking at every verdict: who decided, and why."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.exchange import verdict_tables
from evaluation.forms.scoring import ScoringForm
from evaluation.models import PredictionRun, Scoring, Verdict
from evaluation.selectors import verdicts
from evaluation.selectors.verdict_differences import differences
from evaluation.tasks import score_runs
from evaluation.views.rooms import corpus_for, may
from evaluation.views.settling import as_stream
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; what it orders is done by a worker, and shows up in the list beside it."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    made = verdicts.made(corpus)
    form = ScoringForm(request.POST or None, corpus=corpus, made=made, initial=_first(request))
    if request.method == "POST" and form.is_valid():
        return _order(request, corpus, form)
    context = {
        "section": "models",
        "tab": "results",
        "corpus": corpus,
        "form": form,
        "made": made,
        "workers": workers.alive(),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "evaluation/scoring_new.html", context, status=status)


def _first(request: PersonRequest) -> dict[str, Any]:
    """An address may choose set, runs and rules."""
    found: dict[str, Any] = {"runs": request.GET.getlist("runs"), "takes_recorded": True}
    if request.GET.get("labels"):
        found["labels"] = request.GET["labels"]
    if request.GET.getlist("modes"):
        found["modes"] = request.GET.getlist("modes")
    return found


def _order(request: PersonRequest, corpus: Corpus, form: ScoringForm) -> HttpResponse:
    said = form.cleaned_data
    keys = [one.pk for one in said["runs"]]
    score_runs.delay_on_commit(  # type: ignore[attr-defined]
        said["labels"].pk, keys, said["modes"], form.more, by=request.user.pk
    )
    number = (len(keys) + said["majority"] + len(said["taggers"])) * len(said["modes"])
    words = (
        f"{number} scoring{'s are' if number > 1 else ' is'} on the way to a worker. It shows up in the list"
    )
    messages.success(request, f"{words} below, mostly within seconds: look again.")
    return redirect(f"{reverse('scoring_new', args=[corpus.public_id])}#made")


def _scoring(request: PersonRequest, public_id: str) -> Scoring:
    runs = PredictionRun.objects.visible_to(request.user)
    found = Scoring.objects.filter(prediction_run__in=runs)
    return get_object_or_404(
        found.select_related("prediction_run__corpus", "label_set", "created_by"), public_id=public_id
    )


@needs(Right.SEE_PROFILES)
@require_safe
def scoring(request: PersonRequest, scoring_id: str) -> HttpResponse:
    """Every verdict, as an address narrows them, with counts on top."""
    found = _scoring(request, scoring_id)
    asked = verdicts.read_filter(request.GET.dict())
    after = request.GET.get("after", "")
    corpus = found.prediction_run.corpus
    context = {
        "section": "models",
        "tab": "results",
        "corpus": corpus,
        "scoring": found,
        "page": verdicts.listed(found, asked, int(after) if after.isdecimal() and len(after) < 19 else 0),
        "counted": verdicts.counted(found, asked),
        "asked": asked,
        "query": urlencode(asked.as_dict()),
        "begun": bool(after),
        "attributes": CATALOGUE.values(),
        "outcomes": Verdict.OUTCOMES,
        "rungs": [(key or verdicts.NOBODY, word) for key, word in verdicts.RUNG_WORDS.items()],
        "scores": [(key, verdicts.SCORE_WORDS[value]) for key, value in verdicts.SCORES.items()],
        "others": _others(found),
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    return render(request, "evaluation/scoring.html", context)


def _others(found: Scoring) -> list[Scoring]:
    """The scorings of the same predictions against the same labels by other rules."""
    same = Scoring.objects.filter(prediction_run=found.prediction_run_id, label_set=found.label_set_id)
    return list(same.exclude(pk=found.pk).order_by("mode"))


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, scoring_id: str) -> HttpResponseBase:
    """The verdicts that the page lists, all of them, as a file."""
    found = _scoring(request, scoring_id)
    lines = verdict_tables.scoring(found, verdicts.read_filter(request.GET.dict()))
    return as_stream(lines, f"verdicts-{found.mode}-{found.public_id}")


@needs(Right.SEE_PROFILES)
@require_safe
def difference(request: PersonRequest, scoring_id: str) -> HttpResponse:
    """Where the published and the default rules differ on the run of a scoring, once both have scored it."""
    found = _scoring(request, scoring_id)
    published, default = (
        found if found.mode == mode else verdicts.beside(found, mode)
        for mode in (Scoring.COMPATIBLE, Scoring.DEFAULT)
    )
    corpus = found.prediction_run.corpus
    context = {
        "section": "models",
        "tab": "results",
        "corpus": corpus,
        "scoring": found,
        "published": published,
        "default": default,
        "found": differences(published, default) if published and default else None,
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    return render(request, "evaluation/scoring_difference.html", context)
