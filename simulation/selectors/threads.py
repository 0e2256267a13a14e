"""Threads and comments: a whole thread is one query, its tree is built in Python."""

from collections.abc import Iterator

from django.db.models import Count, F, QuerySet

from simulation.domain import tree
from simulation.models import Comment, Corpus, Thread, User


def corpora(person: User) -> QuerySet[Corpus]:
    """The corpora that `person` may browse, with the number of their comments."""
    return Corpus.objects.visible_to(person).annotate(
        n_comments=Count("comments", distinct=True), n_threads=Count("threads", distinct=True)
    )


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


def page_of_comments(corpus: Corpus, *, after: int = 0, text: str = "", size: int = 50) -> list[Comment]:
    """Up to `size` + 1 comments behind place `after` of the corpus' order; the extra one says: more."""
    comments = corpus.comments.filter(sequence__gt=after).select_related("thread").order_by("sequence", "id")
    if text:
        comments = comments.filter(text__icontains=text)
    return list(comments.annotate(thread_name=F("thread__external_id"))[: size + 1])
