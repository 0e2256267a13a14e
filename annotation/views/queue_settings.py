"""What may be changed of a queue while people work, and what it was made with."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.domain import comment_filter
from annotation.forms import SteeringForm
from annotation.models import Queue
from annotation.selectors import browsing, queue_settings, tallies
from annotation.services import queues
from annotation.views.queues import TAKEN, managed_queue
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs

STEERED = ("name", "skip_policy", "skips_to_adjudicator", "gold_every", "bulk_asks_from")


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: PersonRequest, queue_id: str) -> HttpResponse:
    queue = managed_queue(request, queue_id)
    form = _form(request, queue)
    if request.method == "POST" and form.is_valid() and _changed(request, queue, form):
        return redirect("queue_settings", queue_id=queue.public_id)
    asked, _ = comment_filter.read(queue.filter)
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "form": form,
        "numbers": queue_settings.numbers(queue),
        "progress": tallies.progress_of([queue])[queue.pk],
        "filter_words": asked.words(browsing.names(queue.corpus, asked)),
        "guideline": queue_settings.guideline_of(queue),
        "more_people": range(queue.people_per_item + 1, queue_settings.MOST_PEOPLE + 1),
    }
    return render(request, "queues/settings.html", context, status=422 if form.errors else 200)


def _form(request: PersonRequest, queue: Queue) -> SteeringForm:
    initial = {field: getattr(queue, field) for field in STEERED}
    initial["who"] = "named" if queue.named_only else "everybody"
    initial["workers"] = list(queue.workers.values_list("person__public_id", flat=True))
    return SteeringForm(
        request.POST if request.method == "POST" else None,
        initial=initial,
        people=queue_settings.reviewers(queue.corpus),
    )


def _changed(request: PersonRequest, queue: Queue, form: SteeringForm) -> bool:
    """Stores the form; False with the reason in the form."""
    try:
        with transaction.atomic():
            changed = queues.change(
                by=request.user,
                queue=queue,
                workers=form.workers_wanted,
                **{field: form.cleaned_data[field] for field in STEERED},
            )
    except IntegrityError:
        form.add_error("name", TAKEN)
        return False
    if changed:
        messages.success(request, "Saved. It holds from the next comment that is handed out.")
    else:
        messages.info(request, "Nothing was changed.")
    return True


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: PersonRequest, queue_id: str) -> HttpResponse:
    """More people per comment: the page says how many reviews that adds, the button adds them."""
    queue = managed_queue(request, queue_id)
    sent = request.POST if request.method == "POST" else request.GET
    wanted = _number(sent.get("people", ""))
    problem = _refusal(queue, wanted)
    if request.method == "POST" and not problem:
        told = _number(request.POST.get("reviews", ""))
        try:
            added = queues.raise_people(by=request.user, queue=queue, people=wanted, expected=told)
        except queues.Changed as now:
            problem = (
                f"Other numbers than you were told: {now.size:,} new reviews. Press again if that is right."
            )
        except queues.Lowered:
            return redirect("queue_settings", queue_id=queue.public_id)
        else:
            messages.success(request, f"{wanted} people per comment: {added:,} reviews more are open.")
            return redirect("queue_settings", queue_id=queue.public_id)
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "people": wanted,
        "problem": problem,
        "possible": not _refusal(queue, wanted),
        "reviews": queue_settings.new_reviews(queue, wanted),
        "more_people": range(queue.people_per_item + 1, queue_settings.MOST_PEOPLE + 1),
    }
    return render(request, "queues/people.html", context, status=422 if problem else 200)


def _number(words: str) -> int:
    """The number that `words` are; -1 where they are none."""
    return int(words) if words.isdecimal() and len(words) < 12 else -1


def _refusal(queue: Queue, wanted: int) -> str:
    """Why `wanted` people per comment cannot be; empty where they can."""
    most = queue_settings.MOST_PEOPLE
    if wanted < 1 or wanted > most:
        return f"People per comment is a number from 1 to {most}; choose one above {queue.people_per_item}."
    if wanted == queue.people_per_item:
        return f"{wanted} is what the queue has already; choose a higher number."
    if wanted < queue.people_per_item:
        return (
            f"The queue wants {queue.people_per_item} people per comment. That can be raised, not lowered:"
            " answers that people gave or hold would be too many. To stop early, close the queue."
        )
    return ""
