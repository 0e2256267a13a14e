"""A corpus as it goes out: comment by comment in the order of arrival, some hundreds at a time.

Memory does not grow with the corpus, and every chunk takes the same number of queries. Chunks are found by
the last comment's place, so no cursor stays open while a slow reader downloads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Exists, F, Min, OuterRef, Prefetch, Q, QuerySet

from annotation.models import Annotation, AttributeLabel, Suggestion
from simulation.models import Comment, Corpus

SIZE = 500


@dataclass(frozen=True)
class Item:
    """One comment with everything that is said of it."""

    comment: Comment
    parent_id: str | None
    replies: list[str]
    suggestions: list[Suggestion]
    annotations: list[Annotation]


@dataclass
class Pseudonyms:
    """People as exports name them: a1, a2 … by their first annotation, but not as an imported reviewer."""

    taken: set[str] = field(default_factory=set)
    _known: dict[int, str] = field(default_factory=dict)
    _last: int = 0

    @classmethod
    def of(cls, corpus: Corpus) -> Pseudonyms:
        annotations = Annotation.objects.filter(comment__corpus=corpus)
        imported = annotations.filter(person=None).order_by().values_list("reviewer", flat=True).distinct()
        names = cls(set(imported))
        people = annotations.filter(person__isnull=False).values("person").annotate(first=Min("pk"))
        for row in people.order_by("first"):
            names.of_person(row["person"])
        return names

    def of_person(self, person: int) -> str:
        while person not in self._known:
            self._last += 1
            name = f"a{self._last}"
            if name not in self.taken:
                self._known[person] = name
        return self._known[person]

    def reviewer(self, annotation: Annotation) -> str:
        return annotation.reviewer if annotation.person_id is None else self.of_person(annotation.person_id)


def items(corpus: Corpus, *, reviewed_only: bool = False, withdrawn: bool = False) -> Iterator[list[Item]]:
    """The comments of a corpus in chunks; `reviewed_only` leaves those that a person here has labelled."""
    comments = _comments(corpus, reviewed_only=reviewed_only, withdrawn=withdrawn)
    chunk = list(comments[:SIZE])
    while chunk:
        yield _with_replies(chunk)
        last = chunk[-1]
        behind = Q(sequence__gt=last.sequence) | Q(pk__gt=last.pk)
        chunk = list(comments.filter(behind, sequence__gte=last.sequence)[:SIZE])


def _comments(corpus: Corpus, *, reviewed_only: bool, withdrawn: bool) -> QuerySet[Comment]:
    comments = Comment.objects.filter(corpus=corpus).order_by("sequence", "pk")
    if not withdrawn:
        comments = comments.filter(state="active")
    if reviewed_only:
        reviews = Annotation.objects.filter(comment=OuterRef("pk"), person__isnull=False, over_quota=False)
        comments = comments.filter(Exists(reviews))
    labels = Prefetch("labels", AttributeLabel.objects.select_related("suggestion").order_by("pk"))
    return comments.annotate(parent_external_id=F("parent__external_id")).prefetch_related(
        "profile",
        "thread",
        Prefetch("suggestions", Suggestion.objects.order_by("position", "pk")),
        Prefetch("annotations", Annotation.objects.order_by("pk").prefetch_related(labels)),
    )


def _with_replies(chunk: list[Comment]) -> list[Item]:
    replies: dict[int | None, list[str]] = defaultdict(list)
    found = Comment.objects.filter(parent__in=chunk, state="active").order_by("position", "sequence", "pk")
    for parent, external_id in found.values_list("parent", "external_id"):
        replies[parent].append(external_id)
    return [
        Item(
            comment,
            comment.parent_external_id,  # type: ignore[attr-defined]
            replies[comment.pk],
            list(comment.suggestions.all()),
            list(comment.annotations.all()),
        )
        for comment in chunk
    ]
