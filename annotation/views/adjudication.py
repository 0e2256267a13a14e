"""Adjudication: what waits, the annotators side by side, the decision, the truth after it."""

from collections.abc import Mapping, Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.domain.labels import Problem
from annotation.domain.ruling_rows import rows
from annotation.domain.rulings import NOTE_LENGTH, UNANIMOUS, Choice
from annotation.forms.adjudication import read_choices, read_filter, read_numbers
from annotation.models import Decision, Item, Queue
from annotation.selectors import adjudication as waiting
from annotation.selectors import adjudication_sheet as sheets
from annotation.services import adjudication, settling
from simulation.domain.attributes import CATALOGUE, CERTAINTY, HARDNESS, TARGETS
from simulation.domain.roles import Right
from simulation.selectors import threads
from simulation.selectors.access import PersonRequest, needs

SECTION = "adjudication"
REASONS = [(key, words) for key, words in Decision.REASONS if key != UNANIMOUS]


def _queue(request: PersonRequest, public_id: str) -> Queue:
    mine = Queue.objects.with_right(request.user, Right.ADJUDICATE).select_related("corpus")
    return get_object_or_404(mine, public_id=public_id)


def _item(queue: Queue, public_id: str) -> Item:
    """An item that is ready: compared, flagged or decided. Others are still the annotators'."""
    found = get_object_or_404(queue.items.select_related("comment__thread"), public_id=public_id)
    if not found.agreement and not found.flagged:
        raise Http404("not for the adjudicator yet")
    found.queue = queue
    return found


@needs(Right.ADJUDICATE)
@require_safe
def queues(request: PersonRequest) -> HttpResponse:
    """All queues in which this person adjudicates, and what waits in each."""
    context = {"section": SECTION, "waiting": waiting.queues(request.user)}
    return render(request, "adjudication/queues.html", context)


@needs(Right.ADJUDICATE)
@require_safe
def queue(request: PersonRequest, queue_id: str) -> HttpResponse:
    """The items of one queue, by kind and attribute."""
    found = _queue(request, queue_id)
    wanted = read_filter(request.GET)
    page = waiting.page(request.user, found, kind=wanted.kind, attribute=wanted.attribute, after=wanted.after)
    context = {
        "section": SECTION,
        "queue": found,
        "counts": waiting.waiting([found])[0],
        "page": page,
        "wanted": wanted,
        "kinds": waiting.KINDS,
        "attributes": TARGETS,
    }
    return render(request, "adjudication/queue.html", context)


@needs(Right.ADJUDICATE)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """One item: shows what the annotators say, or takes the decision."""
    found = _item(_queue(request, queue_id), item_id)
    if request.method != "POST":
        shows_model = request.GET.get("model") == "1"
        if shows_model:
            adjudication.open_model(by=request.user, item=found)
        return _page(request, found, shows_model=shows_model)
    choices = read_choices(request.POST)
    shows_model = request.POST.get("model") == "1"
    try:
        changed = adjudication.decide(
            by=request.user,
            item=found,
            choices=choices,
            seen=request.POST.get("seen", ""),
            now=timezone.now(),
            saw_model=shows_model,
        )
    except adjudication.Undecided as refusal:
        return _page(
            request, found, shows_model=shows_model, choices=choices, problems=refusal.problems, status=422
        )
    except adjudication.Stale as refusal:
        # After a change of the answers a letter may stand for another column: nothing typed is kept.
        kept = {} if refusal.answers_changed else choices
        return _page(request, found, shows_model=shows_model, choices=kept, stale=refusal, status=409)
    back = reverse("adjudicate", args=[found.queue.public_id, found.public_id])
    said = f"{changed} decision{'' if changed == 1 else 's'}" if changed else "nothing had to change"
    messages.success(request, f"Settled: {found.comment.username}, {said}.", extra_tags=back)
    following = waiting.next_item(request.user, found.queue, after=found)
    if following is None:
        return redirect("adjudication_queue", queue_id=found.queue.public_id)
    return redirect("adjudicate", queue_id=found.queue.public_id, item_id=following.public_id)


@needs(Right.ADJUDICATE)
@never_cache
@require_POST
def truth(request: PersonRequest, queue_id: str, item_id: str) -> HttpResponse:
    """The author's true attributes beside the decisions; there is no such page before one is made."""
    found = _item(_queue(request, queue_id), item_id)
    try:
        facts = adjudication.open_truth(by=request.user, item=found)
    except adjudication.NotDecided:
        raise Http404("sealed until it is decided") from None
    return _page(request, found, facts=facts, shows_truth=True)


def _page(
    request: PersonRequest,
    found: Item,
    *,
    shows_model: bool = False,
    choices: Mapping[str, Choice] | None = None,
    problems: Sequence[Problem] = (),
    stale: adjudication.Stale | None = None,
    facts: list[sheets.Fact] | None = None,
    shows_truth: bool = False,
    status: int = 200,
) -> HttpResponse:
    found.refresh_from_db(fields=["agreement", "differing", "flagged"])
    sheet = sheets.sheet(found, request.user)
    asked = [flag.attribute for flag in sheet.flags if flag.attribute]
    lines = rows(
        sheet.columns,
        choices=choices or {},
        decided=sheet.rulings,
        asked=asked,
        guessed=sheets.guesses(found) if shows_model else {},
        problems=problems,
    )
    context = {
        "section": SECTION,
        "queue": found.queue,
        "item": found,
        "thread": found.comment.thread,
        "steps": threads.around(found.comment),
        "sheet": sheet,
        "open_rows": [line for line in lines if line.is_open],
        "folded_rows": [line for line in lines if not line.is_open],
        "decisions": [(CATALOGUE[key], one) for key, one in _in_order(sheet.decisions)],
        "problems": problems,
        "labels": {attribute.key: attribute.label for attribute in CATALOGUE.values()},
        "stale": stale,
        "opened": sheets.opened(request.user, found),
        "shows_model": shows_model,
        "shows_truth": shows_truth,
        "facts": facts,
        "reasons": REASONS,
        "note_length": NOTE_LENGTH,
        "hardness": HARDNESS,
        "certainty": CERTAINTY,
    }
    return render(request, "adjudication/item.html", context, status=status)


def _in_order(decisions: Mapping[str, Decision]) -> list[tuple[str, Decision]]:
    return [(key, decisions[key]) for key in CATALOGUE if key in decisions]


@needs(Right.ADJUDICATE)
@require_http_methods(["GET", "HEAD", "POST"])
def settle(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Settles the agreed items in bulk: says how many, and asks again where that changed."""
    found = _queue(request, queue_id)
    context: dict[str, object] = {"section": SECTION, "queue": found}
    if request.method != "POST":
        context["now"] = waiting.settleable(found)[1]
        return render(request, "adjudication/settle.html", context)
    items, labels = read_numbers(request.POST, "items", "labels")
    try:
        done = settling.settle(by=request.user, queue=found, items=items, labels=labels)
    except settling.CountChanged as refusal:
        context |= {"now": refusal.now, "before": (max(items, 0), max(labels, 0))}
        return render(request, "adjudication/settle.html", context, status=409)
    messages.success(
        request,
        f"Settled as unanimous: {done.items} comment{'' if done.items == 1 else 's'},"
        f" {done.labels} label{'' if done.labels == 1 else 's'}.",
    )
    return redirect("adjudication_queue", queue_id=found.public_id)
