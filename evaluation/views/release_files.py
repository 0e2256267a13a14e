"""The files of a release, on their way to whoever asked for them, or to a hub."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from urllib.parse import quote

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from kombu.exceptions import OperationalError

from evaluation.exchange import release_push, release_reading
from evaluation.forms.releases import PushForm
from evaluation.models import Release
from evaluation.services.releases import Refused
from evaluation.tasks import push_release
from evaluation.views.releases import release_for
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs
from simulation.services import audit

KINDS = {
    "jsonl": "application/x-ndjson; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


@needs(Right.EXPORT)
@require_safe
def file(request: PersonRequest, release_id: str, name: str) -> HttpResponseBase:
    """One file, as it lies on the server."""
    release = release_for(request, release_id)
    path = release_reading.path_of(release, name)
    if path is None:
        raise Http404(name)
    kind = KINDS.get(path.suffix[1:]) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    called = f"{release_reading.base_name(release)}-{name.replace('/', '-')}"
    answer = _sent(request, release, called, kind, release_reading.pieces(path), what=name)
    answer["Content-Length"] = path.stat().st_size
    return answer


@needs(Right.EXPORT)
@require_safe
def packed(request: PersonRequest, release_id: str) -> HttpResponseBase:
    """All files in one."""
    release = release_for(request, release_id)
    listed = release_reading.files(release)
    if not listed or any(release_reading.path_of(release, one.name) is None for one in listed):
        raise Http404("no files")
    called = f"{release_reading.base_name(release)}.zip"
    return _sent(
        request, release, called, "application/zip", release_reading.as_zip(release), what="all files"
    )


def _sent(
    request: PersonRequest, release: Release, called: str, kind: str, pieces: Iterator[bytes], *, what: str
) -> StreamingHttpResponse:
    """A download, written down: the authors' true attributes leave with it."""
    if request.method == "GET":
        details = {"file": what}
        audit.record(
            by=request.user, action="release.taken", target=release, corpus=release.corpus, details=details
        )
    answer = StreamingHttpResponse(pieces if request.method == "GET" else (), content_type=kind)
    answer["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(called)}"
    answer["X-Accel-Buffering"] = "no"
    if release.withdrawn_at:
        answer["X-Release-Withdrawn"] = f"{release.withdrawn_at:%Y-%m-%d}"
    return answer


@needs(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def push(request: PersonRequest, release_id: str) -> HttpResponse:
    """What would be sent to a hub; with POST and without `look`, a worker is told to send it."""
    release = release_for(request, release_id)
    form = PushForm(request.POST or None)
    plan = None
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            plan = release_push.plan(release, **said)
            if "look" not in request.POST:
                _hand_over(request, release, said)
                return redirect("release", release_id=release.public_id)
        except Refused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
    context = {
        "section": "corpora",
        "corpus": release.corpus,
        "release": release,
        "form": form,
        "plan": plan,
        "missing": release_push.missing(),
    }
    return render(request, "releases/push.html", context, status=422 if form.errors else 200)


def _hand_over(request: PersonRequest, release: Release, said: dict[str, object]) -> None:
    repository, variable, public = str(said["repository"]), str(said["variable"]), bool(said["public"])
    release_push.ask(release, by=request.user, repository=repository, variable=variable, public=public)
    try:
        push_release.delay_on_commit(release.pk, repository, variable, public)  # type: ignore[attr-defined]
    except OperationalError:
        release_push.not_sent(release, repository=repository, public=public)
