"""From a label back to the persona, and forward to what was built on it. The truth is on these pages."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evaluation.exchange.released_label import released_label
from evaluation.models import Release
from evaluation.selectors import lineage as selected
from evaluation.views.rooms import may
from simulation.domain.attributes import TARGETS, Attribute
from simulation.domain.roles import Right
from simulation.models import Comment, Corpus
from simulation.selectors.access import PersonRequest, needs


@needs(Right.SEE_PROFILES)
@require_safe
def of_comment(request: PersonRequest, comment_id: str, attribute: str) -> HttpResponse:
    """The chain of one attribute of a comment."""
    corpora = Corpus.objects.with_right(request.user, Right.SEE_PROFILES)
    mine = Comment.objects.filter(corpus__in=corpora).select_related("corpus", "thread", "profile")
    comment = get_object_or_404(mine, public_id=comment_id)
    return _page(request, comment, _attribute(attribute))


@needs(Right.SEE_PROFILES)
@require_safe
def of_release(request: PersonRequest, release_id: str) -> HttpResponse:
    """The same, from what a release says: `?comment=<id in the release>&attribute=<key>`."""
    corpora = Corpus.objects.with_right(request.user, Right.SEE_PROFILES)
    mine = Release.objects.visible_to(request.user).filter(corpus__in=corpora, state=Release.READY)
    release = get_object_or_404(mine.select_related("corpus"), public_id=release_id)
    attribute = _attribute(request.GET.get("attribute", TARGETS[0].key))
    comment = selected.comment_named(release.corpus, request.GET.get("comment", ""))
    if comment is None:
        raise Http404("no such comment in the corpus")
    row = released_label(release, comment.external_id, attribute.key)
    return _page(request, comment, attribute, release=release, released=row)


def _attribute(key: str) -> Attribute:
    found = next((one for one in TARGETS if one.key == key), None)
    if found is None:
        raise Http404(key)
    return found


def _page(request: PersonRequest, comment: Comment, attribute: Attribute, **more: Any) -> HttpResponse:
    context = {
        "section": "corpora",
        "corpus": comment.corpus,
        "comment": comment,
        "attribute": attribute,
        "attributes": TARGETS,
        "chain": selected.of(
            comment, attribute, names_people=may(request, comment.corpus, Right.MANAGE_QUEUES)
        ),
        "may_start": may(request, comment.corpus, Right.START_RUNS),
        "sees_runs": may(request, comment.corpus, Right.SEE_RUNS),
        **more,
    }
    return render(request, "evaluation/lineage.html", context)
