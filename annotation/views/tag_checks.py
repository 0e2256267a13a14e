"""What checks of tags found, and starting one. Truth throughout: for people who may see profiles."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.domain import tag_forecast
from annotation.exchange import tag_tables
from annotation.forms import CheckForm
from annotation.selectors import tag_checks
from annotation.services import judging
from annotation.views.browse import corpus_for, may
from annotation.views.tag_compare import as_file
from simulation.domain.attributes import CATALOGUE
from simulation.domain.caps import proposals, proposed
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan, Range
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "Other tags need other caps: they are proposed anew. Look at them, then start the check."
TABLES = ("summary", "wrong")


@needs(Right.SEE_PROFILES)
@require_safe
def checks(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """All checks, or those of one run of checks (`by`) or of the tags of one tagging run (`of`)."""
    corpus = corpus_for(request, corpus_id, Right.SEE_PROFILES)
    by, asked = _asked(request, corpus)
    after = request.GET.get("after", "")
    context = {
        "section": "corpora",
        "corpus": corpus,
        "taggers": tag_checks.summary(corpus, by=by, of=asked.get("of", "")),
        "wrong": tag_checks.not_kept(
            corpus,
            by=by,
            of=asked.get("of", ""),
            attribute=asked.get("attribute", ""),
            after=int(after) if after.isdecimal() and len(after) < 19 else 0,
        ),
        "check_runs": tag_checks.check_runs(corpus),
        "by": by,
        "asked": asked,
        "query": urlencode(asked),
        "attributes": CATALOGUE.values(),
        "begun": bool(after),
        "may_start": may(request, corpus, Right.START_RUNS),
    }
    return render(request, "tags/checks.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def table(request: PersonRequest, corpus_id: str, table: str) -> HttpResponse:
    """The counts, or the tags that were not kept, as a file."""
    corpus = corpus_for(request, corpus_id, Right.SEE_PROFILES)
    by, asked = _asked(request, corpus)
    if table not in TABLES:
        raise Http404(table)
    if table == "summary":
        return as_file(
            tag_tables.checked(tag_checks.summary(corpus, by=by, of=asked.get("of", ""))), "tag-checks"
        )
    wrong = tag_tables.not_kept(corpus, by=by, of=asked.get("of", ""), attribute=asked.get("attribute", ""))
    return as_file(wrong, "tags-not-kept")


def _asked(request: PersonRequest, corpus: Corpus) -> tuple[Run | None, dict[str, str]]:
    """The run of checks, and the fields of the address that say something."""
    asked = {key: request.GET.get(key, "").strip() for key in ("by", "of", "attribute")}
    by = Run.objects.filter(corpus=corpus, kind=Run.JUDGE, public_id=asked["by"]).first()
    if by is None:
        asked["by"] = ""
    if asked["attribute"] not in CATALOGUE:
        asked["attribute"] = ""
    return by, {key: value for key, value in asked.items() if value}


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form of a check; with `look`, or asked by htmx, only its forecast anew."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    form = CheckForm(request.POST if request.method == "POST" else _first(request, corpus), corpus=corpus)
    form.full_clean()
    comments = _comments(corpus, form)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    likely = tag_forecast.of_checks(comments)
    renewed = proposals(form.cleaned_data, proposed(likely))
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form):
            return redirect("run", run_id=run.public_id)
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context: dict[str, Any] = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "comments": comments,
        "dry": _dry(corpus, form, comments),
        "any": comments or judging.checkable(corpus, None).exists(),
        "wrong": wrong,
        "renewed": bool(renewed),
        "providers": Provider.objects.exists(),
        "workers": workers.alive(),
    }
    template = "tags/check.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _comments(corpus: Corpus, form: CheckForm) -> int:
    """Of how many comments there are tags to check."""
    said = form.cleaned_data
    chosen = list(said.get("runs") or ()) or None
    tags = judging.checkable(corpus, chosen, only_unchecked=bool(said.get("only_unchecked")))
    return tags.order_by().values("comment").distinct().count()


def _dry(corpus: Corpus, form: CheckForm, comments: int) -> DryRun | None:
    role = form.role
    if role is None or not comments:
        return None
    calls = {"judge": Range(0, comments + comments // 5)}
    provider = form.cleaned_data["provider"]
    return dry_runs.of_calls(calls, provider=provider, models={"judge": role}, language=corpus.language)


def _first(request: PersonRequest, corpus: Corpus) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    return {
        "name": runs.next_name(corpus, "check"),
        "provider": provider.public_id if provider else "",
        "runs": request.GET.getlist("runs"),
        "only_unchecked": "on",
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: CheckForm) -> Run | None:
    """The run that the form starts, or started already; None with the reason beside its field."""
    said, role = form.cleaned_data, form.role
    assert role is not None  # the form is valid
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the run of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            run = judging.start_judging(
                by=request.user,
                corpus=corpus,
                name=said["name"],
                provider=said["provider"],
                model=role,
                runs=list(said["runs"]) or None,
                only_unchecked=said["only_unchecked"],
                exact_first=not said["all_to_judge"],
                form=str(said["form"]),
                **form.caps,
            )
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{run.name}” is planned. It begins as soon as a worker takes it up.")
    return run
