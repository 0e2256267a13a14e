"""What differs between two releases of a corpus, and why."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evaluation.domain import release_changes as rules
from evaluation.exchange import release_differences as differences
from evaluation.exchange.release_differences import Wanted
from evaluation.models import ReleaseDifference
from evaluation.selectors import releases as selected
from evaluation.services.releases import Refused
from evaluation.tasks import make_difference
from evaluation.views.releases import release_for, tell
from evaluation.views.rooms import may
from simulation.domain.attributes import TARGETS
from simulation.domain.roles import Right
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs


@needs(Right.EXPORT)
@require_POST
def ask(request: PersonRequest, release_id: str) -> HttpResponse:
    """Has a release compared with the older one that was chosen."""
    new = release_for(request, release_id)
    old = selected.visible(request.user).filter(public_id=request.POST.get("other", "")).first()
    if old is None:
        messages.error(request, "Choose a release to compare with.")
        return redirect("release", release_id=new.public_id)
    try:
        made = differences.ask(by=request.user, old=old, new=new)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("release", release_id=new.public_id)
    if made.counts is None:
        tell(make_difference, made.pk)
    return redirect("release_difference", release_id=new.public_id, old_id=old.public_id)


@needs(Right.EXPORT)
@require_safe
def one(request: PersonRequest, release_id: str, old_id: str) -> HttpResponse:
    """Counts by table and attribute, and the differences themselves in pages."""
    found = _difference(request, release_id, old_id)
    waits = found.counts is None and not found.problem
    context: dict[str, Any] = {
        "section": "corpora",
        "corpus": found.new.corpus,
        "found": found,
        "waits": waits,
        "workers": workers.alive() if waits else {},
    }
    if request.htmx and waits:
        return render(request, "releases/difference.html#state", context)
    if request.htmx:
        answer = HttpResponse(status=204)
        answer["HX-Refresh"] = "true"
        return answer
    wanted = _wanted(request)
    given = request.GET.get("after", "")
    after = int(given) if given.isdecimal() and len(given) < 19 else 0
    counts = found.counts or {}
    context |= {
        "tables": [(name, counts[name]) for name in rules.TABLES if name in counts],
        "attributes": counts.get("attributes", {}),
        "causes": [(rules.WHY.get(key, key), key, n) for key, n in counts.get("why", {}).items()],
        "page": differences.page(found, wanted, after=after),
        "wanted": wanted,
        "query": urlencode(wanted.asked),
        "begun": after > 0,
        "changes": rules.CHANGES,
        "why": rules.WHY,
        "targets": TARGETS,
        "sees_profiles": may(request, found.new.corpus, Right.SEE_PROFILES),
    }
    return render(request, "releases/difference.html", context)


@needs(Right.EXPORT)
@require_safe
def lines(request: PersonRequest, release_id: str, old_id: str) -> HttpResponseBase:
    """The differences that the page shows, all of them, one JSON object a line."""
    found = _difference(request, release_id, old_id)
    if differences.path_of(found) is None:
        raise Http404("no differences")
    called = f"{found.old.name}-to-{found.new.name}.jsonl"
    return StreamingHttpResponse(
        differences.lines(found, _wanted(request)),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{called}"'},
    )


def _wanted(request: PersonRequest) -> Wanted:
    return Wanted(
        **{name: request.GET.get(name, "")[:60] for name in ("table", "change", "attribute", "why")}
    )


def _difference(request: PersonRequest, release_id: str, old_id: str) -> ReleaseDifference:
    mine = selected.visible(request.user)
    rows = ReleaseDifference.objects.filter(old__in=mine, new__in=mine).select_related("old", "new__corpus")
    return get_object_or_404(rows, new__public_id=release_id, old__public_id=old_id)
