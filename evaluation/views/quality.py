"""How good the labels of a corpus are. Truth is among it: for people who may see profiles."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from annotation.exchange.tables import Table, as_csv
from evaluation.domain.quality import CUTS
from evaluation.exchange import quality_tables
from evaluation.metrics.quality import COMMON, FEW, MOST_PEOPLE
from evaluation.models import LabelSet, Report
from evaluation.plots import labels as plots
from evaluation.selectors import quality, quality_page
from evaluation.selectors.quality_page import Content
from evaluation.services import quality as counting
from evaluation.services import reports
from evaluation.services.quality_tallies import WHICH
from evaluation.tasks import make_reports
from evaluation.views.rooms import corpus_for
from simulation.domain.attributes import HARDNESS
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.reports")
THEMES, WIDTHS = ("light", "dark"), ("wide", "narrow")
COMMENTS, PROFILES = "comments", "profiles"


@needs(Right.SEE_PROFILES)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The report of the corpus or of one queue (`queue`); asked for where there is none, or an old one.
    POST asks for it whatever there is."""
    corpus = corpus_for(request, corpus_id)
    queues = quality.queues_of(corpus)
    asked = request.GET.get("queue", "")
    queue = next((one for one in queues if one.public_id == asked), None)
    parameters = {"queue": queue.public_id if queue else ""}
    report = reports.find(corpus, Report.LABELS, parameters)
    is_current = report is not None and reports.is_current(report)
    waits = report is not None and report.asked_at is not None
    if request.method == "POST":
        _ask(corpus, parameters)
        return redirect(f"{reverse('label_quality', args=[corpus.public_id])}?{urlencode(parameters)}")
    if not (is_current or waits or (report is not None and report.problem)):
        _ask(corpus, parameters)
        waits = True
    context: dict[str, Any] = {
        "section": "models",
        "corpus": corpus,
        "queues": queues,
        "queue": queue,
        "report": report,
        "content": report.content if report else None,
        "is_current": is_current,
        "waits": waits,
        "workers": workers.alive() if waits else {},
        "query": urlencode({key: value for key, value in parameters.items() if value}),
    }
    if request.htmx:  # the page asks how far it is
        if not waits:
            return HttpResponse(headers={"HX-Refresh": "true"})
        return render(request, "evaluation/quality_state.html", context)
    return render(request, "evaluation/quality.html", context | _profiles(request, corpus) | _numbers(report))


def _profiles(request: PersonRequest, corpus: Corpus) -> dict[str, Any]:
    """The chosen label set, counted as it is now."""
    labels = _label_set(request, corpus)
    return {
        "label_sets": quality_page.label_sets(corpus),
        "labels": labels,
        "profile_counts": quality_page.profile_counts(labels) if labels else [],
    }


def _numbers(report: Report | None) -> dict[str, Any]:
    """Everything that the page says of a report; nothing where it was not counted yet."""
    content: Content | None = report.content if report else None
    if content is None:
        return {}
    return {
        "sources": quality_page.sources(content),
        "shifts": quality_page.shifts(content, "all"),
        "single_shifts": quality_page.shifts(content, "single"),
        "moves": quality_page.moves(content),
        "agreement": quality_page.agreement(content, counting.ORDINARY),
        "gold_agreement": quality_page.agreement(content, counting.GOLD),
        "people": quality_page.people(content),
        "hardness": [(WHICH[one.which], one) for one in quality_page.hardness(content)],
        "right_labels": quality_page.truth(content, "labels", by="attribute"),
        "right_by_hardness": quality_page.truth(content, "labels", by="hardness"),
        "suggested": quality_page.truth(content, "suggestions", by="attribute"),
        "suggested_by_hardness": quality_page.truth(content, "suggestions", by="hardness"),
        "comment_counts": quality_page.comment_counts(content),
        "marks": HARDNESS,
        "cuts": CUTS,
        "common": COMMON,
        "most_people": MOST_PEOPLE,
        "few": FEW,
    }


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, table: str) -> HttpResponse:
    """One table as a file: of the report as it is, however old, or of a label set."""
    corpus = corpus_for(request, corpus_id)
    if table == quality_tables.PROFILES:
        labels = _label_set(request, corpus)
        if labels is None:
            raise Http404("no labels of profiles")
        return _file(quality_tables.profiles(quality_page.profile_counts(labels)), "labels-of-profiles")
    if table not in quality_tables.TABLES:
        raise Http404(table)
    return _file(quality_tables.TABLES[table](_content(request, corpus)), f"label-quality-{table}")


@needs(Right.SEE_PROFILES)
@require_safe
def figure(request: PersonRequest, corpus_id: str, figure: str) -> HttpResponseBase:
    """Labels by attribute and hardness, of comments or of profiles, as SVG in `theme` and `width`."""
    corpus = corpus_for(request, corpus_id)
    theme, width = _one_of(THEMES, request.GET.get("theme")), _one_of(WIDTHS, request.GET.get("width"))
    if figure == COMMENTS:
        rows, draw = quality_page.comment_counts(_content(request, corpus)), plots.comment_counts
    elif figure == PROFILES and (labels := _label_set(request, corpus)):
        rows, draw = quality_page.profile_counts(labels), plots.label_counts
    else:
        raise Http404(figure)
    counts = {row.name: row.counts for row in rows}
    etag = f'"{reports.stamp_of(figure, theme, width, list(counts.items()))[:32]}"'
    if (answered := get_conditional_response(request, etag=etag)) is not None:
        return answered
    answer = HttpResponse(draw(counts, theme=theme, width=width), content_type="image/svg+xml")
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer


def _one_of(known: tuple[str, ...], asked: str | None) -> str:
    return asked if asked in known else known[0]


def _ask(corpus: Corpus, parameters: Mapping[str, str]) -> None:
    """Puts it on the list and tells a worker. Where the broker is down the sweep does."""
    reports.ask_for(corpus, Report.LABELS, parameters)
    try:
        make_reports.delay_on_commit()  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("the broker does not answer; a report waits", extra={"corpus": corpus.public_id})


def _content(request: PersonRequest, corpus: Corpus) -> Content:
    """What was counted. Raises Http404 where nothing was yet."""
    queue = quality.queue_of(corpus, request.GET.get("queue", ""))
    report = reports.find(corpus, Report.LABELS, {"queue": queue.public_id if queue else ""})
    if report is None or report.content is None:
        raise Http404("not counted yet")
    content: Content = report.content
    return content


def _label_set(request: PersonRequest, corpus: Corpus) -> LabelSet | None:
    """The set that the address names, else the one with the most labels."""
    found = LabelSet.objects.visible_to(request.user).filter(corpus=corpus, labels__gt=0)
    asked = found.filter(public_id=request.GET.get("labels", "")).first()
    return asked or found.order_by("-labels", "name").first()


def _file(found: Table, name: str) -> HttpResponse:
    answer = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer
