"""The corpora in the trash, and those that may be put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Count, Model, Q, QuerySet

from simulation.domain.roles import Right
from simulation.domain.run_states import RunState
from simulation.models import Comment, Corpus, Run, User

PAGE = 50
Trashed = TypeVar("Trashed", bound=Model)
"""Rows with `trashed_at` and `public_id`."""


@dataclass(frozen=True)
class Page(Generic[Trashed]):
    rows: Sequence[Trashed]
    before: str
    """Public id to continue behind; empty on the last page."""


def page(rows: QuerySet[Trashed], *, before: str) -> Page[Trashed]:
    """`PAGE` rows behind the one named `before` (empty: the first), latest trashed first."""
    ordered = rows.order_by("-trashed_at", "-pk")
    if mark := rows.filter(public_id=before).values_list("trashed_at", "pk").first() if before else None:
        at, pk = mark
        ordered = ordered.filter(Q(trashed_at__lt=at) | Q(trashed_at=at, pk__lt=pk))
    found = list(ordered[: PAGE + 1])
    kept = found[:PAGE]
    return Page(kept, str(kept[-1].public_id) if len(found) > PAGE else "")  # type: ignore[attr-defined]


def trashable_corpora(person: User) -> QuerySet[Corpus]:
    """Corpora that `person` may put into the trash or restore, whether they are in it or not."""
    outside = Corpus.objects.with_right(person, Right.MANAGE_PEOPLE)
    return outside | Corpus.objects.trashed_with_right(person, Right.MANAGE_PEOPLE)


def corpora(person: User, *, before: str = "") -> Page[Corpus]:
    """Those in the trash that `person` may restore."""
    trashed = Corpus.objects.trashed_with_right(person, Right.MANAGE_PEOPLE)
    return page(trashed.select_related("trashed_by"), before=before)


def run_under_way(corpus: Corpus) -> Run | None:
    """A run that works, or is about to; one that is paused or halted goes on only when somebody says so."""
    return corpus.runs.filter(state__in=(RunState.QUEUED, RunState.RUNNING)).order_by("pk").first()


def comments_in(corpora: Sequence[Corpus]) -> Mapping[int, int]:
    """Corpus key -> how many comments it has; one query."""
    counted = Comment.objects.filter(corpus__in=corpora).order_by().values_list("corpus_id")
    return dict(counted.annotate(n=Count("pk")))
