"""Making queues, opening, pausing and closing them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.domain import comment_filter
from annotation.domain.comment_filter import CommentFilter
from annotation.forms import QueueForm
from annotation.models import Queue
from annotation.selectors import browsing, queue_settings, trash
from annotation.services import queues
from annotation.views.browse import corpus_for
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest, needs

DRAWN_BELOW = 10**9
"""Seeds that are drawn here stay readable."""
NOTHING = "No active comment matches: there is nothing to review. Change the filter."
TAKEN = "This corpus has a queue of that name already; choose another."
TRASHED = "In the trash there is a queue of that name; choose another, or restore that one."


def managed_queue(request: PersonRequest, queue_id: str) -> Queue:
    """A queue that the person may steer, or 404."""
    managed = Queue.objects.with_right(request.user, Right.MANAGE_QUEUES).select_related("corpus")
    return get_object_or_404(managed, public_id=queue_id)


@dataclass(frozen=True)
class Forecast:
    """What pressing the button makes: `comments` items, `reviews` slots. None: the form does not say."""

    comments: int
    people: int | None

    @property
    def reviews(self) -> int | None:
        return None if self.people is None else self.comments * self.people

    @property
    def words(self) -> str:
        people = f"{self.people} {'person' if self.people == 1 else 'people'}"
        one = self.comments == 1
        return (
            f"{intcomma(self.comments)} comment{'' if one else 's'} × {people} ="
            f" {intcomma(self.reviews)} review{'' if self.reviews == 1 else 's'}"
        )


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; its filter stands in the address. With `look`, or asked by htmx, only its numbers anew."""
    corpus = corpus_for(request, corpus_id, Right.MANAGE_QUEUES)
    asked, problems = comment_filter.read(request.GET)
    if problems:
        context = {"section": "corpora", "corpus": corpus, "problems": problems}
        return render(request, "queues/bad_filter.html", context, status=422)
    form = _form(request, corpus, asked)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    if not looking and form.is_valid() and (queue := _make(request, corpus, asked, form)):
        messages.success(request, f"Queue “{queue.name}” is {queue.state}.")
        return redirect("queue_settings", queue_id=queue.public_id)
    return _page(request, corpus, asked, form, wrong=not looking)


def _form(request: PersonRequest, corpus: Corpus, asked: CommentFilter) -> QueueForm:
    taggers = browsing.models(corpus)
    initial = {
        "name": queue_settings.next_name(corpus),
        "seed": secrets.randbelow(DRAWN_BELOW),
        "tagger": asked.tagger if asked.tagger in taggers else "",
        "assisted": "yes" if taggers else "no",
    }
    return QueueForm(
        request.POST if request.method == "POST" else None,
        initial=initial,
        people=queue_settings.reviewers(corpus),
        taggers=taggers,
    )


def _page(
    request: PersonRequest, corpus: Corpus, asked: CommentFilter, form: QueueForm, *, wrong: bool
) -> HttpResponse:
    people: int | None = 1
    if form.is_bound:
        form.is_valid()
        people = form.cleaned_data.get("people_per_item")
    words = asked.words(browsing.names(corpus, asked))
    context: dict[str, Any] = {
        "section": "corpora",
        "corpus": corpus,
        "form": form,
        "wrong": wrong,
        "forecast": Forecast(queue_settings.reviewable(corpus, asked), people),
        "chips": [(name, value, urlencode(asked.without(key))) for name, value, key in words],
        "query": urlencode(asked.fields()),
        "nobody": not queue_settings.reviewers(corpus).exists(),
    }
    template = "queues/new.html" + ("#forecast" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _make(request: PersonRequest, corpus: Corpus, asked: CommentFilter, form: QueueForm) -> Queue | None:
    """The queue that the form makes, or made a moment ago; None with the reason in the form."""
    named, ways = form.workers_wanted, form.ways()
    name = form.cleaned_data["name"]
    like = Queue(corpus=corpus, name=name, filter=asked.fields(), named_only=named is not None, **ways)
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the queue of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := queue_settings.made_just_now(request.user, like, named or []):
                return already
            told = form.cleaned_data["items"] or 0
            if not told or told * ways["people_per_item"] != form.cleaned_data["reviews"]:
                raise queues.Changed(queue_settings.reviewable(corpus, asked))
            return queues.create(
                by=request.user,
                corpus=corpus,
                name=name,
                comments=asked,
                workers=named,
                guidelines=form.cleaned_data["guidelines"],
                expected=told,
                **ways,
            )
    except IntegrityError:
        form.add_error("name", TRASHED if trash.queue_named(corpus, name) else TAKEN)
    except queues.Changed as now:
        size = now.size
        told_now = f"Other numbers than you were told: {Forecast(size, ways['people_per_item']).words}."
        form.add_error(None, f"{told_now} Press again if that is right." if size else NOTHING)
    return None


@needs(Right.MANAGE_QUEUES)
@require_POST
def set_state(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Opens, pauses or closes; leads back to the page on which it was pressed."""
    queue = managed_queue(request, queue_id)
    try:
        queues.set_state(by=request.user, queue=queue, state=request.POST.get("state", ""))
    except ValueError:
        return HttpResponse(
            "A queue can be set to open, paused or closed.", status=422, content_type="text/plain"
        )
    messages.success(request, f"Queue “{queue.name}” is {queue.state}.")
    if request.POST.get("back") == "settings":
        return redirect("queue_settings", queue_id=queue.public_id)
    return redirect("corpus", corpus_id=queue.corpus.public_id)
