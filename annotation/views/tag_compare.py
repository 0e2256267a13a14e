"""Tagging runs side by side."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.exchange import tables, tag_tables
from annotation.selectors import tag_compare, tag_differences
from annotation.views.browse import corpus_for, may
from simulation.domain.roles import Right
from simulation.models import Corpus, Run
from simulation.selectors.access import PersonRequest, needs


@needs(Right.SEE_LABELS)
@require_safe
def compare(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The runs of `group`, or those of `runs` (public ids, by comma or repeated); none: which there are."""
    corpus = corpus_for(request, corpus_id, Right.SEE_LABELS)
    asked = {"group": request.GET.get("group", ""), "runs": ",".join(request.GET.getlist("runs"))}
    asked = {key: value for key, value in asked.items() if value}
    runs = _runs(corpus, asked)
    context: dict[str, Any] = {"section": "corpora", "corpus": corpus, "query": urlencode(asked)}
    if len(runs) < 2:
        context |= {
            "listed": tag_compare.listed(corpus),
            "problem": "Choose two to six tagging runs of this corpus." if asked else "",
            "chosen": {run.public_id for run in runs},
            "may_start": may(request, corpus, Right.START_RUNS),
        }
        return render(request, "tags/choose.html", context, status=422 if asked else 200)
    sees_truth = may(request, corpus, Right.SEE_PROFILES)
    context |= {
        "found": tag_compare.comparison(runs, sees_truth=sees_truth),
        "sample": tag_differences.differing(runs, after=request.GET.get("after", "")),
        "begun": bool(request.GET.get("after")),
        "sees_truth": sees_truth,
        "sees_runs": may(request, corpus, Right.SEE_RUNS),
    }
    return render(request, "tags/compare.html", context)


@needs(Right.SEE_LABELS)
@require_safe
def table(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The numbers of the comparison as a file."""
    corpus = corpus_for(request, corpus_id, Right.SEE_LABELS)
    asked = {"group": request.GET.get("group", ""), "runs": ",".join(request.GET.getlist("runs"))}
    runs = _runs(corpus, asked)
    if len(runs) < 2:
        return HttpResponse("Choose two to six tagging runs of this corpus.", status=422)
    sees_truth = may(request, corpus, Right.SEE_PROFILES)
    found = tag_compare.comparison(runs, sees_truth=sees_truth)
    return as_file(tag_tables.compared(found, sees_truth=sees_truth), "tags-compared")


def as_file(table: tables.Table, name: str) -> HttpResponse:
    answer = HttpResponse(tables.as_csv(table), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def _runs(corpus: Corpus, asked: dict[str, str]) -> list[Run]:
    ids = [one.strip() for one in asked.get("runs", "").split(",")]
    return tag_compare.group_runs(corpus, group=asked.get("group", ""), ids=filter(None, ids))
