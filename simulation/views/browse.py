"""The corpora one may browse, and the profiles of their authors."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.models import Corpus, Profile
from simulation.selectors import corpora as making
from simulation.selectors import profile_checks, profiles, runs, threads
from simulation.selectors.access import PersonRequest, needs

PAGE = 100


@needs(Right.BROWSE)
@require_safe
def corpora(request: PersonRequest) -> HttpResponse:
    context = {
        "section": "corpora",
        "corpora": threads.corpora(request.user),
        "may_make": making.may_make(request.user),
    }
    return render(request, "corpora/list.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def profile_list(request: PersonRequest, corpus_id: str) -> HttpResponse:
    corpus = get_object_or_404(
        Corpus.objects.with_right(request.user, Right.SEE_PROFILES), public_id=corpus_id
    )
    marker = Profile.objects.filter(corpus=corpus, public_id=request.GET.get("after", "")).first()
    page = profiles.in_corpus(request.user, corpus, after=marker.pk if marker else 0, size=PAGE)
    context = {
        "section": "corpora",
        "corpus": corpus,
        "profiles": page[:PAGE],
        "more": page[PAGE - 1].public_id if len(page) > PAGE else "",
        "attributes": [attribute for attribute in CATALOGUE.values() if attribute.target],
        "counts": profile_checks.counts(corpus),
        "may_act": runs.may_start(request.user, corpus),
    }
    return render(request, "corpora/profiles.html", context)


@needs(Right.SEE_PROFILES)
@require_safe
def profile(request: PersonRequest, profile_id: str) -> HttpResponse:
    found = get_object_or_404(
        profile_checks.detailed(Profile.objects.visible_to(request.user)), public_id=profile_id
    )
    context = {
        "section": "corpora",
        "profile": found,
        "corpus": found.corpus,
        "facts": [(attribute, found.facts.get(attribute.key)) for attribute in CATALOGUE.values()],
        "comments": found.comments.select_related("thread").order_by("sequence")[:200],
        "n_comments": found.comments.count(),
        "may_act": runs.may_start(request.user, found.corpus),
    }
    return render(request, "corpora/profile.html", context)
