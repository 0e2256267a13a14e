"""Maskings: the list with what they cost and bring, making one, and the texts of one. Truth throughout."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError

from annotation.exchange.tables import as_csv
from evaluation.exchange import masking_tables
from evaluation.forms.masking import MaskingForm
from evaluation.models import Masking, Report
from evaluation.plots.masking import privacy_utility
from evaluation.plots.sheet import WIDTHS, Look
from evaluation.plots.themes import THEMES
from evaluation.selectors import boards, masking_table
from evaluation.selectors import masking as selected
from evaluation.selectors.boards import Choice, Loaded
from evaluation.selectors.masking import Narrowed
from evaluation.services import masking as services
from evaluation.services import masking_reports, reports
from evaluation.services.masking import BadMasking
from evaluation.tasks import make_reports, mask_texts
from evaluation.views.rooms import corpus_for, may
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.masking")
BUSY = (Masking.WAITING, Masking.RUNNING)


@needs(Right.SEE_PROFILES)
@require_safe
def index(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """All maskings, and what they do to models. A board that is out of date is asked for here."""
    corpus = corpus_for(request, corpus_id)
    choice, loaded, found, asked = _table(request, corpus)
    waits = choice is not None and not loaded.is_current and not loaded.problem
    if choice is not None and waits:
        if not loaded.is_asked:
            reports.ask_for(corpus, Report.BOARD, choice.parameters)
        _tell(make_reports)
    context = {
        "section": "models",
        "tab": "masking",
        "corpus": corpus,
        "choice": choice,
        "loaded": loaded,
        "board": loaded.board,
        "waits": waits,
        "workers": workers.alive() if waits else {},
        "query": choice.query if choice else "",
        "lines": found,
        "asked": asked,
        "few": masking_table.FEW,
        "may_evaluate": may(request, corpus, Right.EVALUATE),
        "may_start": may(request, corpus, Right.START_RUNS),
    }
    return render(request, "evaluation/maskings.html", context)


Found = tuple[Choice | None, Loaded, list[masking_table.Line], list[masking_table.Asked]]


def _table(request: PersonRequest, corpus: Corpus) -> Found:
    """The numbers of the page, for the board that the address asks for."""
    choice = boards.choose(corpus, request.GET)
    loaded = boards.load(corpus, choice) if choice else Loaded(None)
    maskings = selected.maskings(corpus)
    known = masking_reports.load_all(corpus)
    found = [
        masking_table.line_of(one, report.utility if (report := known.get(str(one.public_id))) else None)
        for one in maskings
    ]
    return choice, loaded, found, masking_table.asked(corpus, loaded.board, maskings)


@needs(Right.SEE_PROFILES)
@require_safe
def svg(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """Accuracy that is left over similarity: `theme` light or dark, `width` wide or narrow."""
    corpus = corpus_for(request, corpus_id)
    theme, width = request.GET.get("theme", "light"), request.GET.get("width", "wide")
    if theme not in THEMES or width not in WIDTHS:
        raise Http404(f"{theme}, {width}")
    _, _, found, asked = _table(request, corpus)
    utilities = {str(one.masking.public_id): one.utility for one in found if one.utility}
    look = Look(theme, width, name="Accuracy that is left over similarity to the original")
    drawing = privacy_utility(masking_table.points(asked, utilities), look)
    answer = HttpResponse(drawing, content_type="image/svg+xml")
    answer["Cache-Control"] = "private, no-cache"
    return answer


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The table of the list, with every attribute, as a file."""
    corpus = corpus_for(request, corpus_id)
    _, _, found, asked = _table(request, corpus)
    answer = HttpResponse(as_csv(masking_tables.table(found, asked)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="maskings-{corpus_id}.csv"'
    return answer


@needs(Right.EVALUATE)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of a masking by rules or by a recogniser."""
    corpus = corpus_for(request, corpus_id, Right.EVALUATE)
    taken = Masking.objects.filter(corpus=corpus).count()
    form = MaskingForm(request.POST or None, initial={"name": f"masking {taken + 1}", "masker": "rules"})
    if request.method == "POST" and form.is_valid():
        try:
            made = services.mask_corpus(corpus, **form.chosen, by=request.user)
        except BadMasking as problem:
            form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        else:
            _begin(request, made)
            return redirect("masking", masking_id=made.public_id)
    context = {
        "section": "models",
        "tab": "masking",
        "corpus": corpus,
        "form": form,
        "comments": corpus.comments.filter(state="active").count(),
        "workers": workers.alive(),
    }
    return render(request, "evaluation/masking_new.html", context, status=422 if form.errors else 200)


def _begin(request: PersonRequest, made: Masking) -> None:
    if made.state in BUSY:
        _tell(mask_texts, made.pk)
    else:
        messages.info(request, f"“{made.name}” is here already, and every comment is masked: nothing to do.")


def _tell(task: Any, *given: int) -> None:
    """Tells a worker. Where the broker is down the row waits: the sweep sends what nobody was told of."""
    try:
        task.delay_on_commit(*given)
    except OperationalError:
        log.warning("work not handed over, the broker does not answer", extra={"task": task.name})


@needs(Right.EVALUATE)
@require_POST
def again(request: PersonRequest, masking_id: str) -> HttpResponse:
    """Masks what was added or edited since, or goes on with what has failed."""
    one = _masking(request, masking_id, Right.EVALUATE)
    masker = one.masker.split(" ")[0]
    try:
        made = services.mask_corpus(
            one.corpus, name=one.name, masker=masker, style=one.style, options=one.options, by=request.user
        )
    except BadMasking as problem:
        messages.error(request, str(problem))
    else:
        _begin(request, made)
    return redirect("masking", masking_id=one.public_id)


@needs(Right.SEE_PROFILES)
@require_safe
def one(request: PersonRequest, masking_id: str) -> HttpResponse:
    """What a masking is and what it did; asked by htmx, only its state."""
    masking = _masking(request, masking_id)
    is_busy = masking.state in BUSY
    context: dict[str, Any] = {
        "corpus": masking.corpus,
        "masking": masking,
        "is_busy": is_busy,
        "so_far": masking.rows.count() if is_busy else masking.texts,
        "workers": workers.alive() if is_busy else {},
    }
    if request.htmx and is_busy:
        return render(request, "evaluation/masking.html#state", context)
    if request.htmx:  # it has ended: the whole page has something to show now
        answer = HttpResponse(status=204)
        answer["HX-Refresh"] = "true"
        return answer
    narrowed = _narrowed(request)
    report = masking_reports.load(masking)
    if report is None and masking.state == Masking.DONE:
        _tell(make_reports)
    context |= {
        "section": "models",
        "tab": "masking",
        "line": masking_table.line_of(masking, report.utility if report else None),
        "report": report,
        "page": selected.texts(masking, narrowed, after=request.GET.get("after", "")),
        "asked": narrowed,
        "query": urlencode(narrowed.asked),
        "begun": bool(request.GET.get("after")),
        "may_evaluate": may(request, masking.corpus, Right.EVALUATE),
        "may_start": may(request, masking.corpus, Right.START_RUNS),
    }
    return render(request, "evaluation/masking.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def texts(request: PersonRequest, masking_id: str, kind: str) -> HttpResponseBase:
    """The texts that the list shows, all of them, as a file."""
    masking = _masking(request, masking_id)
    if kind not in masking_tables.KINDS:
        raise Http404(kind)
    return StreamingHttpResponse(
        masking_tables.lines(masking, _narrowed(request), kind),
        content_type=masking_tables.KINDS[kind],
        headers={"Content-Disposition": f'attachment; filename="masked-{masking.public_id}.{kind}"'},
    )


def _narrowed(request: PersonRequest) -> Narrowed:
    author = request.GET.get("author", "").strip()[:100]
    return Narrowed(changed=request.GET.get("changed") == "1", author=author)


def _masking(request: PersonRequest, masking_id: str, right: Right = Right.SEE_PROFILES) -> Masking:
    """The masking, where the person has `right` in its corpus. Raises Http404."""
    visible = Masking.objects.visible_to(request.user).select_related("corpus", "created_by", "run")
    allowed = Corpus.objects.with_right(request.user, right)
    return get_object_or_404(visible.filter(corpus__in=allowed), public_id=masking_id)
