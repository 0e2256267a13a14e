"""Runs that come from other runs: a replay from the ledger, another sample, a fork of a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.roles import Right
from simulation.forms.runs import AgainForm, ForkForm, ReplayForm
from simulation.models import Corpus, Run, RunThread
from simulation.selectors import runs as selectors
from simulation.selectors.access import PersonRequest, needs
from simulation.services import descending
from simulation.views.run_control import steered

METHODS = ["GET", "HEAD", "POST"]


@needs(Right.START_RUNS)
@require_http_methods(METHODS)
def replay(request: PersonRequest, run_id: str) -> HttpResponse:
    """The same threads once more, from the ledger, in a corpus of their own; for who may add corpora."""
    run = steered(request, run_id)
    if not selectors.starts_everywhere(request.user):
        raise Http404
    form = ReplayForm(request.POST or None, initial={"corpus": f"{run.corpus.name[:68]}, replay"})
    if request.method == "POST" and form.is_valid():
        try:
            made = descending.replay(by=request.user, run=run, corpus_name=form.cleaned_data["corpus"])
        except BadPlan as problem:
            _say(form, problem)
        else:
            messages.success(request, "The replay is planned. It makes no call.")
            return redirect("run", run_id=made.public_id)
    return _page(request, run, form, "replay")


@needs(Right.START_RUNS)
@require_http_methods(METHODS)
def rerun(request: PersonRequest, run_id: str) -> HttpResponse:
    """The same plan with other answers."""
    run = steered(request, run_id)
    form = AgainForm(request.POST or None, run=run)
    if request.method == "POST" and form.is_valid():
        try:
            made = _once(run, form, partial(descending.rerun, by=request.user, run=run))
        except BadPlan as problem:
            _say(form, problem)
        else:
            messages.success(request, f"“{made.name}” is planned.")
            return redirect("run", run_id=made.public_id)
    return _page(request, run, form, "rerun")


@needs(Right.START_RUNS)
@require_http_methods(METHODS)
def fork(request: PersonRequest, run_id: str, index: str) -> HttpResponse:
    """One thread, copied up to a turn and written on from there."""
    run = steered(request, run_id)
    place = int(index) - 1 if index.isdecimal() and len(index) < 9 else -1
    thread = get_object_or_404(RunThread, run=run, index=place)
    turns = thread.steps.filter(kind="turn").count()
    first = {"name": f"{run.name[:66]}, fork {index}", "turn": _asked_turn(request, turns)}
    form = ForkForm(request.POST or None, run=run, initial=first)
    if request.method == "POST" and form.is_valid():
        try:
            made = _once(run, form, partial(_forked, request, run, place))
        except BadPlan as problem:
            _say(form, problem)
        else:
            messages.success(request, f"“{made.name}” is planned.")
            return redirect("run", run_id=made.public_id)
    return _page(request, run, form, "fork", thread=thread, turns=turns)


def _asked_turn(request: PersonRequest, turns: int) -> int:
    said = request.GET.get("turn", "")
    return min(int(said), turns) if said.isdecimal() and len(said) < 9 else turns


def _once(run: Run, form: AgainForm, start: Callable[..., Run]) -> Run:
    """The run that `start` makes of the fields of a valid form, or that this form started already."""
    said = dict(form.cleaned_data)
    with transaction.atomic():
        # Who presses twice waits here, and finds the run of the first press.
        Corpus.objects.select_for_update().get(pk=run.corpus_id)
        already = selectors.of_form(run.corpus, said["form"])
        return already or start(soft_cost=None, **said | {"form": str(said["form"])})


def _forked(request: PersonRequest, run: Run, place: int, *, model: str, **said: Any) -> Run:
    models = {}
    if model:
        models["user"] = RoleModel(**run.plan["models"]["user"] | {"model": model})
    return descending.fork(by=request.user, run=run, thread=place, models=models, **said)


def _say(form: forms.Form, problem: BadPlan) -> None:
    form.add_error(problem.field if problem.field in form.fields else None, str(problem))


def _page(request: PersonRequest, run: Run, form: forms.Form, what: str, **more: Any) -> HttpResponse:
    wrong = request.method == "POST"
    context = {
        "section": "runs",
        "run": run,
        "corpus": run.corpus,
        "form": form,
        "what": what,
        "wrong": wrong,
    }
    return render(request, "runs/again.html", context | more, status=422 if wrong else 200)
