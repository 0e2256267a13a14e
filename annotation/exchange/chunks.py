"""A corpus as it goes out: comment by comment in the order of arrival, some hundreds at a time.

Memory does not grow with the corpus, and every chunk takes the same number of queries. Chunks are found by
the last comment's place, so no cursor stays open while a slow reader downloads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, F, Min, OuterRef, Prefetch, Q, QuerySet

from annotation.models import Annotation, AttributeLabel, Decision, FirstAnswer, Suggestion
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
    decisions: list[Decision]
    quoted: dict[str, str]
    """Public id -> external id of the comments that evidence quotes."""


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


def items_of(keys: Sequence[int]) -> list[Item]:
    """The comments with these primary keys, in the order of arrival: a chunk that somebody else chose."""
    chosen = Comment.objects.filter(pk__in=keys).order_by("sequence", "pk")
    return _with_replies(list(_with_all_that_is_said(chosen)))


def _comments(corpus: Corpus, *, reviewed_only: bool, withdrawn: bool) -> QuerySet[Comment]:
    comments = Comment.objects.filter(corpus=corpus).order_by("sequence", "pk")
    if not withdrawn:
        comments = comments.filter(state="active")
    if reviewed_only:
        reviews = Annotation.objects.filter(comment=OuterRef("pk"), person__isnull=False, over_quota=False)
        comments = comments.filter(Exists(reviews))
    return _with_all_that_is_said(comments)


def _with_all_that_is_said(comments: QuerySet[Comment]) -> QuerySet[Comment]:
    labels = Prefetch("labels", AttributeLabel.objects.select_related("suggestion").order_by("pk"))
    return comments.annotate(parent_external_id=F("parent__external_id")).prefetch_related(
        "profile",
        "thread",
        Prefetch("suggestions", Suggestion.objects.order_by("position", "pk")),
        Prefetch("annotations", Annotation.objects.order_by("pk").prefetch_related(labels, _FIRST)),
    )


# The answers to blind items before the suggestions were shown: at most one an item and person.
_FIRST = Prefetch("item__first_answers", FirstAnswer.objects.order_by("pk"))


def _with_replies(chunk: list[Comment]) -> list[Item]:
    replies: dict[int | None, list[str]] = defaultdict(list)
    found = Comment.objects.filter(parent__in=chunk, state="active").order_by("position", "sequence", "pk")
    for parent, external_id in found.values_list("parent", "external_id"):
        replies[parent].append(external_id)
    decisions: dict[int, list[Decision]] = defaultdict(list)
    for decision in Decision.objects.filter(item__comment__in=chunk).select_related("item").order_by("pk"):
        decisions[decision.item.comment_id].append(decision)
    quoted = _quoted(chunk, decisions)
    return [
        Item(
            comment,
            comment.parent_external_id,  # type: ignore[attr-defined]
            replies[comment.pk],
            list(comment.suggestions.all()),
            list(comment.annotations.all()),
            decisions[comment.pk],
            quoted,
        )
        for comment in chunk
    ]


def _quoted(chunk: list[Comment], decisions: dict[int, list[Decision]]) -> dict[str, str]:
    """The comments that evidence of this chunk quotes: one query, and none where nothing is quoted."""
    wanted = {
        quote["comment"]
        for comment in chunk
        for annotation in comment.annotations.all()
        for label in annotation.labels.all()
        for quote in label.evidence
    }
    wanted |= {
        quote["comment"] for rows in decisions.values() for decision in rows for quote in decision.evidence
    }
    if not wanted:
        return {}
    rows = Comment.objects.filter(public_id__in=wanted).values_list("public_id", "external_id")
    return dict(rows)
