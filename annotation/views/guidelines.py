"""Guidelines of a queue: written by leads, read beside the work."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods, require_safe

from annotation.domain.markdown import clean, to_html
from annotation.domain.revisions import compare
from annotation.forms import GuidelineForm
from annotation.models import Guideline, Queue
from annotation.selectors import queue_settings
from annotation.services import guidelines
from annotation.views.queues import managed_queue
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs


def rendered(text: str) -> SafeString:
    """Guidelines as HTML. The only place where HTML is made from what people wrote: `to_html` lets none of
    theirs through."""
    return mark_safe(to_html(text))  # noqa: S308


@needs(Right.MANAGE_QUEUES)
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PersonRequest, queue_id: str) -> HttpResponse:
    """The guidelines in force with their versions; `?version=` compares one with the one before it."""
    queue = managed_queue(request, queue_id)
    current = queue_settings.guideline_of(queue)
    if request.method != "POST" and "version" in request.GET:
        return _compared(request, queue, request.GET["version"])
    form = GuidelineForm(
        request.POST if request.method == "POST" else None,
        initial={"text": current.text if current else "", "base": current.version if current else 0},
    )
    looking = "look" in request.POST
    if request.method == "POST" and form.is_valid() and not looking:
        try:
            added = guidelines.add_version(
                by=request.user,
                queue=queue,
                text=form.cleaned_data["text"],
                base_version=form.cleaned_data["base"],
            )
        except guidelines.Overtaken as other:
            return _overtaken(request, queue, form, other.current)
        told = f"Version {added.version} is in force." if added else "Nothing was changed."
        messages.success(request, told)
        return redirect("queue_guidelines", queue_id=queue.public_id)
    return _page(request, queue, form, current, looking=looking)


def _page(
    request: PersonRequest,
    queue: Queue,
    form: GuidelineForm,
    current: Guideline | None,
    *,
    looking: bool = False,
) -> HttpResponse:
    before = request.GET.get("before", "")
    typed = form.cleaned_data.get("text", "") if looking and form.is_bound else ""
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "form": form,
        "current": current,
        "looking": looking,
        "shown": rendered(clean(typed) if looking else current.text if current else ""),
        "versions": queue_settings.versions(
            queue, before=int(before) if before.isdecimal() and len(before) < 9 else None
        ),
    }
    return render(request, "queues/guidelines.html", context, status=422 if form.errors else 200)


def _overtaken(request: PersonRequest, queue: Queue, form: GuidelineForm, current: Guideline) -> HttpResponse:
    """The writer's text is kept; saving again puts it on top of the version that came in between."""
    sent = request.POST.copy()
    sent["base"] = str(current.version)
    again = GuidelineForm(sent)
    again.full_clean()
    who = current.by.username if current.by else "Somebody"
    again.add_error(
        None,
        f"{who} saved version {current.version} while you wrote. Your text is kept below. Look at what"
        " changed there; saving again puts your text in force in its place.",
    )
    return _page(request, queue, again, current)


def _compared(request: PersonRequest, queue: Queue, number: str) -> HttpResponse:
    if not number.isdecimal() or len(number) > 8:
        raise Http404("not a version")
    there = Guideline.objects.filter(queue=queue).select_related("by")
    version = get_object_or_404(there, version=int(number))
    earlier = there.filter(version=version.version - 1).first()
    context = {
        "section": "corpora",
        "queue": queue,
        "corpus": queue.corpus,
        "version": version,
        "earlier": earlier,
        "lines": compare(earlier.text if earlier else "", version.text),
        "here": f"Version {version.version}",
        "later": there.filter(version=version.version + 1).exists(),
        "shown": rendered(version.text),
    }
    return render(request, "queues/guideline_version.html", context)


@needs(Right.REVIEW)
@require_safe
def read(request: PersonRequest, queue_id: str) -> HttpResponse:
    """The guidelines in force, for whoever works in the queue: a page, or only the text for htmx."""
    queue = get_object_or_404(
        Queue.objects.workable_by(request.user).select_related("corpus"), public_id=queue_id
    )
    current = queue_settings.guideline_of(queue)
    context = {
        "section": "review",
        "queue": queue,
        "current": current,
        "shown": rendered(current.text if current else ""),
    }
    template = "queues/guidelines_read.html" + ("#text" if request.htmx else "")
    answer = render(request, template, context)
    answer["Vary"] = "HX-Request, Cookie"
    return answer
