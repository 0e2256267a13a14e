"""What an admin does to a run under way: pause, resume, one turn, stop, try again, raise its caps."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from simulation.domain.plans import BadPlan
from simulation.domain.roles import Right
from simulation.domain.run_states import NotPossible, RunEvent
from simulation.forms import CapsForm
from simulation.models import Run
from simulation.selectors.access import PersonRequest, needs
from simulation.services import steering
from simulation.views import run_context

EVENTS = {
    "pause": (RunEvent.PAUSE, "Paused. What is in flight finishes, nothing new begins."),
    "resume": (RunEvent.RESUME, "Resumed."),
    "step": (RunEvent.STEP, "One turn; then it pauses again."),
    "cancel": (RunEvent.CANCEL, "Stopped. What was written stays."),
}


def steered(request: PersonRequest, run_id: str) -> Run:
    """The run, if it is in a corpus in which the person may start runs."""
    found = Run.objects.with_right(request.user, Right.START_RUNS)
    return get_object_or_404(
        found.select_related("corpus", "provider", "created_by", "follows"), public_id=run_id
    )


@needs(Right.START_RUNS)
@require_POST
def control(request: PersonRequest, run_id: str) -> HttpResponse:
    run = steered(request, run_id)
    if (known := EVENTS.get(request.POST.get("event", ""))) is None:
        raise BadRequest("A run can be paused, resumed, resumed for one turn, or stopped.")
    event, said = known
    try:
        steering.control(by=request.user, run=run, event=event)
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, said)
    return redirect("run", run_id=run.public_id)


@needs(Right.START_RUNS)
@require_POST
def caps(request: PersonRequest, run_id: str) -> HttpResponse:
    """New caps, and with them the run goes on: both or neither."""
    run = steered(request, run_id)
    form = CapsForm(request.POST, run=run)
    if form.is_valid():
        try:
            with transaction.atomic():
                steering.raise_caps(by=request.user, run=run, **form.cleaned_data)
                steering.control(by=request.user, run=run, event=RunEvent.RESUME)
        except BadPlan as problem:
            form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        except NotPossible as refusal:
            messages.error(request, str(refusal))
            return redirect("run", run_id=run.public_id)
        else:
            messages.success(request, "Caps set, resumed.")
            return redirect("run", run_id=run.public_id)
    return render(request, "runs/run.html", run_context.context(request, run, form=form), status=422)


@needs(Right.START_RUNS)
@require_POST
def retry(request: PersonRequest, run_id: str) -> HttpResponse:
    """Steps that came to nothing are tried again: the named ones, those of one reason, or all of them."""
    run = steered(request, run_id)
    steps, reason = request.POST.getlist("step"), request.POST.get("reason", "")
    try:
        n = steering.retry(by=request.user, run=run, steps=steps, reason=reason)
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{n} step{'s' if n > 1 else ''} will be tried again.")
    return redirect("run", run_id=run.public_id)
