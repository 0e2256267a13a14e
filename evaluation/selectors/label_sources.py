"""What people said of comments, and what models suggested, author by author in the corpus' order: streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.domain.labels import State
from annotation.models import Annotation, AttributeLabel, Decision, Suggestion, SuggestionCheck
from annotation.selectors.tag_compare import latest_checks
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Comment, Corpus, Run

CHUNK = 2000
"""Rows that come from the database at a time."""
ACTIVE = "active"


@dataclass(frozen=True)
class Sources:
    """Whose labels count. None: everybody's, every queue's, every reviewer's; empty: nobody's.

    `people` and `queues` are database keys and narrow what people said here; `reviewers` are names from
    imported files; `arm` is how people answered (a value of `Annotation.ARMS`), empty for any.
    """

    people: tuple[int, ...] | None = None
    queues: tuple[int, ...] | None = None
    reviewers: tuple[str, ...] | None = None
    arm: str = ""
    use_decisions: bool = True

    @property
    def takes_decisions(self) -> bool:
        """Decisions are about what people said here."""
        return self.use_decisions and self.people != () and self.queues != ()


class Said(NamedTuple):
    """One label or decision about one comment. `who` is the same for all that one person said."""

    profile: int
    sequence: int
    comment: int
    is_label: int
    key: int
    attribute: str
    who: str
    state: str
    value: str
    hardness: int
    certainty: int


def said(
    corpus: Corpus, sources: Sources, *, silent: bool = False, prefilled: bool = False
) -> Iterator[Said]:
    """What counts of what was said about comments whose author has a profile; two queries, read as a stream.

    In the order of profiles, of each the comments in the corpus' order, of each decisions before labels.
    As in the view of an author: a decision stands in place of the labels of its item, and an answer that
    came too many, or in a queue in the trash, does not count. Withdrawn comments do not either. `silent`
    adds “no evidence” and “unsure”; `prefilled` the suggestions that nobody touched in an author's first
    comment.
    """
    wanted = Q(state=State.VALUE)
    if silent:
        wanted |= Q(state__in=(State.NONE, State.UNSURE))
    if prefilled:
        untouched = Q(state=State.UNTOUCHED, hardness=None) & ~Q(value="")
        wanted |= untouched & Q(annotation__comment__in=first_comments(corpus))
    rows = _labels(corpus, sources).filter(wanted, **_of_profiles("annotation__comment"))
    streams = [_stream(rows, "annotation__comment", 1, "annotation__person", "annotation__reviewer")]
    if sources.takes_decisions:
        decided = _decisions(corpus, sources).filter(state=State.VALUE, **_of_profiles("item__comment"))
        streams.append(_stream(decided, "item__comment", 0))
    return merge(*streams)


def _stream(rows: QuerySet[Any], comment: str, is_label: int, *who: str) -> Iterator[Said]:
    place = (f"{comment}__profile_id", f"{comment}__sequence", f"{comment}_id")
    key = "annotation" if is_label else "pk"
    fields = (*place, key, "attribute", "state", "value", "hardness", "certainty", *who)
    ordered = rows.order_by(*place, key, "pk").values_list(*fields)
    for profile, sequence, one, number, *rest in ordered.iterator(chunk_size=CHUNK):
        attribute, state, value, hardness, certainty, *by = rest
        voice = f"p{by[0]}" if by and by[0] else f"r{by[1]}" if by else ""
        marks = (hardness or 0, certainty or 0)
        yield Said(profile, sequence, one, is_label, number, attribute, voice, state, value, *marks)


def _of_profiles(comment: str) -> dict[str, Any]:
    return {f"{comment}__profile__isnull": False, f"{comment}__state": ACTIVE}


def _labels(corpus: Corpus, sources: Sources) -> QuerySet[AttributeLabel]:
    here = Q(annotation__person__isnull=False)
    here &= Q(annotation__item=None) | Q(annotation__item__queue__trashed_at=None)
    if sources.people is not None:
        here &= Q(annotation__person__in=sources.people)
    if sources.queues is not None:
        here &= Q(annotation__item__queue__in=sources.queues)
    if sources.arm:
        here &= Q(annotation__arm=sources.arm)
    imported = Q(annotation__person=None)
    if sources.reviewers is not None:
        imported &= Q(annotation__reviewer__in=sources.reviewers)
    rows = AttributeLabel.objects.filter(
        here | imported,
        annotation__comment__corpus=corpus,
        annotation__over_quota=False,
        attribute__in=TARGET_KEYS,
    )
    if sources.takes_decisions:
        of_label = {"item": OuterRef("annotation__item"), "attribute": OuterRef("attribute")}
        rows = rows.filter(~Exists(_decisions(corpus, sources).filter(**of_label)))
    return rows


def _decisions(corpus: Corpus, sources: Sources) -> QuerySet[Decision]:
    """Of items that the chosen people have answered, where people or an arm were chosen."""
    rows = Decision.objects.filter(
        item__comment__corpus=corpus, item__queue__trashed_at=None, attribute__in=TARGET_KEYS
    ).order_by()
    if sources.queues is not None:
        rows = rows.filter(item__queue__in=sources.queues)
    answers = Annotation.objects.filter(item=OuterRef("item"), person__isnull=False, over_quota=False)
    if sources.people is not None:
        answers = answers.filter(person__in=sources.people)
    if sources.arm:
        answers = answers.filter(arm=sources.arm)
    return rows.filter(Exists(answers)) if sources.people is not None or sources.arm else rows


def first_comments(corpus: Corpus) -> QuerySet[Comment, Any]:
    """The key of the first comment of every profile."""
    comments = Comment.objects.filter(corpus=corpus, profile__isnull=False, state=ACTIVE)
    return (
        comments.order_by("profile_id", "sequence", "pk").distinct("profile_id").values_list("pk", flat=True)
    )


@dataclass(frozen=True)
class LeftOut:
    """Values that were given to comments and count nowhere."""

    no_profile: int = 0
    """The author of the comment has no profile."""
    authors: int = 0
    """So many authors are without."""
    withdrawn: int = 0
    """The comment was withdrawn."""


def left_out(corpus: Corpus, sources: Sources) -> LeftOut:
    """What `said` passes over; two queries."""
    counts = [0, 0, 0]
    found = [(_labels(corpus, sources), "annotation__comment")]
    if sources.takes_decisions:
        found.append((_decisions(corpus, sources), "item__comment"))  # type: ignore[arg-type]
    for rows, comment in found:
        active = Q(**{f"{comment}__state": ACTIVE})
        homeless = active & Q(**{f"{comment}__profile": None})
        numbers = rows.filter(state=State.VALUE).aggregate(
            no_profile=Count("pk", filter=homeless),
            authors=Count(f"{comment}__username", filter=homeless, distinct=True),
            withdrawn=Count("pk", filter=~active),
        )
        counts[0] += numbers["no_profile"]
        counts[1] = max(counts[1], numbers["authors"])
        counts[2] += numbers["withdrawn"]
    return LeftOut(*counts)


class Tagged(NamedTuple):
    """A suggestion about one comment of an author with a profile."""

    profile: int
    comment: int
    attribute: str
    hardness_word: str
    certainty: int


EVERY, NOT_REFUSED, KEPT = "every", "not refused", "kept"
"""Which suggestions count: all; those that no check has found wrong; those that a check has kept."""


def tagged(
    corpus: Corpus, *, tagger: str = "", run: Run | None = None, which: str = EVERY
) -> Iterator[Tagged]:
    """Suggestions by profile in the corpus' order; one query, read as a stream. Of several checks of one
    suggestion the latest counts. Imported suggestions of the published trees have been checked before."""
    rows = Suggestion.objects.filter(
        comment__corpus=corpus,
        comment__profile__isnull=False,
        comment__state=ACTIVE,
        attribute__in=TARGET_KEYS,
    )
    if tagger:
        rows = rows.filter(tagger=tagger)
    if run is not None:
        rows = rows.filter(run=run)
    latest = latest_checks(SuggestionCheck.objects.filter(suggestion=OuterRef("pk")))
    if which == KEPT:
        rows = rows.filter(Exists(latest.filter(kept=True)))
    elif which == NOT_REFUSED:
        rows = rows.filter(~Exists(latest.filter(kept=False)))
    place = ("comment__profile_id", "comment__sequence", "comment_id")
    fields = ("comment__profile_id", "comment_id", "attribute", "hardness_word", "certainty")
    ordered = rows.order_by(*place, "position", "pk").values_list(*fields)
    for profile, comment, attribute, word, certainty in ordered.iterator(chunk_size=CHUNK):
        yield Tagged(profile, comment, attribute, word, certainty or 0)
