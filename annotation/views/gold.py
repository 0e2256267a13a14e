"""Gold items of a queue and their known answers: for leads only."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.forms import GoldForm, read_gold
from annotation.forms.gold import LONGEST_WHY, rows_of
from annotation.models import Gold, Item, Queue
from annotation.selectors import gold as known
from annotation.services import gold
from annotation.views.browse import may
from annotation.views.queues import managed_queue
from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def items(request: PersonRequest, queue_id: str) -> HttpResponse:
    """The list; `?q=` looks for a comment to make gold, `?item=` is the form for its answer."""
    queue = managed_queue(request, queue_id)
    if "item" in request.GET:
        return _answer(request, queue, _item(queue, request.GET["item"]))
    if request.method == "POST":
        return redirect("queue_gold", queue_id=queue.public_id)
    words = request.GET.get("q", "").strip()[:200]
    after = request.GET.get("after", "")
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "words": words,
        "found": known.find(queue, words) if words else [],
        "most": known.FOUND,
        "page": known.page(queue, after=int(after) if after.isdecimal() and len(after) < 18 else 0),
    }
    return render(request, "queues/gold.html", context)


def _item(queue: Queue, public_id: str) -> Item:
    there = queue.items.select_related("comment__thread", "queue__corpus")
    return get_object_or_404(there, public_id=public_id)


def _answer(request: PersonRequest, queue: Queue, item: Item) -> HttpResponse:
    if request.method != "POST":
        return _page(request, queue, item)
    form = read_gold(request.POST)
    if form.problems:
        return _page(request, queue, item, form)
    gold.know(by=request.user, item=item, labels=form.labels, why=form.why)
    n = len(form.labels)
    messages.success(request, f"Gold: {n} attribute{'' if n == 1 else 's'} of this comment will be checked.")
    return redirect("queue_gold", queue_id=queue.public_id)


def _page(request: PersonRequest, queue: Queue, item: Item, form: GoldForm | None = None) -> HttpResponse:
    stored = Gold.objects.filter(item=item).first()
    sources = known.sources(item) if may(request, queue.corpus, Right.SEE_LABELS) else []
    taken = next((one for one in sources if one.key == request.GET.get("from")), None)
    if form:
        rows, why = form.rows, form.why
    elif taken:
        rows, why = rows_of(taken.rows), stored.why if stored else ""
    elif stored:
        rows, why = rows_of({one.key: row for one, row in known.answer_of(item)}), stored.why
    else:
        rows, why = rows_of({}), ""
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "item": item,
        "rows": rows,
        "why": why,
        "longest_why": LONGEST_WHY,
        "stored": stored,
        "sources": sources,
        "taken": taken,
        "problems": [
            (CATALOGUE[one.attribute].label if one.attribute else "", one)
            for one in (form.problems if form else [])
        ],
        "marks": "12345",
        "closes": item.slots.filter(state="open").count() if not item.gold else 0,
    }
    return render(request, "queues/gold_answer.html", context, status=422 if form else 200)


@needs(Right.MANAGE_QUEUES)
@require_POST
def remove(request: PersonRequest, queue_id: str) -> HttpResponse:
    """Makes a gold item an ordinary one again."""
    queue = managed_queue(request, queue_id)
    item = _item(queue, request.POST.get("item", ""))
    if item.gold:
        opened = gold.forget(by=request.user, item=item)
        told = f"Not gold any more; {opened} review{'' if opened == 1 else 's'} of it opened again."
        messages.success(request, told)
    return redirect(reverse("queue_gold", args=[queue.public_id]))
