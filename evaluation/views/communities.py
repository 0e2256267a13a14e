"""The communities that were named for the threads of a corpus, as a table and as files."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.exchange.communities import KINDS
from evaluation.selectors import communities
from evaluation.selectors.communities import IMPORTED, STATES
from evaluation.views.rooms import corpus_for, may
from simulation.domain.failures import meaning
from simulation.domain.roles import Right
from simulation.models import Corpus, Run
from simulation.selectors.access import PersonRequest, needs


@needs(Right.SEE_PROFILES)
@require_safe
def page(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """What one `run` named, of `what`, a page `after` another; of the latest, where none is asked for."""
    corpus = corpus_for(request, corpus_id)
    runs, has_imported = communities.runs_of(corpus), communities.imported(corpus).exists()
    key, what = request.GET.get("run", ""), request.GET.get("what", "")
    what = what if what in STATES else ""
    run = next((one for one in runs if one.public_id == key), None)
    if run is None and key != IMPORTED:
        run = runs[0] if runs else None
    after = _number(request.GET.get("after", ""))
    context: dict[str, Any] = {
        "section": "models",
        "tab": "diversity",
        "corpus": corpus,
        "runs": runs,
        "has_imported": has_imported,
        "run": run,
        "key": run.public_id if run else IMPORTED,
        "what": what if run else "",
        "may_start": may(request, corpus, Right.START_RUNS),
        "begun": after >= 0,
        "query": urlencode({"run": run.public_id if run else IMPORTED, "what": what if run else ""}),
    }
    if run:
        context |= {"tally": communities.tally(run), "page": communities.page(run, what=what, after=after)}
        context["reasons"] = [(meaning(key), n) for key, n in context["tally"].reasons.items()]
    elif has_imported:
        tally = communities.tally_imported(corpus)
        context |= {"tally": tally, "page": communities.imported_page(corpus, after=after)}
    return render(request, "evaluation/communities.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def file(request: PersonRequest, corpus_id: str, key: str, kind: str) -> StreamingHttpResponse:
    """All threads of a run, or of what threads name themselves, as CSV or in the published form."""
    corpus = corpus_for(request, corpus_id)
    if kind not in KINDS:
        raise Http404(kind)
    rows = communities.imported_rows(corpus) if key == IMPORTED else communities.rows(_run(corpus, key))
    answer = StreamingHttpResponse(KINDS[kind].write(rows), content_type=KINDS[kind].content_type)
    name = f"communities-{key}-{corpus.public_id}"
    answer["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return answer


def _run(corpus: Corpus, key: str) -> Run:
    """Raises Http404."""
    run = Run.objects.filter(corpus=corpus, kind=Run.TOPICS, public_id=key).first()
    if run is None:
        raise Http404(key)
    return run


def _number(given: str) -> int:
    """The number behind which a page begins; -1 for the first."""
    return int(given) if given.isdecimal() and len(given) < 15 else -1
