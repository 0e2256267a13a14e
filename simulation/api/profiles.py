"""Profiles: the truth about the authors of a corpus, for those who may see it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.domain.attributes import CATALOGUE
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus, Profile
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.paging import PageQuery
from simulation.selectors import listings


class ProfileSheet(serializers.Serializer):
    """A profile. `facts` maps keys of the catalogue of attributes to values as they came."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    external_id = serializers.CharField()
    username = serializers.CharField()
    facts = serializers.JSONField()
    style = serializers.CharField()  # type: ignore[assignment]
    state = serializers.ChoiceField(choices=Profile.STATES)
    source = serializers.ChoiceField(choices=Profile.SOURCES)  # type: ignore[assignment]
    version = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.JSONField())
    run = serializers.CharField(source="run.public_id", allow_null=True, default=None)
    created_at = serializers.DateTimeField()

    example = {
        "id": "h4v9q2t7m5dx",
        "corpus": "k7m2q9x4v3ht",
        "external_id": "pers12",
        "username": "NightOwl",
        "facts": {"age": 34, "sex": "female", "occupation": "nurse"},
        "style": "Short sentences, dry humour.",
        "state": "approved",
        "source": "generated",
        "version": 1,
        "warnings": [],
        "run": None,
        "created_at": "2026-11-29T18:02:31Z",
    }


class ProfilesQuery(PageQuery):
    state = serializers.ChoiceField(choices=Profile.STATES, required=False)
    source = serializers.ChoiceField(choices=Profile.SOURCES, required=False)  # type: ignore[assignment]
    username = serializers.CharField(max_length=100, required=False)
    attribute = serializers.ChoiceField(
        choices=[(key, one.label) for key, one in CATALOGUE.items()],
        required=False,
        help_text="With `value`: whose fact of that attribute it is, whatever its capitals.",
    )
    value = serializers.CharField(max_length=200, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("attribute" in attrs) != ("value" in attrs):
            missing = "value" if "attribute" in attrs else "attribute"
            raise serializers.ValidationError({missing: ["Give attribute and value together."]})
        return attrs


class Profiles(Endpoint):
    noun = "profiles"
    access = {
        "GET": Access(
            Scope.READ,
            Right.SEE_PROFILES,
            "The profiles of a corpus.",
            ProfileSheet,
            query=ProfilesQuery,
            paged=True,
        )
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.SEE_PROFILES), corpus_id)
        return self.page(listings.profiles_in(self.person, corpus, self.asked))


class OneProfile(Endpoint):
    noun = "profiles"
    access = {"GET": Access(Scope.READ, Right.SEE_PROFILES, "One profile.", ProfileSheet)}

    def get(self, request: Request, profile_id: str) -> Response:
        seen = Profile.objects.visible_to(self.person).select_related("corpus", "run")
        return self.answer(self.one(seen.defer("run__plan"), profile_id))
