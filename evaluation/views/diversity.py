"""Diversity of a corpus or run, beside another one; whether a machine tells its comments from others."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from annotation.exchange.tables import Table, as_csv
from evaluation.domain import realism_areas
from evaluation.domain.corpus_diversity import DEFINITIONS, Counted, Realism
from evaluation.exchange import diversity_tables
from evaluation.forms.diversity import RealismForm
from evaluation.models import Report
from evaluation.plots.diversity import bars
from evaluation.plots.sheet import VERSION, WIDTHS, Look
from evaluation.plots.themes import THEMES
from evaluation.selectors import communities, realism_figures
from evaluation.selectors import diversity as selectors
from evaluation.selectors import diversity_figures as figures
from evaluation.selectors import diversity_page as said
from evaluation.selectors.diversity import Scope
from evaluation.selectors.diversity_page import Shown
from evaluation.services import diversity as counting
from evaluation.services import diversity_realism as comparing
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from evaluation.services.diversity_realism import MOST, MOST_CHARACTERS
from evaluation.tasks import make_reports
from evaluation.views.rooms import corpus_for, may
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.reports")


@dataclass(frozen=True)
class Looked:
    """A corpus or run with its report as it is."""

    scope: Scope
    report: Report | None
    counted: Counted | None
    is_current: bool

    @property
    def waits(self) -> bool:
        return self.report is None or self.report.asked_at is not None

    @property
    def problem(self) -> str:
        return self.report.problem if self.report and not self.waits else ""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody has to ask for it."""
        return self.report is None or not (self.is_current or self.waits or self.problem)


@needs(Right.SEE_PROFILES)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The report of the corpus or of one `run`, with the one of `beside`; asked for where there is none, or
    an old one. POST asks for it whatever there is."""
    corpus = corpus_for(request, corpus_id)
    runs = selectors.runs_of(corpus)
    looked = _looked(request, corpus)
    query = _query(looked)
    if request.method == "POST":
        _ask(looked)
        return redirect(f"{reverse('diversity', args=[corpus.public_id])}{'?' if query else ''}{query}")
    wanted = [one for one in looked if one.is_wanted]
    _ask(wanted)
    waits = bool(wanted) or any(one.waits for one in looked)
    context: dict[str, Any] = {
        "section": "models",
        "corpus": corpus,
        "runs": runs,
        "corpora": selectors.visible_corpora(request.user).exclude(pk=corpus.pk).order_by("name")[:200],
        "looked": looked,
        "run": looked[0].scope.run,
        "beside": looked[1].scope if len(looked) > 1 else None,
        "waits": waits,
        "workers": workers.alive() if waits else {},
        "query": query,
        "may_evaluate": may(request, corpus, Right.EVALUATE),
        "may_start": may(request, corpus, Right.START_RUNS),
        "namings": communities.done_runs(corpus)[: communities.MOST_RUNS],
        "has_imported": communities.imported(corpus).exists(),
        "topics_by": looked[0].scope.topics,
    }
    if request.htmx:  # the page asks how far it is
        if not waits:
            return HttpResponse(headers={"HX-Refresh": "true"})
        return render(request, "evaluation/diversity_state.html", context)
    return render(request, "evaluation/diversity.html", context | _numbers(looked))


def _numbers(looked: list[Looked]) -> dict[str, Any]:
    """Everything that the page says of the reports; nothing where the page's own was not counted yet."""
    pair = _pair(looked)
    first = pair[0].counted
    if first is None:
        return {}
    definitions = dict(DEFINITIONS)
    return {
        "pair": pair,
        "counted": first,
        "definitions": definitions,
        "richness": definitions["words"].sentence.format(window=first.window),
        "size": said.size(pair),
        "lengths": said.lengths(pair),
        "words": said.words(pair),
        "shapes": said.shapes(pair),
        "oddities": said.oddities(pair),
        "overlap": said.overlap(pair),
        "attributes": said.attributes(pair),
        "evenness": said.evenness(pair),
        "targets": said.targets(pair),
        "topics": said.topics(pair),
    }


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, table: str) -> HttpResponse:
    """One table as a file: of the reports as they are, however old."""
    corpus = corpus_for(request, corpus_id)
    if table not in diversity_tables.TABLES:
        raise Http404(table)
    found = diversity_tables.TABLES[table](_counted_pair(request, corpus))
    return _file(found, f"diversity-{table}-{corpus.public_id}")


@needs(Right.SEE_PROFILES)
@require_safe
def figure(request: PersonRequest, corpus_id: str, figure: str) -> HttpResponseBase:
    """Shares as bars, as SVG in `theme` and `width`; 304 where nothing has changed."""
    corpus = corpus_for(request, corpus_id)
    theme, width = request.GET.get("theme", "light"), request.GET.get("width", "wide")
    if figure not in figures.KEYS or theme not in THEMES or width not in WIDTHS:
        raise Http404(figure)
    pair = _counted_pair(request, corpus)
    rows = figures.rows(figure, pair)
    names = [one.name for one in pair]
    axis = figures.axis_of(figure, pair)
    etag = f'"{reports.stamp_of(VERSION, figure, theme, width, names, axis, repr(rows))[:32]}"'
    answer: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if answer is None:
        name = f"{figures.name_of(figure)}: {' beside '.join(names)}"
        look = Look(theme, width, name, figures.described(rows))
        answer = HttpResponse(bars(rows, names, axis, look), content_type="image/svg+xml")
    answer["ETag"] = etag
    patch_cache_control(answer, private=True, no_cache=True)
    return answer


@needs(Right.SEE_PROFILES)
@require_http_methods(["GET", "HEAD", "POST"])
def realism(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """Comparisons with other texts: those there are, the chosen one (`result`) with its numbers; POST, for
    who may evaluate, asks for another."""
    corpus = corpus_for(request, corpus_id)
    if request.method == "POST":
        corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    others = selectors.visible_corpora(request.user).exclude(pk=corpus.pk).order_by("name")
    form = RealismForm(request.POST or None, request.FILES or None, corpora=others)
    if request.method == "POST" and form.is_valid() and (key := _compare(request, corpus, form)):
        return redirect(f"{reverse('realism', args=[corpus.public_id])}?result={key}")
    found = selectors.comparisons(corpus, request.user)
    chosen = _chosen(found, request.GET.get("result", "")) or (found[0] if found else None)
    waits = chosen is not None and chosen.asked_at is not None
    if request.htmx and not waits:
        return HttpResponse(headers={"HX-Refresh": "true"})
    result = comparing.found_in(chosen) if chosen else None
    context = {
        "section": "models",
        "corpus": corpus,
        "form": form,
        "comparisons": [(one, comparing.found_in(one)) for one in found],
        "chosen": chosen,
        "names": dict(others.values_list("public_id", "name")),
        "result": result,
        "changed": result is not None and not waits and result.state != comparing.state(corpus),
        "waits": waits,
        "workers": workers.alive() if waits else {},
        "most": MOST,
        "most_characters": MOST_CHARACTERS,
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    if result and result.groupings:
        context |= _areas(result)
    template = (
        "evaluation/diversity_realism_state.html" if request.htmx else "evaluation/diversity_realism.html"
    )
    return render(request, template, context, status=422 if form.errors else 200)


def _areas(result: Realism) -> dict[str, Any]:
    """What the page says of the parts of a comparison."""
    listed, left = realism_figures.listed(result)
    return {
        "areas": listed,
        "areas_left": left,
        "areas_say": realism_areas.DEFINITION,
        "curve_says": realism_areas.CURVE,
        "curve_rows": realism_figures.tenths(result),
    }


def _compare(request: PersonRequest, corpus: Corpus, form: RealismForm) -> str:
    """Asks for what the form says; the key of the report, empty where the file is refused."""
    given = form.cleaned_data
    received = None
    if given["file"]:
        try:
            received = texts.receive(corpus, given["file"], given["file"].name or "texts.txt")
        except texts.BadTexts as problem:
            form.add_error("file", str(problem))
            return ""
    parameters = comparing.parameters_of(other=given["other"], received=received, seed=given["seed"])
    comparing.ask(corpus, parameters, by=request.user)
    _tell_worker(corpus)
    return reports.key_of(parameters)[:16]


def _chosen(found: list[Report], key: str) -> Report | None:
    if not selectors.KEY.fullmatch(key):
        return None
    return next((one for one in found if one.key.startswith(key)), None)


def _scopes(request: PersonRequest, corpus: Corpus) -> list[Scope]:
    """What the address names: corpus or run, and what is beside it. What is not there is passed over."""
    topics = request.GET.get("topics", "")
    topics = topics if communities.is_known(corpus, topics) else ""
    own = Scope(corpus, selectors.run_of(corpus, request.GET.get("run", "")), topics)
    other = selectors.scope_of(selectors.visible_corpora(request.user), request.GET.get("beside", ""))
    if other and other.corpus.pk == corpus.pk:
        other = replace(other, topics=topics)
    return [own, other] if other and other.address != own.address else [own]


def _looked(request: PersonRequest, corpus: Corpus) -> list[Looked]:
    found = []
    for scope in _scopes(request, corpus):
        report = counting.find(scope)
        if report is not None:
            report.corpus = scope.corpus
        is_current = report is not None and reports.is_current(report)
        found.append(Looked(scope, report, counting.numbers(report), is_current))
    return found


def _pair(looked: list[Looked]) -> list[Shown]:
    return [Shown(one.scope.name, one.counted) for one in looked]


def _counted_pair(request: PersonRequest, corpus: Corpus) -> list[Shown]:
    """Raises Http404 where the page's own report was not counted yet."""
    pair = [Shown(scope.name, counting.numbers(counting.find(scope))) for scope in _scopes(request, corpus)]
    if pair[0].counted is None:
        raise Http404("not counted yet")
    return pair


def _query(looked: list[Looked]) -> str:
    given: Mapping[str, str] = {
        "run": looked[0].scope.run.public_id if looked[0].scope.run else "",
        "beside": looked[1].scope.address if len(looked) > 1 else "",
        "topics": looked[0].scope.topics,
    }
    return urlencode({key: value for key, value in given.items() if value})


def _ask(looked: list[Looked]) -> None:
    for one in looked:
        reports.ask_for(one.scope.corpus, Report.DIVERSITY, one.scope.parameters)
    if looked:
        _tell_worker(looked[0].scope.corpus)


def _tell_worker(corpus: Corpus) -> None:
    """Where the broker is down the report stays on the list; the next worker that is told takes it."""
    try:
        make_reports.delay_on_commit()  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("the broker does not answer; a report waits", extra={"corpus": corpus.public_id})


def _file(found: Table, name: str) -> HttpResponse:
    answer = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer
