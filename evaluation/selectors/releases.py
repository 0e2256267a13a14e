"""Releases for those who may export their corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from evaluation.models import Release
from simulation.models import Corpus, User

PAGE = 30


@dataclass(frozen=True)
class Page:
    """Newest first. `before`: public id behind which the next page begins, "" on the last."""

    rows: Sequence[Release]
    before: str = ""


def releases(corpus: Corpus, *, before: str = "") -> Page:
    """A page of the corpus' releases, without what their manifests say; at most two queries."""
    rows = Release.objects.filter(corpus=corpus).select_related("by").defer("manifest", "description")
    if before and (mark := Release.objects.filter(corpus=corpus, public_id=before).only("pk").first()):
        rows = rows.filter(pk__lt=mark.pk)
    found = list(rows.order_by("-id")[: PAGE + 1])
    more = str(found[PAGE - 1].public_id) if len(found) > PAGE else ""
    return Page(found[:PAGE], more)


def visible(person: User) -> QuerySet[Release]:
    """Those whose corpus the person may export."""
    return Release.objects.visible_to(person).select_related("corpus", "by", "withdrawn_by")


def comparable(release: Release) -> Sequence[Release]:
    """The other ready releases of the corpus, newest first."""
    others = Release.objects.filter(corpus=release.corpus_id, state=Release.READY).exclude(pk=release.pk)
    return list(others.only("public_id", "name", "created_at").order_by("-id")[:100])


def first_free_name(corpus: Corpus) -> str:
    """1.0, 2.0 … : the first that no release of the corpus has."""
    taken = set(Release.objects.filter(corpus=corpus).values_list("name", flat=True))
    return next(name for number in range(1, len(taken) + 2) if (name := f"{number}.0") not in taken)
