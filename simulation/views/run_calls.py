"""One call of a run: what it took and cost for who watches; what was said, for who starts runs."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain.roles import Right
from simulation.domain.sections import sections
from simulation.models import CastMember, ModelCall
from simulation.selectors import run_attempts, run_watching
from simulation.selectors.access import PersonRequest, needs

ASKED = ("messages", "schema")


@needs(Right.SEE_RUNS)
@require_safe
def call(request: PersonRequest, run_id: str, call_id: str) -> HttpResponse:
    """One question to a model: state, tokens, cost and time; prompt and answer for admins alone.

    `?part=behind` is what stands behind a comment of the run's page: prompt, thoughts, answer, attempts.
    """
    run = get_object_or_404(run_watching.visible(request.user), public_id=run_id)
    rights = run_watching.rights(request.user, run)
    part = request.GET.get("part") == "behind"
    if part and not rights.starts:
        raise PermissionDenied("Prompts and answers are for those who may start runs.")
    one = get_object_or_404(
        ModelCall.objects.select_related(
            "step",
            "step__run_thread",
            "step__comment",
            "prompt",
            "provider",
            "price",
            "replayed_from",
            "replayed_from__run",
        ),
        run=run,
        public_id=call_id,
    )
    context: dict[str, Any] = {
        "section": "runs",
        "run": run,
        "corpus": run.corpus,
        "call": one,
        "may": rights,
        "timed": run_attempts.timed(one),
        **(_said(one) if rights.starts else {}),
    }
    if not part:
        context |= {
            "asked": {key: value for key, value in one.request.items() if key not in ASKED},
            "others": one.step.model_calls.exclude(pk=one.pk).order_by("id"),
            "source": _source(request, one),
            "member": CastMember.objects.select_related("profile")
            .filter(run=run, external_id=one.step.asks.get("profile", ""))
            .first(),
        }
    return render(request, "runs/_behind.html" if part else "runs/call.html", context)


def _said(call: ModelCall) -> dict[str, Any]:
    """What was sent and what came back."""
    reply = call.reply or {}
    text = str(reply.get("text") or "")
    found = sections(text)
    return {
        "messages_sent": call.request.get("messages", []),
        "schema": _pretty(call.request.get("schema")),
        "reply": reply,
        "thoughts": [one for one in found if not one.is_comment] if len(found) > 1 else [],
        "comment_said": next((one for one in reversed(found) if one.is_comment), None),
        "fields": _fields(text),
        "raw": _pretty(reply.get("raw") or None),
    }


def _fields(text: str) -> list[tuple[str, str]]:
    """The fields of an answer that is a JSON object, each as text; empty for any other answer, and for one
    that is nested too deeply to be taken apart."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    return [(key, value if isinstance(value, str) else _pretty(value)) for key, value in found.items()]


def _source(request: PersonRequest, call: ModelCall) -> ModelCall | None:
    """The call whose kept reply this one took, if the person may see its run."""
    source = call.replayed_from
    seen = source is not None and run_watching.visible(request.user).filter(pk=source.run_id).exists()
    return source if seen else None


def _pretty(value: object) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False) if value not in (None, "") else ""
    except RecursionError:
        return "(nested too deeply to be shown)"
