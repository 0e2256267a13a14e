"""What was done by people with power over others' work: a page to be narrowed, and the same as a file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from simulation.domain.roles import Right
from simulation.domain.spreadsheets import csv_line
from simulation.models import User
from simulation.selectors import audit
from simulation.selectors.access import PersonRequest, needs
from simulation.selectors.audit import Narrowed

COLUMNS = ("at", "who", "action", "object_type", "object_id", "object_name", "corpus", "details")


@needs(Right.MANAGE_PEOPLE)
@require_safe
def audit_list(request: PersonRequest) -> HttpResponse:
    """Newest first; what cannot be read in the address narrows nothing, and is said."""
    wanted, problem = _wanted(request)
    context = {
        "section": "people",
        "page": audit.page(person=request.user, before=request.GET.get("before", ""), wanted=wanted),
        "wanted": wanted,
        "choices": audit.choices(request.user),
        "query": _query(wanted),
        "command": audit.COMMAND,
        "problem": problem,
    }
    return render(request, "people/audit.html", context)


@needs(Right.MANAGE_PEOPLE)
@require_safe
def table(request: PersonRequest) -> HttpResponseBase:
    """All entries that are wanted, written while they are read."""
    wanted, _ = _wanted(request)
    answer = StreamingHttpResponse(_lines(request.user, wanted), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return answer


def _lines(person: User, wanted: Narrowed) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for row in audit.stream(person, wanted):
        details = "; ".join(f"{name}: {value}" for name, value in row.details)
        who = row.actor or "a command"
        kind = (row.object_type, row.object_id, row.object_name)
        yield csv_line((row.at.isoformat(), who, row.action, *kind, row.corpus_name, details))


def _wanted(request: PersonRequest) -> tuple[Narrowed, str]:
    """What the address asks for, and what of it cannot be read."""
    days: dict[str, date | None] = {}
    problem = ""
    for name in ("since", "until"):
        said = request.GET.get(name, "")
        try:
            days[name] = parse_date(said) if said else None
        except ValueError:
            days[name] = None
        if said and days[name] is None:
            problem = f"“{said}” is not a day; write one as 2026-12-31."
    who, action, corpus = (request.GET.get(name, "")[:60] for name in ("who", "action", "corpus"))
    return Narrowed(who, action, corpus, days["since"], days["until"]), problem


def _query(wanted: Narrowed) -> str:
    return urlencode({name: str(value) for name, value in vars(wanted).items() if value})
