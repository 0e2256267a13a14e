"""Releases of a corpus: the list, a new one, one with all that is known of it, and what is added later."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError

from annotation.domain.markdown import to_html
from evaluation.domain.citing import Cited, bibtex
from evaluation.exchange import release_making, release_metrics, release_reading, releases
from evaluation.exchange.releases import Preview
from evaluation.forms.releases import DoiForm, ReleaseForm, WithdrawForm
from evaluation.models import Release
from evaluation.selectors import releases as selected
from evaluation.services import releases as services
from evaluation.services.releases import Refused
from evaluation.tasks import make_release
from evaluation.views.rooms import corpus_for, may
from simulation.domain.attributes import TARGETS
from simulation.domain.roles import Right
from simulation.domain.typed import NotConfirmed
from simulation.models import Corpus
from simulation.selectors import workers
from simulation.selectors.access import PersonRequest, needs

log = logging.getLogger("synthpai.releases")
BUSY = (Release.QUEUED, Release.RUNNING)


def tell(task: Any, *given: Any) -> None:
    """Tells a worker. Where the broker is down the row waits: the sweep sends what nobody was told of."""
    try:
        task.delay_on_commit(*given)
    except OperationalError:
        log.warning("work not handed over, the broker does not answer", extra={"task": task.name})


def release_for(request: PersonRequest, public_id: str) -> Release:
    """The release, where the person may export its corpus. Raises Http404."""
    return get_object_or_404(selected.visible(request.user), public_id=public_id)


@needs(Right.EXPORT)
@require_safe
def index(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """All releases of a corpus, newest first."""
    corpus = corpus_for(request, corpus_id, Right.EXPORT)
    page = selected.releases(corpus, before=request.GET.get("before", ""))
    context = {"section": "corpora", "corpus": corpus, "page": page, "begun": bool(request.GET.get("before"))}
    return render(request, "releases/list.html", context)


@needs(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of a release; with `look`, or asked by htmx, what would be in it."""
    corpus = corpus_for(request, corpus_id, Right.EXPORT)
    sent = request.method == "POST"
    first = {"name": selected.first_free_name(corpus), "policy": Release.ADJUDICATED, "min_words": 0}
    form = ReleaseForm(request.POST if sent else None, corpus=corpus, initial=first)
    looking = sent and ("look" in request.POST or bool(request.htmx))
    if sent and not looking and form.is_valid() and (made := _ask(request, corpus, form)):
        tell(make_release, made.pk)
        return redirect("release", release_id=made.public_id)
    wrong = sent and not looking
    context = {
        "section": "corpora",
        "corpus": corpus,
        "form": form,
        "wrong": wrong,
        "looked": looking or not sent,
        "found": _look(corpus, form) if sent else _everything(corpus),
        "workers": workers.alive(),
    }
    template = "releases/new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _ask(request: PersonRequest, corpus: Corpus, form: ReleaseForm) -> Release | None:
    """The release; None where it was refused, and the form says why."""
    said = form.cleaned_data
    texts = {name: said[name] for name in ("name", "title", "description", "licence")}
    try:
        return releases.ask(by=request.user, corpus=corpus, **texts, **form.holds)
    except Refused as error:
        field = error.field.removeprefix("query.")
        form.add_error(field if field in form.fields else None, str(error))
        return None


def _look(corpus: Corpus, form: ReleaseForm) -> Preview | None:
    """What would be in it; None where the form is wrong, which it says then."""
    if not form.can_look:
        return None
    try:
        return releases.preview(corpus, **form.holds)
    except Refused:
        return None


def _everything(corpus: Corpus) -> Preview:
    return releases.preview(corpus, query={}, policy=Release.ADJUDICATED)


@needs(Right.EXPORT)
@require_safe
def one(request: PersonRequest, release_id: str) -> HttpResponse:
    """A release; asked by htmx while it is being made, only its state."""
    release = release_for(request, release_id)
    busy = release.state in BUSY
    context: dict[str, Any] = {
        "section": "corpora",
        "corpus": release.corpus,
        "release": release,
        "busy": busy,
        "workers": workers.alive() if busy else {},
        "so_far": release_making.so_far(release) if busy else (0, 0),
    }
    if request.htmx and busy:
        return render(request, "releases/release.html#state", context)
    if request.htmx:  # it is over: the whole page has something to show now
        answer = HttpResponse(status=204)
        answer["HX-Refresh"] = "true"
        return answer
    if release.state == Release.READY:
        context |= _of_ready(request, release)
    return render(request, "releases/release.html", context)


def _of_ready(request: PersonRequest, release: Release) -> dict[str, Any]:
    metrics = release_reading.metrics(release)
    return {
        "files": (files := release_reading.files(release)),
        "gone": [one.name for one in files if release_reading.path_of(release, one.name) is None],
        "filters": _filters(release),
        "card": _as_html(release_reading.card(release)),
        "agreed": release_metrics.agreed(metrics),
        "shifted": release_metrics.shifted(metrics),
        "counts": release_reading.counts(release),
        "manifest": release_reading.manifest(release),
        "bibtex": bibtex(_cited(release)),
        "others": selected.comparable(release),
        "sees_profiles": may(request, release.corpus, Right.SEE_PROFILES),
        "targets": TARGETS,
    }


def _filters(release: Release) -> list[tuple[str, str]]:
    """The filters that were set, in words, with their values."""
    found = []
    for name, words in releases.WORDS.items():
        if value := release.query.get(name):
            many = isinstance(value, list)
            found.append((words, ", ".join(map(str, value)) if many else "" if value is True else str(value)))
    return found


def _cited(release: Release) -> Cited:
    return Cited(
        title=release.title or release.corpus.name,
        version=release.name,
        year=release.created_at.year,
        digest=release.digest,
        licence=release.licence,
        doi=release.doi,
        withdrawn=release.withdrawn_at is not None,
    )


def _as_html(card: str) -> SafeString:
    """The card as HTML: `to_html` lets none of its own through."""
    return mark_safe(to_html(card))  # noqa: S308


@needs(Right.EXPORT)
@require_POST
def again(request: PersonRequest, release_id: str) -> HttpResponse:
    """Tries once more to make a release that failed."""
    release = release_for(request, release_id)
    try:
        made = releases.again(release, by=request.user)
    except Refused as error:
        messages.error(request, str(error))
    else:
        tell(make_release, made.pk)
    return redirect("release", release_id=release.public_id)


@needs(Right.EXPORT)
@require_POST
def discard(request: PersonRequest, release_id: str) -> HttpResponse:
    """Removes one that failed."""
    release = release_for(request, release_id)
    try:
        releases.discard(release, by=request.user)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("release", release_id=release.public_id)
    messages.success(request, f"Release {release.name} is discarded; its name is free again.")
    return redirect("releases", corpus_id=release.corpus.public_id)


@needs(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: PersonRequest, release_id: str) -> HttpResponse:
    """What a withdrawal does; the notice is written and the name typed."""
    release = release_for(request, release_id)
    form = WithdrawForm(request.POST or None)
    wrong = ""
    if request.method == "POST" and form.is_valid():
        typed = request.POST.get("typed", "")
        try:
            services.withdraw(release, by=request.user, notice=form.cleaned_data["notice"], typed=typed)
        except NotConfirmed as error:
            wrong = str(error)
        except Refused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, f"Release {release.name} is withdrawn. Its files stay as they are.")
            return redirect("release", release_id=release.public_id)
    context = {
        "section": "corpora",
        "corpus": release.corpus,
        "release": release,
        "form": form,
        "wrong": wrong,
        "typed": request.POST.get("typed", ""),
    }
    return render(request, "releases/withdraw.html", context, status=422 if wrong or form.errors else 200)


@needs(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def doi(request: PersonRequest, release_id: str) -> HttpResponse:
    """Sets the DOI; one that is there is corrected by whoever types the release's name."""
    release = release_for(request, release_id)
    form = DoiForm(request.POST or None, initial={"doi": release.doi})
    wrong = ""
    if request.method == "POST" and form.is_valid():
        typed = request.POST.get("typed", "")
        try:
            services.set_doi(release, by=request.user, doi=form.cleaned_data["doi"], typed=typed)
        except NotConfirmed as error:
            wrong = str(error)
        except Refused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("release", release_id=release.public_id)
    context = {
        "section": "corpora",
        "corpus": release.corpus,
        "release": release,
        "form": form,
        "wrong": wrong,
        "typed": request.POST.get("typed", ""),
    }
    return render(request, "releases/doi.html", context, status=422 if wrong or form.errors else 200)
