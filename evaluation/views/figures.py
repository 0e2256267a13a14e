"""Figures: all of them, one with its numbers, its SVG and its table. Truth throughout."""

from __future__ import annotations

import logging
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

from annotation.exchange.tables import as_csv
from evaluation.domain.boards import MEASURE_WORDS
from evaluation.domain.figures import BY_KEY, FIGURES, Definition
from evaluation.exchange.figure_tables import table_of
from evaluation.models import Report
from evaluation.plots.entries import ranked
from evaluation.plots.sheet import WIDTHS
from evaluation.plots.themes import THEMES
from evaluation.selectors import boards, figures
from evaluation.selectors.boards import Choice, Loaded
from evaluation.selectors.figures import Asked, Subject
from evaluation.services import reports
from evaluation.tasks import make_reports
from evaluation.views.rooms import corpus_for, may
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.reports")
SECTION = "models"


@needs(Right.SEE_PROFILES)
@require_safe
def index(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """A card for each figure; those that cannot be drawn say why."""
    corpus = corpus_for(request, corpus_id)
    choice, loaded = _board(request, corpus)
    cards = [figures.subject(corpus, one, choice, loaded, _asked(request)) for one in FIGURES]
    context = _common(request, corpus, choice, loaded) | {"cards": cards}
    return render(request, "evaluation/figures.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def figure(request: PersonRequest, corpus_id: str, figure: str) -> HttpResponse:
    """One figure with its definition, its numbers and the form that chooses what it shows."""
    corpus = corpus_for(request, corpus_id)
    definition = _definition(figure)
    choice, loaded = _board(request, corpus)
    found = figures.subject(corpus, definition, choice, loaded, _asked(request))
    context = _common(request, corpus, choice, loaded) | {
        "one": found,
        "table": table_of(found),
        "description": figures.described(found),
        "entries": ranked(found.whole, found.measure) if found.whole else [],
        "measures": [(one.value, MEASURE_WORDS[one]) for one in definition.measures],
        "offers": _offers(corpus, definition),
        "modes": list(boards.MODES.items()),
        "thresholds": [(0, "any, or none given"), *((step, f"{step} or more") for step in boards.STEPS)],
        "references": corpus.references.order_by("name", "pk") if definition.key == "reference" else (),
    }
    return render(request, "evaluation/figure.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def svg(request: PersonRequest, corpus_id: str, figure: str) -> HttpResponseBase:
    """The drawing: `theme` light or dark, `width` wide or narrow; with `download` light and wide, with title
    and caption, as a file. Kept by the browser, asked for anew each time: 304 where nothing has changed."""
    found = _subject(request, corpus_id, figure)
    if found.missing:
        raise Http404(found.missing)
    theme, width = request.GET.get("theme", "light"), request.GET.get("width", "wide")
    if theme not in THEMES or width not in WIDTHS:
        raise Http404(f"{theme}, {width}")
    download = "download" in request.GET
    look = figures.look_of(found, theme=theme, width=width, download=download)
    etag = found.etag(look, download=download)
    answer: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if answer is None:
        answer = HttpResponse(figures.drawing(found, look), content_type="image/svg+xml")
        if download:
            name = f"{found.definition.key}-{corpus_id}.svg"
            answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["ETag"] = etag
    patch_cache_control(answer, private=True, no_cache=True)
    return answer


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, figure: str) -> HttpResponse:
    """The numbers of the figure as a file."""
    found = _subject(request, corpus_id, figure)
    if found.missing:
        raise Http404(found.missing)
    answer = HttpResponse(as_csv(table_of(found).as_table()), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{found.definition.key}-{corpus_id}.csv"'
    return answer


def _definition(figure: str) -> Definition:
    if figure not in BY_KEY:
        raise Http404(figure)
    return BY_KEY[figure]


def _subject(request: PersonRequest, corpus_id: str, figure: str) -> Subject:
    corpus = corpus_for(request, corpus_id)
    definition = _definition(figure)
    choice, loaded = _board(request, corpus) if definition.takes_models else (None, Loaded(None))
    return figures.subject(corpus, definition, choice, loaded, _asked(request))


def _asked(request: PersonRequest) -> Asked:
    given = request.GET
    return Asked(
        tuple(given.getlist("models")),
        given.get("model", ""),
        given.get("reference", ""),
        given.get("labels", ""),
    )


def _board(request: PersonRequest, corpus: Corpus) -> tuple[Choice | None, Loaded]:
    choice = boards.choose(corpus, request.GET)
    return choice, boards.load(corpus, choice) if choice else Loaded(None)


def _offers(corpus: Corpus, definition: Definition) -> list[tuple[str, str]]:
    """Label sets to choose from: those that something was scored against, or, for their counts, all."""
    sets = corpus.label_sets.order_by("name")
    if definition.takes_models:
        sets = sets.filter(scorings__isnull=False).distinct()
    return list(sets.values_list("public_id", "name"))


def _common(request: PersonRequest, corpus: Corpus, choice: Choice | None, loaded: Loaded) -> dict[str, Any]:
    """What both pages have. A board that is missing or out of date is asked for here."""
    waits = choice is not None and not loaded.is_current and not loaded.problem
    if choice is not None and waits:
        if not loaded.is_asked:
            reports.ask_for(corpus, Report.BOARD, choice.parameters)
        _tell_worker()
    return {
        "section": SECTION,
        "corpus": corpus,
        "choice": choice,
        "loaded": loaded,
        "waits": waits,
        "no_worker": waits and not workers.alive(),
        "query": choice.query if choice else "",
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }


def _tell_worker() -> None:
    """Where the broker is down the report stays on the list; the next worker that is told takes it."""
    try:
        make_reports.delay_on_commit()  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("reports not handed over, the broker does not answer")
