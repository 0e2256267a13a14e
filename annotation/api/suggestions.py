"""What taggers say about comments: reading it, and pushing what a tagger outside says."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet, Subquery
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Suggestion
from annotation.services import pushing
from annotation.services.pushing import Pushed
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus, Run
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.rest.strict import PublicId, Strict

ATTRIBUTES = [(key, key) for key in TARGET_KEYS]


class SuggestionSheet(serializers.Serializer):
    """Up to three guesses of one tagger for one attribute of one comment, best first."""

    comment = serializers.CharField(source="comment.public_id")
    comment_external_id = serializers.CharField(source="comment.external_id")
    tagger = serializers.CharField()
    batch = serializers.CharField(help_text="What a tagger outside calls its run; empty for others.")
    run = serializers.CharField(source="run.public_id", default=None, allow_null=True)
    attribute = serializers.CharField()
    guesses = serializers.SerializerMethodField()
    hardness_word = serializers.CharField()
    hardness = serializers.IntegerField(allow_null=True)
    certainty = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()

    example = {
        "comment": "k7m2q9x4v3ht",
        "comment_external_id": "c101",
        "tagger": "my-tagger",
        "batch": "2026-12-01",
        "run": None,
        "attribute": "occupation",
        "guesses": ["nurse", "midwife", "doctor"],
        "hardness_word": "indirect",
        "hardness": 2,
        "certainty": 4,
        "created_at": "2026-12-01T09:12:44Z",
    }

    def get_guesses(self, row: Suggestion) -> list[str]:
        return row.words


class SuggestionQuery(PageQuery):
    comment = PublicId(required=False, help_text="Public id of a comment.")
    attribute = serializers.ChoiceField(choices=ATTRIBUTES, required=False)
    tagger = serializers.CharField(required=False, max_length=100)
    batch = serializers.CharField(required=False, max_length=100)
    run = PublicId(required=False, help_text="Public id of a tagging run.")


class OneSuggestion(Strict):
    comment = serializers.CharField(
        max_length=200, help_text="Public id, or the id that the comment has in its source."
    )
    attribute = serializers.ChoiceField(choices=ATTRIBUTES)
    guesses = serializers.ListField(
        child=serializers.CharField(max_length=1000), min_length=1, max_length=3, help_text="Best first."
    )
    hardness = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="direct, indirect, complicated"
    )
    certainty = serializers.IntegerField(
        min_value=1, max_value=5, required=False, allow_null=True, default=None
    )
    reasoning = serializers.CharField(max_length=5000, required=False)
    prompt_hash = serializers.CharField(max_length=100, required=False)


class Push(Strict):
    """Suggestions of one tagger in one of its runs (a batch). All are stored, or none."""

    tagger = serializers.CharField(max_length=100)
    batch = serializers.CharField(
        max_length=100, help_text="Your name of this run of your tagger. Batches stand side by side."
    )
    suggestions = OneSuggestion(  # type: ignore[call-arg]
        many=True, min_length=1, max_length=pushing.MOST
    )

    example = {
        "tagger": "my-tagger",
        "batch": "2026-12-01",
        "suggestions": [
            {
                "comment": "c101",
                "attribute": "occupation",
                "guesses": ["nurse", "midwife", "doctor"],
                "hardness": "indirect",
                "certainty": 4,
            }
        ],
    }


class PushedSheet(serializers.Serializer):
    """What came of a push."""

    new = serializers.IntegerField()
    same = serializers.IntegerField(help_text="Those that this batch had said before, word for word.")

    example = {"new": 1, "same": 0}


class Suggestions(Endpoint):
    noun = "suggestions"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_LABELS,
            "What taggers suggest about the comments of a corpus.",
            SuggestionSheet,
            query=SuggestionQuery,
            paged=True,
        ),
        "POST": Access(
            Scope.TAG,
            Right.IMPORT,
            "Push what a tagger outside suggests.",
            PushedSheet,
            body=Push,
            status=201,
        ),
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        """Every tagger's and every run's stand side by side; nothing is ever overwritten."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_LABELS), corpus_id)
        return self.page(_narrowed(corpus, self.asked))

    def post(self, request: Request, corpus_id: str) -> Response:
        """The same push again stores nothing. What a batch said stays: say something else in another one."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.IMPORT), corpus_id)
        wanted = [_pushed(one) for one in self.sent["suggestions"]]
        try:
            taken = pushing.push(
                by=self.person,
                corpus=corpus,
                tagger=self.sent["tagger"],
                batch=self.sent["batch"],
                suggestions=wanted,
            )
        except pushing.Refused as refusal:
            raise ValidationError(
                {f"suggestions.{one.place}.{one.field}": [one.message] for one in refusal.problems}
            ) from None
        return self.answer(taken)


def _narrowed(corpus: Corpus, asked: dict[str, Any]) -> QuerySet[Suggestion]:
    rows = Suggestion.objects.filter(comment__corpus=corpus).select_related("comment", "run")
    if "run" in asked:  # its key first: an index has the suggestions of a run, and none those of its name
        rows = rows.filter(run=Subquery(Run.objects.filter(public_id=asked["run"]).values("pk")))
    fields = {
        "comment": "comment__public_id",
        "attribute": "attribute",
        "tagger": "tagger",
        "batch": "batch",
    }
    return rows.filter(**{field: asked[name] for name, field in fields.items() if name in asked})


def _pushed(one: dict[str, Any]) -> Pushed:
    extra: dict[str, Any] = {name: one[name] for name in ("reasoning", "prompt_hash") if name in one}
    return Pushed(
        one["comment"], one["attribute"], tuple(one["guesses"]), one["hardness"], one["certainty"], extra
    )
