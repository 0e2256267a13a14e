"""A profile as a form: edited with a lock on its version, or typed in anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.forms.profiles import ProfileForm
from simulation.models import Corpus, Profile
from simulation.selectors import profile_checks, runs
from simulation.selectors.access import PersonRequest, needs
from simulation.services import profiles
from simulation.views import profile_check

CONFLICT, INVALID = 409, 422


@dataclass(frozen=True)
class Differs:
    """A field in which what was typed is not what somebody else stored meanwhile."""

    label: str
    yours: Any
    stored: Any


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PersonRequest, profile_id: str) -> HttpResponse:
    """The form of a stored profile; saving goes back to where it was opened from, at the next one if the
    profile was approved with it."""
    mine = Profile.objects.filter(corpus__in=runs.startable(request.user))
    profile = get_object_or_404(profile_checks.detailed(mine), public_id=profile_id)
    here = profile_check.where(request)
    form = ProfileForm(request.POST if request.method == "POST" else None, profile=profile)
    conflict: Sequence[Differs] = ()
    if form.is_valid():
        try:
            kept = profiles.edit(
                by=request.user,
                profile=profile,
                facts=form.asked_facts(),
                style=form.cleaned_data["style"],
                username=form.cleaned_data["username"],
                expected_version=form.cleaned_data["version"] or 0,
            )
            if "approve" in request.POST:
                profiles.approve(by=request.user, profiles=[kept], expected_version=kept.version)
        except profiles.BadProfile as wrong:
            form.say(wrong.problems)
        except profiles.Unfinished as unfinished:
            messages.error(request, f"Saved, but not approved. {unfinished}")
            return redirect(profile_check.address(profile.corpus, here, profile))
        except profiles.Stale as stale:
            profile = profile_checks.detailed(mine).get(pk=profile.pk)
            conflict = _differences(form, profile)
            form = _at_version(form, profile)
            form.is_valid()
            form.add_error(None, str(stale))
        else:
            return _saved(request, kept, profile, here)
    return _page(request, profile.corpus, form, here, profile=profile, conflict=conflict)


@needs(Right.START_RUNS)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PersonRequest, corpus_id: str) -> HttpResponse:
    """A profile that is typed in."""
    corpus = profile_check.corpus_for(request, corpus_id, Right.START_RUNS)
    form = ProfileForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = profiles.add(
                by=request.user,
                corpus=corpus,
                facts=form.asked_facts(),
                style=form.cleaned_data["style"],
                username=form.cleaned_data["username"],
                approved="approve" in request.POST,
            )
        except profiles.BadProfile as wrong:
            form.say(wrong.problems)
        else:
            messages.success(request, f"{made.username} is there, {made.state}.")
            shown = {"show": made.state, "after": ""}
            return redirect(profile_check.address(corpus, shown, made))
    return _page(request, corpus, form, profile_check.where(request))


def _saved(request: PersonRequest, kept: Profile, seen: Profile, here: dict[str, str]) -> HttpResponse:
    changed = kept.version != seen.version
    words = f"saved as version {kept.version}" if changed else "nothing was different"
    approved = " and approved" if "approve" in request.POST else ""
    messages.success(request, f"{kept.username}: {words}{approved}.")
    at = profile_checks.next_proposed(kept.corpus, kept, here["show"]) if approved else kept
    return redirect(profile_check.address(kept.corpus, here, at))


def _differences(form: ProfileForm, stored: Profile) -> list[Differs]:
    """Field by field, what was typed where something else is stored now."""
    typed = form.asked_facts()
    pairs = [("Username", form.cleaned_data["username"], stored.username)]
    pairs += [(one.label, typed[key], stored.facts.get(key)) for key, one in CATALOGUE.items()]
    pairs += [("Writing style", form.cleaned_data["style"], stored.style)]
    return [Differs(*pair) for pair in pairs if str(pair[1] or "") != str(pair[2] or "")]


def _at_version(form: ProfileForm, stored: Profile) -> ProfileForm:
    """What was typed, to be saved over the version that is stored now if the person still wants it."""
    sent = dict(form.data.items()) | {"version": str(stored.version)}
    return ProfileForm(sent, profile=stored)


def _page(
    request: PersonRequest,
    corpus: Corpus,
    form: ProfileForm,
    here: dict[str, str],
    *,
    profile: Profile | None = None,
    conflict: Sequence[Differs] = (),
) -> HttpResponse:
    card = profile_checks.card(profile) if profile else None
    context = {
        "section": "corpora",
        "corpus": corpus,
        "profile": profile,
        "form": form,
        "here": here,
        "back": profile_check.address(corpus, here, profile),
        "beside": {fact.attribute.key: fact.warnings for fact in card.facts} if card else {},
        "card": card,
        "conflict": conflict,
        "versions": profile_checks.history(profile) if profile else [],
    }
    status = CONFLICT if conflict else INVALID if form.errors else 200
    return render(request, "profiles/edit.html", context, status=status)
