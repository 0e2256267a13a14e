"""Threads and comments: a whole thread is one query, its tree is built in Python."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from simulation.domain import tree
from simulation.models import Comment, Corpus, Thread, User


def corpora(person: User) -> QuerySet[Corpus]:
    """The corpora that `person` may browse, with the numbers of their comments and threads."""
    return Corpus.objects.visible_to(person).annotate(n_comments=_number(Comment), n_threads=_number(Thread))


def _number(kind: type[Comment] | type[Thread]) -> Coalesce:
    """How many rows of a kind a corpus has; each counted alone, not in a product of both."""
    rows = kind.objects.filter(corpus=OuterRef("pk")).order_by().values("corpus")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


def in_corpus(corpus: Corpus, *, after: int = 0) -> QuerySet[Thread]:
    """Threads behind key `after` in order of arrival, with their numbers of comments and authors."""
    return (
        corpus.threads.filter(pk__gt=after)
        .annotate(n_comments=Count("comments"), n_authors=Count("comments__username", distinct=True))
        .order_by("id")
    )


def openings(threads: list[Thread]) -> dict[int, Comment]:
    """Thread key -> its first comment; one query for all."""
    first = (
        Comment.objects.filter(thread__in=threads)
        .order_by("thread_id", "depth", "sequence")
        .distinct("thread_id")
    )
    return {comment.thread_id: comment for comment in first}


def forest(thread: Thread) -> list[tree.Node]:
    """The tree of a thread; several roots where the source lacks a parent."""
    rows = list(thread.comments.order_by("sequence", "id"))
    return tree.build(rows)


def around(comment: Comment) -> Iterator[tree.Step]:
    """The tree in which `comment` stands, step by step: the path to it open, the rest folded."""
    root = tree.focus(forest(comment.thread), comment.pk)
    assert root is not None  # the comment belongs to its own thread
    return tree.steps_to_target(root)


class Drawn(NamedTuple):
    """A comment of a tree in which only one path is read: `text` is empty beside it."""

    pk: int
    parent_id: int | None
    position: int
    username: str
    public_id: str
    depth: int
    state: str
    text: str


# All comments of a thread, the texts of one and those above it. UNION ends where a path bites its tail.
PATH = """
WITH RECURSIVE path (id, parent_id) AS (
    SELECT id, parent_id FROM simulation_comment WHERE id = %(comment)s
    UNION
    SELECT above.id, above.parent_id FROM simulation_comment above JOIN path ON above.id = path.parent_id
)
SELECT c.id, c.parent_id, c.position, c.username, c.public_id, c.depth, c.state,
       CASE WHEN c.id IN (SELECT id FROM path) THEN c.text ELSE '' END
FROM simulation_comment c WHERE c.thread_id = %(thread)s ORDER BY c.sequence, c.id
"""


def path_to(comment: Comment) -> list[tree.Step]:
    """The same with only the path's texts read; what is folded is counted and named. One query."""
    with connection.cursor() as cursor:
        cursor.execute(PATH, {"comment": comment.pk, "thread": comment.thread_id})
        roots = tree.build(Drawn(*row) for row in cursor)
    root = tree.focus(roots, comment.pk)
    assert root is not None  # the comment belongs to its own thread
    return list(tree.steps_to_target(root, lazy=True))
