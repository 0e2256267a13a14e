"""Searching the comments of a corpus, and acts on many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.domain import comment_filter
from annotation.domain.comment_filter import CommentFilter
from annotation.models import Queue
from annotation.selectors import browsing
from annotation.services import bulk
from annotation.views.browse import corpus_for, may
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Corpus
from simulation.selectors.access import PersonRequest, needs

SAID_GROUPS = [
    ("Suggestions", ("suggested", "unsuggested")),
    ("Reviews", ("reviewed", "unreviewed", "flagged", "differs", "settled")),
    ("A label that is", comment_filter.LABEL_STATES),
]
OPEN_FIELDS = ("q", "attribute", "said", "thread")
"""The others stand behind “more filters”."""
ACTS = {"withdraw": "Withdraw", "restore": "Take back", "add": "Add to a queue"}
WHICH = ("ticked", "page", "all")
LONGEST_PLACE = 11
"""Digits."""


@needs(Right.BROWSE)
@require_safe
def comments(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """Everything that says what is shown stands in the address: the filter and where the page begins."""
    corpus = corpus_for(request, corpus_id)
    sees_labels = may(request, corpus, Right.SEE_LABELS)
    manages = may(request, corpus, Right.MANAGE_QUEUES)
    asked, problems = _asked(request.GET, sees_labels=sees_labels, manages=manages)
    after, before = _begin(request.GET, problems)
    page = browsing.Page()
    if not problems:
        page = browsing.page(corpus, asked, after=after, before=before, sees_labels=sees_labels)
    context = {
        "section": "corpora",
        "corpus": corpus,
        "page": page,
        "comments": [row.comment for row in page.rows],
        "more": page.after or None,
        "known": browsing.known(asked),
        "asked": asked,
        "problems": problems,
        "begun": bool(after or before) and not page.lost,
        "sees_labels": sees_labels,
        "manages": manages,
        "may_tag": sees_labels and may(request, corpus, Right.START_RUNS),
        **_form(request, corpus, asked, sees_labels=sees_labels, manages=manages),
        "queues": _open_queues(request, corpus) if manages else (),
    }
    return render(request, "corpora/comments.html", context, status=422 if problems else 200)


def _asked(params: Mapping[str, Any], *, sees_labels: bool, manages: bool) -> tuple[CommentFilter, list[str]]:
    """Who settles differences sees labels, and does not learn whose they are."""
    asked, problems = comment_filter.read(params)
    closed = comment_filter.closed_fields(asked, sees_labels=sees_labels, names_people=manages)
    return asked, [*problems, *closed]


def _begin(params: Mapping[str, str], problems: list[str]) -> tuple[str, str]:
    """(after, before): where a page begins. “From place n” means behind the place in front of it."""
    place = params.get("place", "").strip().replace(",", "")
    if not place:
        return params.get("after", ""), params.get("before", "")
    if place.isdecimal() and len(place) <= LONGEST_PLACE and int(place):
        return str(int(place) - 1), ""
    problems.append(f"From place: type a number from 1 on, not “{place[:40]}”.")
    return "", ""


def _form(
    request: PersonRequest, corpus: Corpus, asked: CommentFilter, *, sees_labels: bool, manages: bool
) -> dict[str, Any]:
    """What the filter's form and its chips are made of."""
    names = browsing.names(corpus, asked)
    given = {key: request.GET.get(key, "") for key, _ in comment_filter.FIELDS.values()}
    context = {
        "given": given,
        "chips": [(name, value, urlencode(asked.without(key))) for name, value, key in asked.words(names)],
        "query": urlencode(asked.fields()),
        "fields": asked.fields(),
        "other_fields": any(given[key] for key in given if key not in OPEN_FIELDS),
    }
    if sees_labels:
        models = browsing.models(corpus)
        context |= {
            "attributes": CATALOGUE.values(),
            "said_groups": [
                (group, [(key, comment_filter.SAID[key].removeprefix("label: ")) for key in keys])
                for group, keys in SAID_GROUPS
            ],
            "states": comment_filter.STATES.items(),
            "marks": "12345",
            "models": models if asked.tagger in ("", *models) else [*models, asked.tagger],
            "annotators": browsing.annotators(corpus) if manages else None,
        }
    return context


def _open_queues(request: PersonRequest, corpus: Corpus) -> Any:
    return Queue.objects.with_right(request.user, Right.MANAGE_QUEUES).filter(corpus=corpus, state="open")


@dataclass(frozen=True)
class Wanted:
    """One act as it was asked for."""

    act: str
    chosen: bulk.Chosen
    queue: Queue | None = None

    def forecast(self) -> bulk.Forecast:
        if self.act == "withdraw":
            return bulk.withdrawal(self.chosen)
        if self.queue is None:
            return bulk.restoration(self.chosen)
        return bulk.addition(self.chosen, self.queue)

    def do(self, request: PersonRequest, expected: int) -> str:
        """Does it; what was done, in a sentence."""
        if self.queue is not None:
            n = bulk.add_to_queue(by=request.user, chosen=self.chosen, queue=self.queue, expected=expected)
            return f"{_counted(n)} added to the queue “{self.queue.name}”."
        if self.act == "withdraw":
            n = bulk.withdraw(by=request.user, chosen=self.chosen, expected=expected)
            return f"{_counted(n)} withdrawn. Filter by state “withdrawn” to take them back."
        return f"{_counted(bulk.restore(by=request.user, chosen=self.chosen, expected=expected))} taken back."


def _counted(n: int) -> str:
    return f"{intcomma(n)} comment{' was' if n == 1 else 's were'}"


@needs(Right.MANAGE_QUEUES)
@require_POST
def comments_bulk(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """First how many comments an act touches; with that number in `confirm`, the act."""
    corpus = corpus_for(request, corpus_id, Right.MANAGE_QUEUES)
    back = reverse("comments", args=[corpus.public_id])
    sees_labels = may(request, corpus, Right.SEE_LABELS)
    asked, problems = _asked(request.POST, sees_labels=sees_labels, manages=True)
    context = {"section": "corpora", "corpus": corpus, "back": f"{back}?{urlencode(asked.fields())}"}
    if problems:
        return _refused(request, context, " ".join(problems))
    confirm, changed = request.POST.get("confirm", ""), False
    try:
        wanted = _wanted(request, corpus, asked)
        if confirm.isdecimal() and len(confirm) < 12 and int(confirm):
            try:
                messages.success(request, wanted.do(request, int(confirm)))
                return HttpResponseRedirect(context["back"])  # type: ignore[arg-type]
            except bulk.Changed:
                changed = True
        forecast = wanted.forecast()
    except bulk.Refused as refusal:
        return _refused(request, context, str(refusal))
    context |= {"wanted": wanted, "forecast": forecast, "changed": changed, "fields": asked.fields()}
    context |= {"chips": asked.words(browsing.names(corpus, asked)), "told": confirm}
    return render(request, "corpora/bulk.html", context, status=409 if changed else 200)


def _wanted(request: PersonRequest, corpus: Corpus, asked: CommentFilter) -> Wanted:
    """Raises Refused for an act or a choice that is not on the list, 404 for a queue that is not there."""
    act, which = request.POST.get("act", ""), request.POST.get("which", "ticked")
    if act not in ACTS or which not in WHICH:
        raise bulk.Refused("Choose which comments, and what to do with them.")
    ids = None if which == "all" else tuple(request.POST.getlist("id" if which == "ticked" else "page_id"))
    chosen = bulk.Chosen(corpus, asked, ids)
    if act != "add":
        return Wanted(act, chosen)
    public_id = request.POST.get("queue", "")
    if not public_id:
        raise bulk.Refused("Choose the queue to which they are added.")
    managed = Queue.objects.with_right(request.user, Right.MANAGE_QUEUES).filter(corpus=corpus)
    queue = get_object_or_404(managed, public_id=public_id)
    if queue.state != "open":
        raise bulk.Refused(f"The queue “{queue.name}” is {queue.state}: open it first, or choose another.")
    return Wanted(act, chosen, queue)


def _refused(request: PersonRequest, context: dict[str, Any], problem: str) -> HttpResponse:
    return render(request, "corpora/bulk.html", {**context, "problem": problem}, status=422)
