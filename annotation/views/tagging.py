"""Starting runs that tag a part of a corpus: one model and prompt, or several side by side."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.domain import comment_filter, tag_forecast
from annotation.domain.comment_filter import CommentFilter
from annotation.forms import TagForm
from annotation.selectors import browsing, tag_parts
from annotation.services import tag_prompts, tagging
from annotation.services.tagging import Choice
from annotation.views.browse import corpus_for
from simulation.domain.caps import Caps, proposals, proposed
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan, Forecast, Range, RoleModel
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "Other comments need other caps: they are proposed anew. Look at them, then start the run."


@dataclass(frozen=True)
class Preview:
    """How many comments there are to tag, and what tagging the chosen ones will need."""

    all: int
    """Active comments of the part."""
    untagged: int
    chosen: int
    forecast: Forecast
    """Of each run, by rules of thumb: what its caps are proposed from."""
    caps: Caps
    dry: list[tuple[Choice, DryRun]] = field(default_factory=list)
    """What past calls and prices say of each run."""


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew. The part of the corpus stands in the
    address, with the names of the browse page."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    asked, problems = comment_filter.read(request.POST if request.method == "POST" else request.GET)
    if problems:
        context = {"section": "runs", "corpus": corpus, "problems": problems}
        return render(request, "tags/bad_filter.html", context, status=422)
    variants = tag_prompts.variants(corpus.language)
    sent = request.POST if request.method == "POST" else _first(corpus, asked)
    form = TagForm(sent, variants=variants)
    form.full_clean()
    preview = _preview(corpus, asked, form)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, preview.caps)
    if not looking and form.is_valid() and not renewed:
        if started := _start(request, corpus, asked, form):
            return redirect(_after(started))
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    return _page(request, corpus, asked, form, preview, renewed=bool(renewed))


def _page(
    request: PersonRequest,
    corpus: Corpus,
    asked: CommentFilter,
    form: TagForm,
    preview: Preview,
    *,
    renewed: bool,
) -> HttpResponse:
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    words = asked.words(browsing.names(corpus, asked))
    context = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "preview": preview,
        "renewed": renewed,
        "wrong": wrong,
        "chips": [(name, value, urlencode(asked.without(key))) for name, value, key in words],
        "fields": asked.fields(),
        "query": urlencode(asked.fields()),
        "variants": form.variants,
        "providers": Provider.objects.exists(),
        "may_add": runs.starts_everywhere(request.user),
        "workers": workers.alive(),
    }
    template = "runs/tag.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _preview(corpus: Corpus, asked: CommentFilter, form: TagForm) -> Preview:
    everything = tag_parts.part(corpus, asked).count()
    untagged = tag_parts.untagged(corpus, asked).count()
    chosen = everything if form.cleaned_data.get("which") == "all" else untagged
    judge = form.judge_role
    likely = tag_forecast.of_tags(chosen, judged=judge is not None)
    return Preview(
        everything,
        untagged,
        chosen,
        likely,
        proposed(likely),
        [(one, _dry(corpus, one, judge, chosen)) for one in form.choices] if chosen else [],
    )


def _dry(corpus: Corpus, one: Choice, judge: RoleModel | None, comments: int) -> DryRun:
    calls = {"tag": Range(comments, comments + comments // 5)}
    models = {"tagger": one.model}
    if judge is not None:
        calls["judge"], models["judge"] = tag_forecast.judge_calls(comments), judge
    return dry_runs.of_calls(calls, provider=one.provider, models=models, language=corpus.language)


def _first(corpus: Corpus, asked: CommentFilter) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    return {
        "name": runs.next_name(corpus, "tags"),
        "provider": provider.public_id if provider else "",
        "which": "untagged" if asked.empty else "all",
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, asked: CommentFilter, form: TagForm) -> list[Run]:
    """The runs that the form starts, or started already; none with the reason beside its field."""
    said = form.cleaned_data
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the runs of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return [already]
            started = tagging.start_side_by_side(
                by=request.user,
                corpus=corpus,
                name=said["name"],
                choices=form.choices,
                asked=asked,
                only_untagged=said["which"] == "untagged",
                judge=form.judge_role,
                form=str(said["form"]),
                **form.caps,
            )
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return []
    names = "”, “".join(run.name for run in started)
    many = len(started) > 1
    messages.success(
        request,
        f"“{names}” {'are' if many else 'is'} planned. {'They begin' if many else 'It begins'} as soon as a"
        " worker takes it up.",
    )
    return started


def _after(started: list[Run]) -> str:
    """One run's own page; of several the page that compares them."""
    first = started[0]
    if first.group:
        return f"{reverse('tag_compare', args=[first.corpus.public_id])}?group={first.group}"
    return reverse("run", args=[first.public_id])
