"""A page of the comments that a filter finds: in a stable order, from any place, forward and back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from annotation.domain.comment_filter import CommentFilter
from annotation.models import Suggestion, Tally
from annotation.selectors import comment_rows, search
from annotation.selectors.comment_rows import Row
from simulation.models import Comment, Corpus, Run, User

SIZE = 50
KNOWN = 4_000
KNOWN_WORDS = 10_000
"""Up to so many matches are counted exactly and their places known; more are “more than 4,000”.

Counting is most of the work of a page where much is found. Among words more are counted: for so many the
database asks the index of words, for fewer it reads comments in order, which takes longer.
"""


def known(asked: CommentFilter) -> int:
    """Up to how many matches of `asked` are counted."""
    return KNOWN_WORDS if asked.text else KNOWN


Place = tuple[int, int]
"""Sequence and key of a comment: its place in the order of a corpus."""


@dataclass(frozen=True)
class Page:
    rows: Sequence[Row] = field(default_factory=list)
    total: int | None = 0
    """None: more than `KNOWN`."""
    first: int | None = None
    """Number of the first row among all matches, from 1; None where that is not known."""
    before: str = ""
    """Public id of the comment in front of which the page before begins; empty: this is the first."""
    after: str = ""
    lost: bool = False
    """The comment behind which the page should begin is not in the corpus; it begins at the start."""

    @property
    def last(self) -> int | None:
        return self.first + len(self.rows) - 1 if self.first else None


def page(
    corpus: Corpus,
    asked: CommentFilter,
    *,
    after: str = "",
    before: str = "",
    sees_labels: bool = True,
    size: int = SIZE,
) -> Page:
    """The page behind the comment `after`, or in front of `before`: a public id, or a place in the corpus,
    from 1. The same number of queries for any number of rows; no more than `KNOWN` matches are counted.
    """
    with _row_by_row():
        return _page(corpus, asked, after=after, before=before, sees_labels=sees_labels, size=size)


@contextmanager
def _row_by_row() -> Iterator[None]:
    """Keeps the planner from walking a whole corpus in step with the labels.

    Where labels are few it expects such a merge to end early, and reads a million comments (measured: 1.6 s
    against 0.1 s). Ours are pages of fifty: to look up row by row is right for all of them.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_mergejoin = off")
        yield
        cursor.execute("SET LOCAL enable_mergejoin TO DEFAULT")


def _page(
    corpus: Corpus, asked: CommentFilter, *, after: str, before: str, sees_labels: bool, size: int
) -> Page:
    mark = _place(corpus, after or before)
    lost = bool(after or before) and mark is None
    backward = bool(before and not after and mark)
    places = _places(corpus, asked)
    total: int | None
    first: int | None
    if places is not None:
        start = _start(places, mark, backward=backward, size=size)
        shown, total, first = places[start : start + size], len(places), start + 1
        earlier, later = start > 0, start + size < len(places)
    else:
        shown, earlier, later = _walk(corpus, asked, mark, backward=backward, size=size)
        total, first = None, None if earlier else 1
    rows = comment_rows.rows([key for _, key in shown], asked, sees_labels=sees_labels)
    return Page(
        rows=rows,
        total=total,
        first=first if rows else None,
        before=rows[0].comment.public_id if rows and earlier else "",
        after=rows[-1].comment.public_id if rows and later else "",
        lost=lost,
    )


def _place(corpus: Corpus, mark: str) -> Place | None:
    """The place of a comment by its public id; of a number, the end of that place."""
    if mark.isdecimal() and len(mark) < 12:
        return (int(mark) - 1, 2**63 - 1) if int(mark) else None
    if not mark:
        return None
    found: Place | None = corpus.comments.filter(public_id=mark).values_list("sequence", "pk").first()
    return found


def _places(corpus: Corpus, asked: CommentFilter) -> list[Place] | None:
    """All places that `asked` finds, in order; None where they are more than `KNOWN`."""
    found: set[Place] = set()
    most = known(asked)
    for branch in search.branches(corpus, asked):
        found.update(branch.order_by().values_list("sequence", "pk")[: most + 1])
        if len(found) > most:
            return None
    return sorted(found)


def _start(places: list[Place], mark: Place | None, *, backward: bool, size: int) -> int:
    if mark is None:
        return 0
    return max(0, bisect_left(places, mark) - size) if backward else bisect_right(places, mark)


def _walk(
    corpus: Corpus, asked: CommentFilter, mark: Place | None, *, backward: bool, size: int
) -> tuple[list[Place], bool, bool]:
    """The places of a page, whether there is one in front of it and one behind it."""
    found = sorted(
        {
            place
            for branch in search.branches(corpus, asked)
            for place in _from(branch, mark, backward=backward)[: size + 1]
        },
        reverse=backward,
    )
    more, shown = len(found) > size, found[:size]
    if not backward:
        return shown, mark is not None, more
    if not more:  # the start is reached: a whole first page instead of a part of one
        return _walk(corpus, asked, None, backward=False, size=size)
    return shown[::-1], True, True


def _from(comments: QuerySet[Comment], mark: Place | None, *, backward: bool) -> QuerySet[Comment, Place]:
    """Places in the index' order; the first condition is the one that the index begins at."""
    if mark is not None:
        sequence, key = mark
        if backward:
            comments = comments.filter(sequence__lte=sequence).filter(
                Q(sequence__lt=sequence) | Q(pk__lt=key)
            )
        else:
            comments = comments.filter(sequence__gte=sequence).filter(
                Q(sequence__gt=sequence) | Q(pk__gt=key)
            )
    order = ("-sequence", "-pk") if backward else ("sequence", "pk")
    return comments.order_by(*order).values_list("sequence", "pk")


def models(corpus: Corpus) -> list[str]:
    """Whose suggestions there can be in `corpus`: those of imports and of its tagging runs."""
    runs = Run.objects.filter(corpus=corpus, kind=Run.TAG).values_list(
        "plan__models__tagger__model", flat=True
    )
    imported = str(Suggestion._meta.get_field("tagger").default)
    return sorted({imported, *(str(model) for model in runs.distinct() if model)})


def annotators(corpus: Corpus) -> QuerySet[User]:
    """People who have answered in a queue of `corpus`, by name."""
    answered = Tally.objects.filter(queue__corpus=corpus, person__isnull=False, done__gt=0)
    return User.objects.filter(pk__in=answered.values("person")).order_by("username")


def names(corpus: Corpus, asked: CommentFilter) -> dict[str, str]:
    """The names of what is known by an id, by key, where they belong to `corpus`; two queries at most."""
    found: dict[str, str] = {}
    if asked.person and (person := annotators(corpus).filter(public_id=asked.person).first()):
        found["person"] = person.username
    if asked.thread and (thread := corpus.threads.filter(public_id=asked.thread).first()):
        found["thread"] = thread.external_id
    return found
