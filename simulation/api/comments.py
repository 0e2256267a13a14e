"""Comments: those of a corpus that a filter means, and one of them."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Comment, Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.rest.strict import PublicId
from simulation.selectors import listings

STATES = ("active", "withdrawn", "both")


class CommentSheet(serializers.Serializer):
    """A comment. `author` is the author's id in the source, `sequence` its place in the corpus.

    `profile` leads to the truth about its author, and is null for who may not see that.
    """

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    thread = serializers.CharField(source="thread.public_id")
    parent = serializers.CharField(source="parent.public_id", allow_null=True, default=None)  # type: ignore[assignment]
    profile = serializers.SerializerMethodField()
    external_id = serializers.CharField()
    author = serializers.CharField()
    username = serializers.CharField()
    text = serializers.CharField()
    depth = serializers.IntegerField()
    position = serializers.IntegerField()
    sequence = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Comment.STATES)
    edited = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    example = {
        "id": "c5t8k2m9w3xq",
        "corpus": "k7m2q9x4v3ht",
        "thread": "p3w8n5d2r6bk",
        "parent": None,
        "profile": None,
        "external_id": "thread_age_1-000",
        "author": "pers12",
        "username": "NightOwl",
        "text": "I take the night bus home.",
        "depth": 0,
        "position": 0,
        "sequence": 4120,
        "state": "active",
        "edited": False,
        "created_at": "2026-11-30T09:20:11Z",
    }

    def get_profile(self, comment: Comment) -> str | None:
        return comment.profile.public_id if comment.profile and self.context.get("sees_profiles") else None

    def get_edited(self, comment: Comment) -> bool:
        return bool(comment.original_text)


class CommentsQuery(PageQuery):
    thread = PublicId(required=False)
    author = serializers.CharField(max_length=100, required=False, help_text="User name.")
    state = serializers.ChoiceField(choices=STATES, default="active")
    text = serializers.CharField(
        max_length=200, required=False, help_text='Words as in a search engine: bus -night "last train".'
    )
    since = serializers.DateTimeField(required=False, help_text="Made or edited at that moment or later.")


class Comments(Endpoint):
    noun = "comments"
    access = {
        "GET": Access(
            Scope.READ,
            Right.BROWSE,
            "The comments of a corpus, in its order.",
            CommentSheet,
            query=CommentsQuery,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.visible_to(self.person), corpus_id)
        profiles = listings.sees_profiles(self.person, corpus)
        rows = listings.comments_in(corpus, self.asked)
        return self.page(rows, order=("sequence", "id"), sees_profiles=profiles)


class OneComment(Endpoint):
    noun = "comments"
    access = {"GET": Access(Scope.READ, Right.BROWSE, "One comment.", CommentSheet)}

    def get(self, request: Request, comment_id: str) -> Response:
        found = self.one(listings.related(Comment.objects.visible_to(self.person)), comment_id)
        profiles = listings.sees_profiles(self.person, found.corpus)
        return self.answer(found, sees_profiles=profiles)
