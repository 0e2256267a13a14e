"""What of a run came to nothing: a page with reasons, and the same as a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain import failures as meanings
from simulation.domain.roles import Right
from simulation.domain.spreadsheets import csv_line
from simulation.models import Run, Step
from simulation.selectors import run_failures, run_numbers, run_trouble, run_watching
from simulation.selectors.access import PersonRequest, needs
from simulation.selectors.run_failures import ANSWERS, STEPS, Counts, Failure, Filter
from simulation.views import run_context

COLUMNS = (
    "at",
    "what",
    "reason",
    "state",
    "step",
    "kind",
    "thread",
    "turn",
    "profile",
    "username",
    "model",
    "served_model",
    "tokens",
    "detail",
    "provider_said",
)


@needs(Right.SEE_RUNS)
@require_safe
def failures(request: PersonRequest, run_id: str) -> HttpResponse:
    """Steps without a result and answers that could not be used, newest first; raw answers for admins."""
    run = _run(request, run_id)
    wanted = _filter(request)
    numbers = run_numbers.numbers(run)
    counts = run_failures.counts(run)
    attempts = run_trouble.attempts(numbers)
    page = run_failures.page(run, wanted, before=request.GET.get("before", ""))
    rights = run_watching.rights(request.user, run)
    again = run_context.retryable(run) if rights.starts else Step.objects.none()
    shown = [row.step.pk for row in page.rows if row.what == STEPS]
    by_reason = wanted.reason and not wanted.kind and wanted.what != ANSWERS
    context: dict[str, Any] = {
        "section": "runs",
        "run": run,
        "corpus": run.corpus,
        "may": rights,
        "wanted": wanted,
        "asked": urlencode({key: value for key, value in vars(wanted).items() if value}),
        "reasons": _reasons(counts),
        "reason": meanings.meaning(wanted.reason) if wanted.reason else None,
        "counts": counts,
        "page": page,
        "retryable": set(again.filter(pk__in=shown).values_list("pk", flat=True)),
        "n_retryable": again.filter(reason=wanted.reason).count() if by_reason else 0,
        "attempts": [(one, meanings.ATTEMPTS.get(one.state)) for one in attempts],
        "n_attempts": sum(one.count for one in attempts),
        "refusals": run_failures.refusals(run),
    }
    return render(request, "runs/failures.html", context)


@needs(Right.SEE_RUNS)
@require_safe
def table(request: PersonRequest, run_id: str) -> HttpResponseBase:
    """All rows of the chosen filter as CSV; the column of raw answers for admins alone."""
    run = _run(request, run_id)
    with_raw = run_watching.rights(request.user, run).starts
    return StreamingHttpResponse(
        _lines(run_failures.everything(run, _filter(request)), with_raw),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="failures-{run.public_id}.csv"'},
    )


def _run(request: PersonRequest, run_id: str) -> Run:
    return get_object_or_404(run_watching.visible(request.user), public_id=run_id)


def _filter(request: PersonRequest) -> Filter:
    what = request.GET.get("what", "")
    return Filter(
        what if what in (STEPS, ANSWERS) else "",
        request.GET.get("reason", "")[:40],
        request.GET.get("kind", "")[:20],
    )


def _reasons(counts: Counts) -> list[tuple[str, str]]:
    """(word, reason) of what can be chosen."""
    found = {one.reason: one.word for one in (*counts.steps, *counts.answers) if one.reason}
    return sorted((word, reason) for reason, word in found.items())


def _lines(rows: Iterator[Failure], with_raw: bool) -> Iterator[str]:
    yield csv_line([*COLUMNS, *(["raw_answer"] if with_raw else [])])
    for row in rows:
        # What a model says when it declines is its answer.
        said = row.said if with_raw or row.reason != "refused" else ""
        yield csv_line([*_cells(row), said, row.provider_said, *([row.raw] if with_raw else [])])


def _cells(row: Failure) -> list[Any]:
    step, call = row.step, row.call
    return [
        row.at.isoformat(timespec="seconds"),
        "step" if row.what == STEPS else "answer",
        row.reason,
        row.state,
        step.key,
        step.kind,
        step.run_thread.external_id if step.run_thread else "",
        step.number if step.kind == "turn" else "",
        step.asks.get("profile", ""),
        row.username,
        call.model if call else "",
        call.served_model if call else "",
        call.tokens_in + call.tokens_out if call else "",
    ]
