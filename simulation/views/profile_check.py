"""The page on which proposed profiles are approved, rejected or made anew, one key each."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from simulation.domain.caps import proposed
from simulation.domain.plans import BadPlan, RoleModel
from simulation.domain.roles import Right
from simulation.models import Corpus, Profile, Run
from simulation.selectors import profile_checks, profile_diversity, runs, workers
from simulation.selectors.access import PersonRequest, needs
from simulation.services import profile_runs, profiles
from simulation.services.profile_asking import AUTHOR, STYLER

DRAWN_SEEDS = 1_000_000
UNCHANGED, INCOMPLETE = 204, 400
MOST_DIGITS = 9
"""Of a number that our own forms send."""


def corpus_for(request: PersonRequest, public_id: str, right: Right = Right.SEE_PROFILES) -> Corpus:
    return get_object_or_404(Corpus.objects.with_right(request.user, right), public_id=public_id)


def where(request: PersonRequest) -> dict[str, str]:
    """Which profiles the page shows, from its address or from a form on it."""
    sent = request.POST if request.method == "POST" else request.GET
    shown = sent.get("show", "")
    return {
        "show": shown if shown in profile_checks.SHOWN else profile_checks.PROPOSED,
        "after": sent.get("after", ""),
    }


def address(corpus: Corpus, here: dict[str, str], at: Profile | None = None) -> str:
    """The check page as it was, at one of its profiles."""
    asked = {name: value for name, value in here.items() if value}
    anchor = f"#p-{at.public_id}" if at else ""
    return f"{reverse('profile_check', args=[corpus.public_id])}?{urlencode(asked)}{anchor}"


@needs(Right.SEE_PROFILES)
@require_safe
def check(request: PersonRequest, corpus_id: str) -> HttpResponse:
    return _page(request, corpus_for(request, corpus_id))


def _page(request: PersonRequest, corpus: Corpus, status: int = 200) -> HttpResponse:
    here = where(request)
    run = profile_checks.open_run(corpus)
    context = common(request, corpus, here) | {
        "page": profile_checks.page(corpus, here["show"], after=here["after"]),
        "run": run,
        "diversity": profile_diversity.of_corpus(corpus),
        "workers": workers.alive() if run else True,
    }
    return render(request, "profiles/check.html", context, status=status)


def common(request: PersonRequest, corpus: Corpus, here: dict[str, str]) -> dict[str, Any]:
    """What every part of the page needs."""
    counts = profile_checks.counts(corpus)
    return {
        "section": "corpora",
        "corpus": corpus,
        "here": here,
        "counts": counts,
        "tabs": [(key, words, counts.of(key)) for key, words in profile_checks.SHOWN.items()],
        "may_act": runs.may_start(request.user, corpus),
    }


@needs(Right.SEE_PROFILES)
@require_safe
def diversity(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """The panel beside the profiles anew; nothing where nothing has changed since `mark` and `run`.

    `last` is the newest profile that the page knows of: the answer says how many came since.
    """
    corpus = corpus_for(request, corpus_id)
    if not request.htmx:
        return redirect(address(corpus, {}))
    run = profile_checks.open_run(corpus)
    if run and request.GET.get("mark") == profile_checks.mark(corpus):
        return HttpResponse(status=UNCHANGED)
    last = request.GET.get("last", "")
    context = {
        "corpus": corpus,
        "run": run,
        "diversity": profile_diversity.of_corpus(corpus),
        "last": last,
        "arrived": profile_checks.arrived(corpus, last) if last else 0,
    }
    return render(request, "profiles/_diversity.html", context)


@needs(Right.START_RUNS)
@require_POST
def act(request: PersonRequest, profile_id: str) -> HttpResponse:
    """One act on one profile: its row anew for htmx, else the page at the next one."""
    mine = Profile.objects.filter(corpus__in=runs.startable(request.user))
    profile = get_object_or_404(profile_checks.detailed(mine), public_id=profile_id)
    here = where(request)
    problem, started = "", None
    try:
        started = _do(request, profile)
    except (profiles.ProfileError, BadPlan) as refused:
        problem = str(refused)
    if request.htmx:
        return _row(request, profile, here, problem, started)
    if problem:
        messages.error(request, problem)
    elif started:
        messages.success(request, f"“{started.name}” makes a new one in its place.")
    following = profile if problem else profile_checks.next_proposed(profile.corpus, profile, here["show"])
    return redirect(address(profile.corpus, here, following))


def _do(request: PersonRequest, profile: Profile) -> Run | None:
    """Raises ProfileError or BadPlan with the sentence to be shown; an unknown act does nothing."""
    sent = request.POST
    version = profile.version
    if said := sent.get("version", ""):
        if not _is_number(said):
            raise BadRequest("The version of a profile is a whole number. Nothing was changed.")
        version = int(said)
    match sent.get("act"):
        case "approve":
            profiles.approve(by=request.user, profiles=[profile], expected_version=version)
        case "reject":
            profiles.reject(
                by=request.user,
                profile=profile,
                reason=sent.get("reason", ""),
                expected_version=version,
            )
        case "restore":
            profiles.restore(by=request.user, profile=profile, expected_version=version)
        case "regenerate":
            return _regenerate(request, profile, version)
    return None


def _is_number(said: str) -> bool:
    return said.isascii() and said.isdecimal() and len(said) <= MOST_DIGITS


def _regenerate(request: PersonRequest, profile: Profile, version: int) -> Run:
    """A run for one profile, with the models of the run that made it. Raises BadPlan, Stale."""
    made_by = profile.run and Run.objects.select_related("provider").get(pk=profile.run.pk)
    if made_by is None:
        raise BadPlan("profile", "No run made this profile, so none can be repeated. Edit or reject it.")
    if profile.state == Profile.REJECTED:
        raise profiles.Stale(f"{profile.username} was rejected meanwhile, or is being made anew already.")
    if profile.version != version:
        raise profiles.Stale(f"{profile.username} was edited meanwhile. Look at it once more.")
    models = profile_runs.default_models(made_by.provider.default_model)
    models |= {role: RoleModel(**one) for role, one in made_by.plan["models"].items()}
    caps = proposed(profile_runs.forecast_generation(1))
    return profile_runs.regenerate(
        by=request.user,
        profile=profile,
        provider=made_by.provider,
        model=models[AUTHOR],
        styler=models[STYLER],
        seed=secrets.randbelow(DRAWN_SEEDS),
        max_calls=caps.calls,
        max_tokens=caps.tokens,
    )


def _row(
    request: PersonRequest, profile: Profile, here: dict[str, str], problem: str, started: Run | None
) -> HttpResponse:
    now = profile_checks.detailed(Profile.objects.filter(pk=profile.pk)).get()
    context = common(request, profile.corpus, here) | {
        "card": profile_checks.card(now),
        "problem": problem,
        "started": started,
    }
    answer = render(request, "profiles/check.html#acted", context)
    if now.state == Profile.REJECTED or profile.state == Profile.REJECTED or started:
        answer.headers["HX-Trigger-After-Settle"] = "profiles-changed"
    return answer


@needs(Right.START_RUNS)
@require_POST
def approve_clean(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """All proposed profiles without a warning that the page had counted, if they are still as many."""
    corpus = corpus_for(request, corpus_id, Right.START_RUNS)
    expected = request.POST.get("expected", "")
    last = profile_checks.key_of(corpus, request.POST.get("last", ""))
    if not _is_number(expected) or not last:
        messages.error(request, "The form was not complete. Nothing was approved: look and press again.")
        return _page(request, corpus, INCOMPLETE)
    try:
        number = profiles.approve_clean(by=request.user, corpus=corpus, expected=int(expected), last=last)
    except profiles.Stale as stale:
        messages.error(request, str(stale))
    else:
        messages.success(request, f"Approved {number:,} profile{'' if number == 1 else 's'}.{_left(corpus)}")
    return redirect(address(corpus, {}))


def _left(corpus: Corpus) -> str:
    left = profile_checks.counts(corpus).unfinished
    if not left:
        return ""
    return f" Left out: {left:,} whose style is still being written."
