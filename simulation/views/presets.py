"""The presets of the run form: listed, renamed, copied, deleted. Saving is done on the form itself."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from simulation.domain.plan_values import SHIPPED
from simulation.domain.roles import Right
from simulation.models import RunPreset
from simulation.selectors import presets as selectors
from simulation.selectors import runs
from simulation.selectors.access import PersonRequest, needs
from simulation.services import presets


@needs(Right.START_RUNS)
@require_safe
def preset_list(request: PersonRequest) -> HttpResponse:
    """All presets; with more than one corpus, a choice of where to begin is asked after."""
    return _listed(request)


@needs(Right.START_RUNS)
@require_POST
def preset_rename(request: PersonRequest, preset_id: str) -> HttpResponse:
    preset = _own(request, preset_id)
    before, name = preset.name, request.POST.get("name", "")
    try:
        presets.rename(by=request.user, preset=preset, name=name)
    except presets.BadName as problem:
        return _listed(request, wrong=preset, problem=str(problem), typed=name)
    messages.success(request, f"“{before}” is called “{preset.name}” now.")
    return redirect("presets")


@needs(Right.START_RUNS)
@require_POST
def preset_duplicate(request: PersonRequest, preset_id: str) -> HttpResponse:
    preset = get_object_or_404(selectors.listed(), public_id=preset_id)
    copy = presets.duplicate(by=request.user, preset=preset)
    messages.success(request, f"“{copy.name}” is there.")
    return redirect("presets")


@needs(Right.START_RUNS)
@require_POST
def preset_delete(request: PersonRequest, preset_id: str) -> HttpResponse:
    preset = _own(request, preset_id)
    name = preset.name
    presets.delete(by=request.user, preset=preset)
    messages.success(request, f"The preset “{name}” is deleted. Runs that began from it are as they were.")
    return redirect("presets")


def _own(request: PersonRequest, preset_id: str) -> RunPreset:
    """404 for a preset that is not there or that somebody else saved."""
    mine = [one.pk for one in selectors.listed() if selectors.may_change(request.user, one)]
    return get_object_or_404(RunPreset, pk__in=mine, public_id=preset_id)


def _listed(
    request: PersonRequest, *, wrong: RunPreset | None = None, problem: str = "", typed: str = ""
) -> HttpResponse:
    corpora = list(runs.startable(request.user))
    context = {
        "section": "runs",
        "rows": [(one, selectors.may_change(request.user, one)) for one in selectors.listed()],
        "shipped": SHIPPED.values(),
        "corpora": corpora,
        "wrong": wrong,
        "problem": problem,
        "typed": typed,
    }
    return render(request, "presets/list.html", context, status=422 if wrong else 200)
