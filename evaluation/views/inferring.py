"""Starting inference runs: models are asked what they can tell about the authors of a corpus."""

from __future__ import annotations

import uuid
from secrets import token_hex
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.domain.inference_models import called, published
from evaluation.exchange.importing_models import about
from evaluation.forms.inference import InferenceForm
from evaluation.models import LabelSet
from evaluation.selectors import inferring as needs_of
from evaluation.selectors import masking
from evaluation.selectors.inferring import Need
from evaluation.services import infer_prompts, inferring
from evaluation.services.inferring import Wish
from evaluation.views.rooms import corpus_for
from simulation.domain.caps import proposals, proposed
from simulation.domain.dry_run import DryRun
from simulation.domain.plans import BadPlan, Forecast, Range
from simulation.domain.roles import Right
from simulation.models import Corpus, Provider, Run
from simulation.selectors import runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import dry_runs

CHANGED = "Another choice needs other caps: they are proposed anew. Look at them, then start."


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The form; with `look`, or asked by htmx, only its forecast anew. `?models=published` fills in the names
    of the published experiment."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    variants = infer_prompts.variants(corpus.language)
    given = request.POST if request.method == "POST" else _first(request, corpus)
    form = InferenceForm(given, corpus=corpus, variants=variants)
    form.full_clean()
    found = _need(corpus, form)
    looking = request.method != "POST" or "look" in request.POST or bool(request.htmx)
    renewed = proposals(form.cleaned_data, proposed(_forecast(found)))
    if not looking and form.is_valid() and not renewed:
        if run := _start(request, corpus, form):
            return redirect("run", run_id=run.public_id)
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
        "need": found,
        "models": len(form.roles) if form.is_bound else 0,
        "dry": _dry(corpus, form, found),
        "unmasked": masking.unmasked(chosen).count() if (chosen := form.cleaned_data.get("masking")) else 0,
        "wrong": wrong,
        "renewed": bool(renewed),
        "variants": variants,
        "providers": Provider.objects.exists(),
        "workers": workers.alive(),
    }
    template = "evaluation/inference_new.html" + ("#look" if request.htmx else "")
    return render(request, template, context, status=422 if wrong else 200)


def _need(corpus: Corpus, form: InferenceForm) -> Need:
    said = form.cleaned_data
    wanted = inferring.wanted(corpus, said.get("labels"), said.get("masking"))
    return needs_of.need(corpus, wanted, said.get("comment_tokens"))


def _forecast(need: Need) -> Forecast:
    """Of one model: one in five asked again."""
    calls = need.authors + need.authors // 5
    return Forecast(need.authors, calls, need.tokens + need.tokens // 5, 0)


def _dry(corpus: Corpus, form: InferenceForm, need: Need) -> DryRun | None:
    roles = form.roles
    if not roles or not need.authors:
        return None
    calls = {inferring.PURPOSE: Range(need.authors, need.authors + need.authors // 5)}
    provider = form.cleaned_data["provider"]
    known = {inferring.PURPOSE: need.per_call}
    return dry_runs.of_calls(
        calls, provider=provider, models={"adversary": roles[0]}, language=corpus.language, known=known
    )


def _first(request: PersonRequest, corpus: Corpus) -> dict[str, Any]:
    provider = Provider.objects.order_by("name").first()
    asked = request.GET.get("labels", "")
    labels = LabelSet.objects.filter(corpus=corpus)
    chosen = labels.filter(public_id=asked).first() or labels.order_by("-labels", "name").first()
    names = published().values() if request.GET.get("models") == "published" else ()
    return {
        "name": runs.next_name(corpus, "inference"),
        "labels": chosen.public_id if chosen else "",
        "masking": request.GET.get("masking", ""),
        "repair": "on",
        "variant": infer_prompts.PUBLISHED,
        "provider": provider.public_id if provider else "",
        "models": "\n".join(names),
        "form": str(uuid.uuid4()),
    }


def _start(request: PersonRequest, corpus: Corpus, form: InferenceForm) -> Run | None:
    """The first run that the form starts, or started already; None with the reason beside its field."""
    said, roles = form.cleaned_data, form.roles
    group = token_hex(8) if len(roles) > 1 else ""
    try:
        with transaction.atomic():
            # Who presses twice waits here, and finds the runs of the first press.
            Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
            if already := runs.of_form(corpus, said["form"]):
                return already
            started = [
                inferring.start_inference(
                    corpus,
                    Wish(
                        name=f"{said['name']}, {called(role.model)}"[:80] if group else said["name"],
                        provider=said["provider"],
                        model=role,
                        labels=said["labels"],
                        masking=said["masking"],
                        variant=said["variant"] or infer_prompts.PUBLISHED,
                        comment_tokens=said["comment_tokens"],
                        repair=said["repair"],
                        called=called(role.model),
                        family=about(role.model).family,
                        parameters=about(role.model).parameters,
                        group=group,
                        form=str(said["form"]),
                        **form.caps,
                    ),
                    by=request.user,
                )
                for role in roles
            ]
    except BadPlan as problem:
        form.add_error(problem.field if problem.field in form.fields else None, str(problem))
        return None
    names = f"{len(started)} runs are" if len(started) > 1 else f"“{started[0].name}” is"
    messages.success(request, f"{names} planned. They begin as soon as a worker takes them up.")
    return started[0].run
