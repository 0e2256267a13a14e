"""Label sets, and what models guessed about the authors. All of it is truth, or near it."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.models import LabelSet, Prediction, PredictionRun, ProfileLabel
from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery

ATTRIBUTES = [(key, key) for key in TARGET_KEYS]


class LabelSetSheet(serializers.Serializer):
    """Labels of profiles that were made in one way from one source."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    name = serializers.CharField()
    kind = serializers.CharField()
    policy = serializers.CharField()
    labels = serializers.IntegerField()
    profiles = serializers.IntegerField()
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    example = {
        "id": "s7m2q9x4v3ht",
        "corpus": "k7m2q9x4v3ht",
        "name": "revised",
        "kind": "revised",
        "policy": "minimum_hardness",
        "labels": 679,
        "profiles": 300,
        "version": 1,
        "created_at": "2026-12-01T09:12:44Z",
    }


class ProfileLabelSheet(serializers.Serializer):
    """The label of one attribute of one profile."""

    profile = serializers.CharField(source="profile.public_id")
    profile_external_id = serializers.CharField(source="profile.external_id")
    attribute = serializers.CharField()
    value = serializers.CharField()
    category = serializers.CharField()
    hardness = serializers.IntegerField(allow_null=True)
    certainty = serializers.IntegerField(allow_null=True)
    comment = serializers.CharField(source="comment.public_id", default=None, allow_null=True)

    example = {
        "profile": "p7m2q9x4v3ht",
        "profile_external_id": "pers1",
        "attribute": "occupation",
        "value": "nurse",
        "category": "",
        "hardness": 2,
        "certainty": 4,
        "comment": "k7m2q9x4v3ht",
    }


class PredictionRunSheet(serializers.Serializer):
    """The guesses of one model about the profiles of a corpus."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    name = serializers.CharField()
    model = serializers.CharField()
    family = serializers.CharField()
    parameters = serializers.FloatField(allow_null=True, help_text="Billions; null: not known.")
    origin = serializers.CharField()
    text = serializers.CharField(help_text="plain or anonymised")
    predictions = serializers.IntegerField()
    profiles = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    example = {
        "id": "r7m2q9x4v3ht",
        "corpus": "k7m2q9x4v3ht",
        "name": "my model, plain",
        "model": "my-model",
        "family": "",
        "parameters": None,
        "origin": "asked",
        "text": "plain",
        "predictions": 2400,
        "profiles": 300,
        "created_at": "2026-12-01T09:12:44Z",
    }


class PredictionSheet(serializers.Serializer):
    """A model's guesses for one attribute of one profile, best first."""

    profile = serializers.CharField(source="profile.public_id")
    profile_external_id = serializers.CharField(source="profile.external_id")
    attribute = serializers.CharField()
    outcome = serializers.CharField(help_text="answered, refused, unparsed, error")
    detail = serializers.CharField()
    guesses = serializers.ListField(child=serializers.CharField())
    categories = serializers.ListField(child=serializers.CharField(allow_null=True, allow_blank=True))

    example = {
        "profile": "p7m2q9x4v3ht",
        "profile_external_id": "pers1",
        "attribute": "occupation",
        "outcome": "answered",
        "detail": "",
        "guesses": ["nurse", "midwife", "doctor"],
        "categories": [],
    }


class AttributeQuery(PageQuery):
    attribute = serializers.ChoiceField(choices=ATTRIBUTES, required=False)


class PredictionQuery(AttributeQuery):
    outcome = serializers.ChoiceField(choices=Prediction.OUTCOMES, required=False)


class LabelSets(Endpoint):
    noun = "evaluations"
    access = {
        "GET": Access(
            Scope.READ, Right.SEE_PROFILES, "The label sets of a corpus.", LabelSetSheet, paged=True
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_PROFILES), corpus_id)
        return self.page(LabelSet.objects.filter(corpus=corpus).select_related("corpus"))


class Labels(Endpoint):
    noun = "evaluations"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_PROFILES,
            "The labels of a set.",
            ProfileLabelSheet,
            query=AttributeQuery,
            paged=True,
        )
    }

    def get(self, request: Request, label_set_id: str) -> Response:
        found = self.one(LabelSet.objects.visible_to(self.person), label_set_id)
        rows: QuerySet[ProfileLabel] = found.rows.select_related("profile", "comment")
        if "attribute" in self.asked:
            rows = rows.filter(attribute=self.asked["attribute"])
        return self.page(rows)


class PredictionRuns(Endpoint):
    noun = "evaluations"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_PROFILES,
            "The prediction runs of a corpus.",
            PredictionRunSheet,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_PROFILES), corpus_id)
        return self.page(PredictionRun.objects.filter(corpus=corpus).select_related("corpus"))


class OnePredictionRun(Endpoint):
    noun = "evaluations"
    access = {"GET": Access(Scope.READ, Right.SEE_PROFILES, "One prediction run.", PredictionRunSheet)}

    def get(self, request: Request, run_id: str) -> Response:
        mine = PredictionRun.objects.visible_to(self.person).select_related("corpus")
        return self.answer(self.one(mine, run_id))


class Predictions(Endpoint):
    noun = "evaluations"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_PROFILES,
            "The guesses of a prediction run.",
            PredictionSheet,
            query=PredictionQuery,
            paged=True,
        )
    }

    def get(self, request: Request, run_id: str) -> Response:
        """What was refused, could not be read or failed is a row, too; it has no guesses."""
        found = self.one(PredictionRun.objects.visible_to(self.person), run_id)
        rows: QuerySet[Prediction] = found.rows.select_related("profile")
        for name in ("attribute", "outcome"):
            if name in self.asked:
                rows = rows.filter(**{name: self.asked[name]})
        return self.page(rows)
