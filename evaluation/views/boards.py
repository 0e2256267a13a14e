"""Leaderboards, their differences and files. Truth throughout: for people who may see profiles."""

from __future__ import annotations

import logging
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

from annotation.exchange.tables import Table, as_csv
from evaluation.domain.boards import GROUPED, MEASURE_WORDS, Board, Entry, Measure
from evaluation.exchange import board_tables
from evaluation.models import Reference
from evaluation.selectors import board_corpora, board_references, boards
from evaluation.selectors.board_lines import grids, ranking
from evaluation.selectors.board_pairs import differences, masked_rows
from evaluation.selectors.boards import Choice, Loaded
from evaluation.services import boards as makers
from evaluation.services import reports
from evaluation.tasks import make_reports
from evaluation.views.rooms import corpus_for, may
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.reports")
SECTION = "models"
MEASURE_NAMES = {
    Measure.TOP1: "Top-1",
    Measure.TOP3: "Top-3",
    Measure.HALF: "Top-1, less precise counts half",
    Measure.LESS_PRECISE: "Top-1, less precise counts",
    Measure.PROFILES: "Mean over profiles",
    Measure.ATTRIBUTES: "Mean over attributes",
}
FIGURES = (
    "ranking",
    "differences",
    "scaling",
    "costs",
    "attributes",
    "hardness",
    "certainty",
    "anonymised",
    "reference",
)


@needs(Right.SEE_PROFILES)
@require_safe
def models(request: PersonRequest) -> HttpResponse:
    """The corpora with results, each with the best line of its board."""
    context = {
        "section": SECTION,
        "found": board_corpora.overview(request.user),
        "may_evaluate": Corpus.objects.with_right(request.user, Right.EVALUATE).exists(),
    }
    return render(request, "evaluation/models.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def leaderboard(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The board that the address asks for; asked by htmx, only whether it is counted by now."""
    corpus = corpus_for(request, corpus_id)
    offered = boards.offers(corpus)
    choice = boards.choose(corpus, request.GET, among=offered)
    if choice is None:
        return _without_scoring(request, corpus, "leaderboard")
    loaded = boards.load(corpus, choice)
    if "again" in request.GET and loaded.problem:
        _ask(corpus, choice)
        return redirect(f"{request.path}?{choice.query}")
    context = _common(request, corpus, choice, loaded) | {"tab": "leaderboard", "offers": offered}
    if request.htmx:
        return _state(request, context, loaded)
    if loaded.board is not None:
        context |= _shown(request, corpus, choice, loaded.board)
    return render(request, "evaluation/leaderboard.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def pairs(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The differences of all pairs of models."""
    corpus = corpus_for(request, corpus_id)
    offered = boards.offers(corpus)
    choice = boards.choose(corpus, request.GET, among=offered)
    if choice is None:
        return _without_scoring(request, corpus, "pairs")
    loaded = boards.load(corpus, choice)
    context = _common(request, corpus, choice, loaded) | {"tab": "pairs", "offers": offered}
    if request.htmx:
        return _state(request, context, loaded)
    if loaded.board is not None:
        found = differences(loaded.board, choice.measure)
        context |= {"found": found, "compared": MEASURE_WORDS[found.measure]}
    return render(request, "evaluation/pairs.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, table: str) -> HttpResponse:
    """A table of the board as a file. Raises Http404 for an unknown one and for a board never counted."""
    corpus = corpus_for(request, corpus_id)
    choice = boards.choose(corpus, request.GET)
    board = boards.load(corpus, choice).board if choice else None
    if choice is None or board is None or table not in {*board_tables.TABLES, "reference"}:
        raise Http404(table)
    if table != "reference":
        return _as_file(board_tables.TABLES[table](board, choice.measure), f"leaderboard-{table}")
    reference = Reference.objects.filter(corpus=corpus, public_id=request.GET.get("reference", "")).first()
    entry = _model(request, board, choice)
    if reference is None or entry is None:
        raise Http404(table)
    rows = board_references.beside(reference, board, entry, choice.measure)
    return _as_file(board_tables.reference(reference.name, entry, rows), "leaderboard-reference")


def _as_file(table: Table, name: str) -> HttpResponse:
    answer = HttpResponse(as_csv(table), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def _without_scoring(request: PersonRequest, corpus: Corpus, tab: str) -> HttpResponse:
    context = {
        "section": SECTION,
        "corpus": corpus,
        "tab": tab,
        "has_runs": corpus.prediction_runs.exists(),
        "has_labels": corpus.label_sets.exists(),
        "may_evaluate": may(request, corpus, Right.EVALUATE),
    }
    return render(request, "evaluation/leaderboard_empty.html", context)


def _common(request: PersonRequest, corpus: Corpus, choice: Choice, loaded: Loaded) -> dict[str, Any]:
    """What the pages of a board share. A board that is missing or out of date is asked for here."""
    waits = not loaded.is_current and not loaded.problem
    if waits and not loaded.is_asked:
        _ask(corpus, choice)
    elif waits and not request.htmx:
        _tell_worker()
    return {
        "section": SECTION,
        "corpus": corpus,
        "choice": choice,
        "query": choice.query,
        "loaded": loaded,
        "board": loaded.board,
        "waits": waits,
        "workers": workers.alive() if waits else None,
        "measure_words": MEASURE_WORDS[choice.measure],
        "measures": [(one.value, MEASURE_NAMES[one]) for one in Measure],
        "is_grouped": choice.measure in GROUPED,
        "thresholds": [(0, "any, or none given"), *((step, f"≥ {step}") for step in boards.STEPS)],
        "modes": list(boards.MODES.items()),
    }


def _ask(corpus: Corpus, choice: Choice) -> None:
    reports.ask_for(corpus, makers.KIND, choice.parameters)
    _tell_worker()


def _tell_worker() -> None:
    """Where the broker is down the report stays on the list; the next worker that is told takes it."""
    try:
        make_reports.delay_on_commit()  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("reports not handed over, the broker does not answer")


def _state(request: PersonRequest, context: dict[str, Any], loaded: Loaded) -> HttpResponse:
    """The notice anew; where there is nothing to wait for any more the browser is told to read the page."""
    answer = render(request, "evaluation/leaderboard_state.html", context)
    if loaded.is_current or loaded.problem:
        answer["HX-Refresh"] = "true"
    return answer


def _shown(request: PersonRequest, corpus: Corpus, choice: Choice, board: Board) -> dict[str, Any]:
    references = list(Reference.objects.filter(corpus=corpus).order_by("name"))
    wanted = request.GET.get("reference", "")
    reference = next((one for one in references if one.public_id == wanted), None)
    theirs = (reference.values.get("") or {}).get("value") if reference else None
    shown = ranking(board, choice.measure, [theirs] if theirs is not None else [])
    context: dict[str, Any] = {
        "ranking": shown,
        "grids": grids(board, choice.measure),
        "pairs": board.pairs.get((choice.measure if choice.measure in GROUPED else Measure.TOP1).value),
        "masked": masked_rows(board),
        "references": references,
        "reference": reference,
        "figures": FIGURES,
    }
    entry = _model(request, board, choice)
    if reference is not None and entry is not None:
        context |= {
            "theirs": theirs,
            "theirs_at": shown.axis.at(theirs) if theirs is not None else "",
            "besides": board_references.overall(reference, board.entries, choice.measure),
            "beside": board_references.beside(reference, board, entry, choice.measure),
            "model": entry,
        }
    return context


def _model(request: PersonRequest, board: Board, choice: Choice) -> Entry | None:
    """The model to put beside a reference: as the address says, else the best one."""
    lines = ranking(board, choice.measure).lines
    return board.entry(request.GET.get("model", "")) or (lines[0].entry if lines else None)
