"""Starting a run that rewrites the comments of a corpus."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Sum
from django.db.models.functions import Length
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.domain.inference import LETTERS_PER_TOKEN
from evaluation.domain.masking_rewrite import CERTAIN, ROUNDS
from evaluation.forms.masking import RewritingForm
from evaluation.models import Masking
from evaluation.services.masking_rewriting import ANSWER_CAP, Wish, start_rewriting
from evaluation.views.rooms import corpus_for
from simulation.domain.caps import proposals, proposed
from simulation.domain.dry_run import DryRun, PerCall
from simulation.domain.plans import BadPlan, Forecast, Range
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "Another choice needs other caps: they are proposed anew. Look at them, then start."
PROMPT, ANSWER, SECONDS, LONG = 450, 150, 3.0, 1.6
"""Tokens of the prompt around a comment and of the usual answer; a long one as a multiple of that."""


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    form = RewritingForm(request.POST if request.method == "POST" else _first(corpus))
    form.full_clean()
    comments, letters = _size(corpus)
    rounds = form.cleaned_data.get("rounds") or ROUNDS
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, proposed(_forecast(comments, letters, rounds)))
    if not looking and form.is_valid() and not renewed:
        if made := _start(request, corpus, form):
            return redirect("masking", masking_id=made.public_id)
    elif renewed:
        form = form.with_fields(renewed)
        if not looking and form.is_valid():
            form.add_error(None, CHANGED)
        form.full_clean() if looking else None
    wrong = bool(form.errors) and request.method == "POST" and not request.htmx
    context: dict[str, Any] = {
        "section": "runs",
        "corpus": corpus,
        "form": form,
        "comments": comments,
        "dry": _dry(corpus, form, comments, letters, rounds),
        "wrong": wrong,
        "renewed": bool(renewed),
        "providers": Provider.objects.exists(),
        "workers": workers.alive(),
    }
    template = "evaluation/masking_rewrite.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _size(corpus: Corpus) -> tuple[int, int]:
    """How many active comments there are, and their characters; one query."""
    active = corpus.comments.filter(state="active")
    found = active.aggregate(n=Count("pk"), letters=Sum(Length("text")))
    return found["n"], found["letters"] or 0


def _forecast(comments: int, letters: int, rounds: int) -> Forecast:
    """At most: every comment rewritten as often as allowed, and looked at before and after."""
    calls = comments * (1 + 2 * rounds)
    each = PROMPT + ANSWER_CAP + (letters // LETTERS_PER_TOKEN // comments if comments else 0)
    return Forecast(comments, calls, calls * each, 0)


def _dry(corpus: Corpus, form: RewritingForm, comments: int, letters: int, rounds: int) -> DryRun | None:
    role = form.role
    if role is None or not comments:
        return None
    shown = PROMPT + letters / LETTERS_PER_TOKEN / comments
    per_call = PerCall(shown, shown * LONG, ANSWER, ANSWER * LONG, SECONDS, SECONDS * LONG)
    return dry_runs.of_calls(
        {"infer": Range(comments, comments * (1 + 2 * rounds))},
        provider=form.cleaned_data["provider"],
        models={"adversary": role},
        language=corpus.language,
        known={"infer": per_call},
    )


def _first(corpus: Corpus) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    return {
        "name": runs.next_name(corpus, "rewriting"),
        "provider": provider.public_id if provider else "",
        "model": "",
        "rounds": ROUNDS,
        "certain": CERTAIN,
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: RewritingForm) -> Masking | None:
    """The masking that the form starts, or started already; None with the reason beside its field."""
    said, role = form.cleaned_data, form.role
    assert role is not None  # the form is valid
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the masking of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return Masking.objects.filter(run=already).first()
            wish = Wish(
                name=said["name"],
                provider=said["provider"],
                rewriter=role,
                adversary=role,
                limits=form.limits,
                form=str(said["form"]),
                **form.caps,
            )
            made = start_rewriting(corpus, wish, by=request.user)
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    messages.success(request, f"“{made.name}” is planned. It begins as soon as a worker takes it up.")
    return made
