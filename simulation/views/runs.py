"""Watching runs: the list, the page of one, its story, and every call behind it."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain.roles import Right
from simulation.models import ModelCall, Run
from simulation.selectors import run_story, runs
from simulation.selectors.access import PersonRequest, needs
from simulation.views import run_context


@needs(Right.SEE_RUNS)
@require_safe
def run_list(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "runs",
        "page": runs.page(request.user, before=request.GET.get("before", "")),
        "may_start": runs.startable(request.user).exists(),
        "may_add": runs.starts_everywhere(request.user),
    }
    return render(request, "runs/list.html", context)


def run_for(request: PersonRequest, run_id: str) -> Run:
    visible = Run.objects.visible_to(request.user)
    return get_object_or_404(
        visible.select_related("corpus", "provider", "created_by", "follows"), public_id=run_id
    )


@needs(Right.SEE_RUNS)
@require_safe
def run(request: PersonRequest, run_id: str, index: str = "") -> HttpResponse:
    """The page of a run. A poll names the state of each part it has and is sent what differs.

    `index` is the number of a thread, from 1; without it the page follows the thread being written.
    """
    found = run_for(request, run_id)
    context = run_context.context(request, found, index=_place(index))
    return render(request, "runs/run.html" + ("#live" if request.htmx else ""), context)


def _place(index: str) -> int | None:
    """Threads are numbered from 1 on pages, from 0 in rows. What is no number is no thread."""
    return None if not index else int(index) - 1 if index.isdecimal() and len(index) < 9 else -1


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


@needs(Right.SEE_RUNS)
@require_safe
def call(request: PersonRequest, run_id: str, call_id: str) -> HttpResponse:
    """One question to a model, with everything that was sent and came back."""
    found = run_for(request, run_id)
    one = get_object_or_404(
        ModelCall.objects.select_related("step", "step__run_thread", "step__comment", "prompt", "provider"),
        run=found,
        public_id=call_id,
    )
    reply = one.reply or {}
    context = {
        "section": "runs",
        "run": found,
        "corpus": found.corpus,
        "call": one,
        "messages_sent": one.request.get("messages", []),
        "asked": {key: value for key, value in one.request.items() if key not in ("messages", "schema")},
        "schema": _pretty(one.request.get("schema")),
        "reply": reply,
        "raw": _pretty(reply.get("raw") or None),
        "attempts": one.attempts.order_by("id"),
        "others": one.step.model_calls.exclude(pk=one.pk).order_by("id"),
    }
    return render(request, "runs/call.html", context)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""
