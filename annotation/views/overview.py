"""A queue for its leads: how far it is, who does what and how well; every table as CSV."""

import re

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.domain.pace import FAST_MS, FEWEST_DAYS
from annotation.exchange import tables
from annotation.models import Queue, Slot
from annotation.selectors import overview as selectors
from annotation.selectors import overview_holds
from annotation.selectors.overview_gold import SLIPS_SHOWN
from annotation.selectors.overview_people import OUTCOMES
from annotation.selectors.overview_truth import against_profiles
from annotation.services.holds import LONGEST_REASON, SET_ASIDE
from annotation.views.browse import may
from simulation.domain.roles import Right
from simulation.models import User
from simulation.selectors.access import PersonRequest, needs

ASIDE_SHOWN = 50


def queue_for(request: PersonRequest, queue_id: str) -> Queue:
    return get_object_or_404(selectors.managed(request.user), public_id=queue_id)


def sees_truth(request: PersonRequest, queue: Queue) -> bool:
    return may(request, queue.corpus, Right.SEE_PROFILES)


def page(request: PersonRequest, queue: Queue, *, problem: str = "") -> HttpResponse:
    """The overview; with `problem` as the answer to an act that could not be done."""
    if problem:
        messages.error(request, problem)
    seen = selectors.overview(queue, timezone.now())
    slips = seen.gold.slips[:SLIPS_SHOWN]
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "seen": seen,
        "truth": against_profiles(queue) if sees_truth(request, queue) else None,
        "slips": slips,
        "names": {row.person.pk: row.person for row in seen.people.rows if row.person},
        "ended": sum(hold.ended for hold in seen.holds),
        "outcomes": OUTCOMES,
        "fast_seconds": FAST_MS // 1000,
        "fewest_days": FEWEST_DAYS,
    }
    return render(request, "overview/overview.html", context, status=422 if problem else 200)


@needs(Right.MANAGE_QUEUES)
@require_safe
def overview(request: PersonRequest, queue_id: str) -> HttpResponse:
    return page(request, queue_for(request, queue_id))


@needs(Right.MANAGE_QUEUES)
@require_safe
def table(request: PersonRequest, queue_id: str, table: str) -> HttpResponse:
    """One table of the overview as a file; those with the persona's truth only for who may see profiles."""
    queue = queue_for(request, queue_id)
    is_sealed = table in tables.OF_PROFILES and not sees_truth(request, queue)
    if table not in tables.TABLES or is_sealed:
        raise Http404(table)
    content = tables.as_csv(tables.TABLES[table](queue, timezone.now()))
    answer = HttpResponse(content, content_type="text/csv; charset=utf-8")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", queue.name).strip("-") or queue.public_id
    answer["Content-Disposition"] = f'attachment; filename="{name}-{table}.csv"'
    return answer


def person_page(
    request: PersonRequest, queue: Queue, person: User, *, state: str = Slot.DONE, problem: str = ""
) -> HttpResponse:
    """What one person did or skipped; with `problem` as the answer to an act that could not be done."""
    if problem:
        messages.error(request, problem)
    aside = overview_holds.set_aside(queue, person)[: ASIDE_SHOWN + 1]
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "person": person,
        "state": state,
        "count": selectors.own(queue, person),
        "found": overview_holds.dealt_with(queue, person, state=state, after=request.GET.get("after", "")),
        "aside": [(one, one.extra.get(SET_ASIDE, "")) for one in aside[:ASIDE_SHOWN]],
        "more_aside": len(aside) > ASIDE_SHOWN,
        "longest": LONGEST_REASON,
    }
    return render(request, "overview/person.html", context, status=422 if problem else 200)


@needs(Right.MANAGE_QUEUES)
@require_safe
def person(request: PersonRequest, queue_id: str, person_id: str) -> HttpResponse:
    queue = queue_for(request, queue_id)
    found = person_in(queue, person_id)
    state = Slot.SKIPPED if request.GET.get("state") == Slot.SKIPPED else Slot.DONE
    return person_page(request, queue, found, state=state)


def person_in(queue: Queue, person_id: str) -> User:
    """Somebody who has or had to do with the queue."""
    found = get_object_or_404(User, public_id=person_id)
    if not overview_holds.worked_in(queue, found):
        raise Http404(person_id)
    return found
