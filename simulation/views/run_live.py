"""What a run's page asks for while it is open: what has changed, and who an author is."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain.roles import Right
from simulation.models import Run
from simulation.selectors import run_cast, run_health, run_watching
from simulation.selectors.access import PersonRequest, needs
from simulation.selectors.run_shared import Sheet
from simulation.views import run_context, run_parts

NOTHING_NEW = 204
"""htmx leaves the page as it is, and goes on asking."""


@needs(Right.SEE_RUNS)
@require_safe
def live(request: PersonRequest, run_id: str) -> HttpResponse:
    """The parts of the page that differ from those the browser names by their marks.

    While nothing has changed: 204, after the queries for session, person, roles and run, and none else.
    """
    run = get_object_or_404(run_watching.visible(request.user), public_id=run_id)
    index, health = place(request.GET.get("place", "")), run_health.of_run(run)
    seen = run_context.Seen(*(request.GET.get(name, "") for name in ("v", "head", "worker")))
    new_head, new_worker = seen.head != run_context.head_mark(run), seen.worker != health.kind
    sheet: Sheet | None = Sheet(seen.v, 0, _known(request))
    if seen.v != run_watching.token(run):
        rights = run_watching.rights(request.user, run)
        fresh = run_parts.shared(run, index=index, rights=rights, seen_tick=run_watching.tick_of(seen.v))
        sheet = fresh or sheet
    assert sheet is not None
    if sheet.token == seen.v and not new_head and not new_worker:
        return HttpResponse(status=NOTHING_NEW)
    changed = [
        run_context.safe(html)
        for name, (mark, html) in sheet.parts.items()
        if html and mark != request.GET.get(name)
    ]
    context: dict[str, Any] = {
        "corpus": run.corpus,
        "changed": changed,
        "new_head": new_head,
        "new_worker": new_worker,
        **run_context.pulse(run, sheet, index=index, health=health),
        **(run_context.head(request, run) if new_head else {}),
    }
    return render(request, "runs/_poll.html", context)


def _known(request: PersonRequest) -> dict[str, tuple[str, str]]:
    """The parts as the browser has them, without their content."""
    return {name: (request.GET.get(name, ""), "") for name in run_parts.TEMPLATES}


def place(number: str) -> int | None:
    """Threads are numbered from 1 on pages, from 0 in rows. What is no number is no thread."""
    return None if not number else int(number) - 1 if number.isdecimal() and len(number) < 9 else -1


@needs(Right.SEE_PROFILES)
@require_safe
def persona(request: PersonRequest, run_id: str) -> HttpResponse:
    """The card of one author of a run, `?who=` their id: facts and style as the run has them."""
    run = get_object_or_404(
        Run.objects.visible_to(request.user).with_right(request.user, Right.SEE_PROFILES),
        public_id=run_id,
    )
    found = run_cast.persona(run, request.GET.get("who", ""))
    if found is None:
        raise Http404("The run has no such author.")
    template = "runs/_persona.html" if request.htmx else "runs/persona.html"
    return render(request, template, {"section": "runs", "run": run, "persona": found})
