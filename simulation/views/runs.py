"""Watching runs: the list, the page of one, and its story."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain.roles import Right
from simulation.models import Run
from simulation.selectors import budget, run_story, run_watching, runs
from simulation.selectors.access import PersonRequest, needs
from simulation.views import run_context
from simulation.views.run_live import place


@needs(Right.SEE_RUNS)
@require_safe
def run_list(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "runs",
        "page": runs.page(request.user, before=request.GET.get("before", "")),
        "may_start": runs.startable(request.user).exists(),
        "may_add": runs.starts_everywhere(request.user),
        "budget_notice": budget.notice(request.user),
    }
    return render(request, "runs/list.html", context)


def run_for(request: PersonRequest, run_id: str) -> Run:
    return get_object_or_404(run_watching.visible(request.user), public_id=run_id)


@needs(Right.SEE_RUNS)
@require_safe
def run(request: PersonRequest, run_id: str, index: str = "") -> HttpResponse:
    """The page of a run. While it is open it asks `run_live.live` for what has changed.

    `index` is the number of a thread, from 1; without it the page follows the thread being written.
    """
    found = run_for(request, run_id)
    return render(request, "runs/run.html", run_context.context(request, found, index=place(index)))


@needs(Right.SEE_RUNS)
@require_safe
def events(request: PersonRequest, run_id: str) -> HttpResponse:
    found = run_for(request, run_id)
    loud = request.GET.get("only") == "trouble"
    context = {
        "section": "runs",
        "run": found,
        "corpus": found.corpus,
        "loud": loud,
        "page": run_story.page(found, before=request.GET.get("before", ""), loud=loud),
    }
    return render(request, "runs/events.html", context)
