"""Files in, files out."""

import logging
from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from annotation.exchange import export as exporting
from annotation.exchange import progress, undoing, uploads
from annotation.exchange.problem_list import LONGEST
from annotation.forms import ExportForm, ImportForm
from annotation.models import DataImport
from annotation.selectors import imports as latest
from annotation.selectors import labels
from annotation.tasks import run_import
from annotation.views.browse import corpus_for
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.exchange")

HEADINGS = {
    DataImport.QUEUED: "Waiting for a worker",
    DataImport.RUNNING: "Importing",
    DataImport.DONE: "Imported",
    DataImport.FAILED: "Failed",
    DataImport.CANCELLED: "Cancelled: nothing was changed",
    DataImport.UNDONE: "Undone: nothing of it is left",
}


@needs(Right.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """Takes a file and hands it to a worker."""
    corpus = corpus_for(request, corpus_id, Right.IMPORT)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            one = uploads.receive(by=request.user, corpus=corpus, **form.cleaned_data)
        except uploads.NameTooLong as error:
            form.add_error("file", str(error))
        else:
            if uploads.ASKS in one.options:
                return redirect("import_columns", import_id=one.public_id)
            hand_over(one)
            return redirect("import_status", import_id=one.public_id)
    context = {
        "section": "corpora",
        "corpus": corpus,
        "form": form,
        "page": latest.page(corpus, after=request.GET.get("after", "")),
        "begun": bool(request.GET.get("after")),
        "workers": workers.alive(),
    }
    return render(request, "corpora/imports.html", context, status=422 if form.errors else 200)


def hand_over(one: DataImport) -> None:
    """Tells a worker. Where the broker is down the file waits: the sweep sends what nobody was told of."""
    try:
        run_import.delay_on_commit(one.pk)  # type: ignore[attr-defined]
    except OperationalError:
        log.warning("import not handed over, the broker does not answer", extra={"import": one.public_id})


@needs(Right.IMPORT)
@require_safe
def import_status(request: PersonRequest, import_id: str) -> HttpResponse:
    one = get_object_or_404(
        DataImport.objects.visible_to(request.user).select_related("corpus", "by", "undone_by"),
        public_id=import_id,
    )
    asks = one.state == DataImport.QUEUED and uploads.ASKS in one.options
    if asks and uploads.has_file(one):
        return redirect("import_columns", import_id=one.public_id)
    running = (one.state in DataImport.WAITING and not asks) or one.is_being_undone
    context = {
        "section": "corpora",
        "one": one,
        "corpus": one.corpus,
        "heading": _heading(one),
        "running": running,
        "progress": progress.of(one) if one.state == DataImport.RUNNING else None,
        "may_undo": not running and not undoing.refusal(one),
        "may_import": one.dry_run and one.state == DataImport.DONE and bool(one.path),
        "has_problem_file": uploads.has_problem_file(one),
        "longest": LONGEST,
        "workers": workers.alive() if running else {},
    }
    template = "corpora/import_status.html" + ("#status" if request.htmx else "")
    return render(request, template, context)


def _heading(one: DataImport) -> str:
    if one.is_being_undone:
        return "Being undone"
    if one.state == DataImport.QUEUED and uploads.ASKS in one.options:
        return uploads.GONE  # else its status is the question
    if one.state in DataImport.WAITING and one.cancel_asked_at:
        return "Being cancelled"
    if one.state == DataImport.DONE and one.dry_run:
        return "What would change"
    if one.state == DataImport.INVALID:
        count = one.counts["problems"]
        return f"Not imported: {count:,} problem{'s' * (count != 1)}"
    return HEADINGS[one.state]


@needs(Right.EXPORT)
@require_safe
def export(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = corpus_for(request, corpus_id, Right.EXPORT)
    context = {"section": "corpora", "corpus": corpus, "form": ExportForm(), "counts": labels.counts(corpus)}
    return render(request, "corpora/export.html", context)


def _of_one_moment(corpus: Corpus, layout: str, reviewed_only: bool) -> Iterator[str]:
    with exporting.snapshot():
        yield from exporting.stream(corpus=corpus, layout=layout, reviewed_only=reviewed_only)


@needs(Right.EXPORT)
@require_safe
def download(request: PersonRequest, corpus_id: str) -> HttpResponseBase:
    """The file itself, written while it is read from the database."""
    corpus = corpus_for(request, corpus_id, Right.EXPORT)
    form = ExportForm(request.GET)
    if not form.is_valid():
        messages.error(request, "Choose one of the layouts.")
        return redirect("export", corpus_id=corpus.public_id)
    layout, reviewed_only = form.cleaned_data["format"], form.cleaned_data["reviewed_only"]
    exporting.record(by=request.user, corpus=corpus, layout=layout, reviewed_only=reviewed_only)
    stream = StreamingHttpResponse(
        _of_one_moment(corpus, layout, reviewed_only),
        content_type=exporting.CONTENT_TYPES[layout],
    )
    stream["Content-Disposition"] = f'attachment; filename="{exporting.file_name(corpus, layout)}"'
    stream["X-Accel-Buffering"] = "no"
    return stream
