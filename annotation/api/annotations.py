"""What people said about comments, and what adjudicators decided."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Prefetch, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.exchange.chunks import Pseudonyms
from annotation.models import Annotation, AttributeLabel, Decision, Queue
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.rest.strict import PublicId

Row = TypeVar("Row", Annotation, Decision)


class LabelSheet(serializers.Serializer):
    attribute = serializers.CharField()
    state = serializers.CharField()
    outcome = serializers.CharField()
    value = serializers.CharField()
    hardness = serializers.IntegerField(allow_null=True)
    certainty = serializers.IntegerField(allow_null=True)
    evidence = serializers.JSONField()
    bulk = serializers.BooleanField()


class AnnotationSheet(serializers.Serializer):
    """One person's, or one imported reviewer's, word on a comment. People appear under pseudonyms, as in
    exports and releases."""

    id = serializers.CharField(source="public_id")
    comment = serializers.CharField(source="comment.public_id")
    comment_external_id = serializers.CharField(source="comment.external_id")
    queue = serializers.CharField(source="item.queue.public_id", default=None, allow_null=True)
    reviewer = serializers.SerializerMethodField()
    version = serializers.IntegerField()
    over_quota = serializers.BooleanField()
    arm = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    active_ms = serializers.IntegerField()
    labels = serializers.SerializerMethodField()

    example = {
        "id": "a7m2q9x4v3ht",
        "comment": "k7m2q9x4v3ht",
        "comment_external_id": "c101",
        "queue": "q7m2q9x4v3ht",
        "reviewer": "a1",
        "version": 1,
        "over_quota": False,
        "arm": "assisted",
        "submitted_at": "2026-12-01T09:12:44Z",
        "active_ms": 21_500,
        "labels": [
            {
                "attribute": "occupation",
                "state": "value",
                "outcome": "confirmed",
                "value": "nurse",
                "hardness": 2,
                "certainty": 4,
                "evidence": [],
                "bulk": False,
            }
        ],
    }

    def get_reviewer(self, row: Annotation) -> str:
        names: Pseudonyms = self.context["names"]
        return names.reviewer(row)

    def get_labels(self, row: Annotation) -> list[dict[str, Any]]:
        return list(LabelSheet(row.labels.all(), many=True).data)


class AnnotationQuery(PageQuery):
    comment = PublicId(required=False, help_text="Public id of a comment.")
    queue = PublicId(required=False, help_text="Public id of a queue.")


class Annotations(Endpoint):
    noun = "annotations"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_LABELS,
            "What people said about the comments of a corpus.",
            AnnotationSheet,
            query=AnnotationQuery,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_LABELS), corpus_id)
        labels = Prefetch("labels", AttributeLabel.objects.order_by("pk"))
        rows = Annotation.objects.filter(comment__corpus=corpus)
        rows = rows.select_related("comment", "item__queue").prefetch_related(labels)
        if "comment" in self.asked:
            rows = rows.filter(comment__public_id=self.asked["comment"])
        if "queue" in self.asked:
            rows = _of_queue(rows, corpus, self.asked["queue"])
        return self.page(rows, names=Pseudonyms.of(corpus))


class DecisionSheet(serializers.Serializer):
    """The adjudicated label of one attribute of one comment in one queue."""

    comment = serializers.CharField(source="item.comment.public_id")
    comment_external_id = serializers.CharField(source="item.comment.external_id")
    queue = serializers.CharField(source="item.queue.public_id")
    attribute = serializers.CharField()
    state = serializers.CharField()
    value = serializers.CharField()
    hardness = serializers.IntegerField(allow_null=True)
    certainty = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    at = serializers.DateTimeField()

    example = {
        "comment": "k7m2q9x4v3ht",
        "comment_external_id": "c101",
        "queue": "q7m2q9x4v3ht",
        "attribute": "occupation",
        "state": "value",
        "value": "nurse",
        "hardness": 2,
        "certainty": 4,
        "reason": "unanimous",
        "at": "2026-12-01T09:12:44Z",
    }


class DecisionQuery(PageQuery):
    queue = PublicId(required=False, help_text="Public id of a queue.")
    attribute = serializers.ChoiceField(choices=[(key, key) for key in TARGET_KEYS], required=False)


class Decisions(Endpoint):
    noun = "annotations"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_LABELS,
            "What adjudicators decided.",
            DecisionSheet,
            query=DecisionQuery,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_LABELS), corpus_id)
        rows = Decision.objects.filter(item__queue__corpus=corpus).select_related(
            "item__comment", "item__queue"
        )
        if "queue" in self.asked:
            rows = _of_queue(rows, corpus, self.asked["queue"])
        if "attribute" in self.asked:
            rows = rows.filter(attribute=self.asked["attribute"])
        return self.page(rows)


def _of_queue(rows: QuerySet[Row], corpus: Corpus, public_id: str) -> QuerySet[Row]:
    """Those of one queue, by its key: by its public id PostgreSQL would go through all rows of the corpus."""
    key = Queue.objects.filter(corpus=corpus, public_id=public_id).values_list("pk", flat=True).first()
    return rows.none() if key is None else rows.filter(item__queue=key)
