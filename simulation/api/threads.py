"""Threads: those of a corpus, and a whole tree in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.api.comments import CommentSheet
from simulation.domain import tree
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Comment, Corpus, Thread
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.rest.strict import Strict
from simulation.selectors import listings

DEEPEST = 100
"""A tree that is deeper is not nested: readers of JSON give up on it."""


class ThreadSheet(serializers.Serializer):
    """A thread without its comments. `target_phrase` is what its topic asks about."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    external_id = serializers.CharField()
    target_phrase = serializers.CharField()
    source = serializers.ChoiceField(choices=Thread.SOURCES)  # type: ignore[assignment]
    created_at = serializers.DateTimeField()
    n_comments = serializers.IntegerField()

    example = {
        "id": "p3w8n5d2r6bk",
        "corpus": "k7m2q9x4v3ht",
        "external_id": "thread_age_1",
        "target_phrase": "age",
        "source": "simulated",
        "created_at": "2026-11-30T09:20:10Z",
        "n_comments": 41,
    }


class CommentInTree(CommentSheet):
    """A comment of a whole thread."""

    replies = serializers.ListField(
        child=serializers.DictField(), required=False, help_text="In a nested tree alone: comments like this."
    )


class WholeThread(ThreadSheet):
    """A thread with all of its comments, in the order in which they came: a parent stands before its replies.

    With `nested=true` only the first comments stand in the list, and each has its `replies` in it.
    """

    comments = serializers.ListField(child=CommentInTree())

    example = {**ThreadSheet.example, "n_comments": 1, "comments": [CommentSheet.example]}


class ThreadsQuery(PageQuery):
    source = serializers.ChoiceField(choices=Thread.SOURCES, required=False)  # type: ignore[assignment]
    target_phrase = serializers.CharField(max_length=200, required=False)
    since = serializers.DateTimeField(required=False, help_text="Made at that moment or later.")


class ThreadQuery(Strict):
    nested = serializers.BooleanField(
        default=False, help_text=f"Replies inside of what they answer; of trees up to {DEEPEST} deep."
    )


class Threads(Endpoint):
    noun = "threads"
    access = {
        "GET": Access(
            Scope.READ,
            Right.BROWSE,
            "The threads of a corpus.",
            ThreadSheet,
            query=ThreadsQuery,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.visible_to(self.person), corpus_id)
        return self.page(listings.threads_in(corpus, self.asked))


class OneThread(Endpoint):
    noun = "threads"
    access = {
        "GET": Access(
            Scope.READ,
            Right.BROWSE,
            "A thread with its whole tree of comments.",
            WholeThread,
            query=ThreadQuery,
        )
    }

    def get(self, request: Request, thread_id: str) -> Response:
        """Withdrawn comments are in it, with their state: without them the tree would fall apart."""
        found = self.one(listings.counted(Thread.objects.visible_to(self.person)), thread_id)
        comments = listings.whole(found)
        profiles = listings.sees_profiles(self.person, found.corpus)
        drawn = CommentSheet(comments, many=True, context={"sees_profiles": profiles}).data
        sheet = dict(ThreadSheet(found).data)
        return Response(
            sheet | {"comments": _nested(comments, list(drawn)) if self.asked["nested"] else drawn}
        )


def _nested(comments: Sequence[Comment], drawn: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The drawn comments as trees. Raises ValidationError where one is too deep."""
    sheets = {comment.pk: sheet for comment, sheet in zip(comments, drawn, strict=True)}
    roots = tree.build(comments)
    waiting = [(root, 0) for root in roots]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ValidationError({"nested": [f"This tree is deeper than {DEEPEST}: take it flat."]})
        sheets[node.comment.pk]["replies"] = [sheets[reply.comment.pk] for reply in node.replies]
        waiting += [(reply, depth + 1) for reply in node.replies]
    return [sheets[root.comment.pk] for root in roots]
