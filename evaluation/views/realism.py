"""One comparison by machine as files: what tells the texts apart, its areas and curves, their figures."""

from __future__ import annotations

from django.http import Http404, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_safe

from annotation.exchange.tables import Table, as_csv
from evaluation.domain.corpus_diversity import Realism
from evaluation.exchange import diversity_tables
from evaluation.plots.sheet import VERSION, WIDTHS, Look
from evaluation.plots.themes import THEMES
from evaluation.selectors import diversity as selectors
from evaluation.selectors import realism_figures as figures
from evaluation.services import diversity_realism as comparing
from evaluation.services import reports
from evaluation.views.rooms import corpus_for
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


@needs(Right.SEE_PROFILES)
@require_safe
def telling(request: PersonRequest, corpus_id: str, key: str) -> HttpResponse:
    """What tells the texts of one comparison apart, as a file."""
    return _file(diversity_tables.telling(_found(request, corpus_id, key)), f"realism-{key}")


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, key: str, table: str) -> HttpResponse:
    """The numbers behind a figure, as a file."""
    if table not in diversity_tables.REALISM:
        raise Http404(table)
    made = diversity_tables.REALISM[table](_found(request, corpus_id, key))
    return _file(made, f"realism-{table}-{key}")


@needs(Right.SEE_PROFILES)
@require_safe
def figure(request: PersonRequest, corpus_id: str, key: str, figure: str) -> HttpResponseBase:
    """Areas or curves as SVG in `theme` and `width`; 304 where nothing has changed."""
    theme, width = request.GET.get("theme", "light"), request.GET.get("width", "wide")
    if figure not in figures.NAMES or theme not in THEMES or width not in WIDTHS:
        raise Http404(figure)
    found = _found(request, corpus_id, key)
    shown = found.groupings, found.threads, found.theirs.name
    etag = f'"{reports.stamp_of(VERSION, figure, theme, width, repr(shown))[:32]}"'
    answer: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if answer is None:
        look = Look(theme, width, figures.name_of(figure, found), figures.described(figure, found))
        answer = HttpResponse(figures.drawing(figure, found, look), content_type="image/svg+xml")
    answer["ETag"] = etag
    patch_cache_control(answer, private=True, no_cache=True)
    return answer


def _found(request: PersonRequest, corpus_id: str, key: str) -> Realism:
    """Raises Http404 where the person may not see the comparison, or it was not counted yet."""
    corpus = corpus_for(request, corpus_id)
    report = selectors.comparison(corpus, request.user, key)
    found = comparing.found_in(report) if report else None
    if found is None:
        raise Http404("not counted yet")
    return found


def _file(found: Table, name: str) -> HttpResponse:
    answer = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer
