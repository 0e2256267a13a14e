"""What is done with an import: cancel it, import what was looked at, undo it, fetch its problems."""

from __future__ import annotations

import logging

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError

from annotation.exchange import undoing, uploads
from annotation.models import DataImport
from annotation.tasks import run_undo
from annotation.views.exchange import hand_over
from simulation.domain.roles import Right
from simulation.domain.typed import NotConfirmed
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.exchange")


def _import(request: PersonRequest, import_id: str) -> DataImport:
    mine = DataImport.objects.visible_to(request.user).select_related("corpus")
    return get_object_or_404(mine, public_id=import_id)


@needs(Right.IMPORT)
@require_safe
def problems(request: PersonRequest, import_id: str) -> HttpResponseBase:
    """Every problem of the file as a table."""
    one = _import(request, import_id)
    if not uploads.has_problem_file(one):
        raise Http404
    name = f"{one.file_name}.problems.csv"
    return FileResponse(uploads.problem_file(one).open("rb"), as_attachment=True, filename=name)


@needs(Right.IMPORT)
@require_POST
def cancel(request: PersonRequest, import_id: str) -> HttpResponse:
    one = _import(request, import_id)
    try:
        uploads.cancel(by=request.user, one=one)
    except uploads.NotPossible as late:
        messages.warning(request, str(late))
    return redirect("import_status", import_id=one.public_id)


@needs(Right.IMPORT)
@require_POST
def again(request: PersonRequest, import_id: str) -> HttpResponse:
    """After a look: the same file, in earnest."""
    one = _import(request, import_id)
    try:
        real = uploads.again(by=request.user, one=one)
    except uploads.NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("import_status", import_id=one.public_id)
    hand_over(real)
    return redirect("import_status", import_id=real.public_id)


@needs(Right.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: PersonRequest, import_id: str) -> HttpResponse:
    """What would go and what would come back, or what stands in the way; the name is typed to confirm."""
    one = _import(request, import_id)
    typed, problem = request.POST.get("typed", ""), ""
    if request.method == "POST":
        try:
            undoing.ask(by=request.user, one=one, typed=typed)
        except (undoing.NotPossible, NotConfirmed) as refusal:
            problem = str(refusal)
        else:
            _have_undone(one)
            return redirect("import_status", import_id=one.public_id)
    elif said := undoing.refusal(one):
        messages.warning(request, said)
        return redirect("import_status", import_id=one.public_id)
    context = {
        "section": "corpora",
        "one": one,
        "corpus": one.corpus,
        "extent": undoing.extent(one),
        "obstacles": undoing.obstacles(one),
        "problem": problem,
        "typed": typed,
    }
    return render(request, "corpora/import_undo.html", context, status=422 if problem else 200)


def _have_undone(one: DataImport) -> None:
    """Tells a worker. Where the broker is down the sweep does."""
    try:
        run_undo.delay_on_commit(one.pk)  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("undo not handed over, the broker does not answer", extra={"import": one.public_id})
