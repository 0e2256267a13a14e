"""Corpora: those that one may browse, one of them, a new one."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.urls import reverse
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.problems import Conflict
from simulation.rest.strict import Strict
from simulation.selectors import corpora, threads
from simulation.services.corpora import DEFAULT_LANGUAGE, create_corpus, languages


class CorpusSheet(serializers.Serializer):
    """A corpus and how much is in it."""

    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    description = serializers.CharField()
    licence = serializers.CharField()
    language = serializers.CharField()
    created_at = serializers.DateTimeField()
    threads = serializers.IntegerField(source="n_threads")
    comments = serializers.IntegerField(source="n_comments")

    example = {
        "id": "k7m2q9x4v3ht",
        "name": "winter",
        "description": "Threads of the winter term.",
        "licence": "CC BY-NC-SA 4.0",
        "language": "en",
        "created_at": "2026-11-30T09:12:44Z",
        "threads": 103,
        "comments": 7823,
    }


class CorpusMaking(Strict):
    """A new corpus; it is empty at first."""

    name = serializers.CharField(max_length=80)
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    licence = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    language = serializers.ChoiceField(choices=languages(), default=DEFAULT_LANGUAGE)

    example = {"name": "winter", "licence": "CC BY-NC-SA 4.0", "language": "en"}


class Corpora(Endpoint):
    noun = "corpora"
    access = {
        "GET": Access(Scope.READ, Right.BROWSE, "The corpora that you may browse.", CorpusSheet, paged=True),
        "POST": Access(
            Scope.MANAGE,
            corpora.MAKING,
            "Make a corpus.",
            CorpusSheet,
            body=CorpusMaking,
            status=201,
            also=(409,),
        ),
    }

    def get(self, request: Request) -> Response:
        return self.page(threads.corpora(self.person))

    def post(self, request: Request) -> Response:
        """Takes a role in the whole installation: a corpus is in no corpus."""
        if not corpora.may_make(self.person):
            raise PermissionDenied(
                "Only who may import or start runs in the whole installation makes a corpus."
            )
        try:
            with transaction.atomic():
                made = create_corpus(by=self.person, **self.sent)
        except IntegrityError:
            raise Conflict("There is a corpus of this name already, perhaps in the trash.") from None
        found: Corpus = threads.corpora(self.person).get(pk=made.pk)
        return self.answer(found, headers={"Location": reverse("api_corpus", args=[found.public_id])})


class OneCorpus(Endpoint):
    noun = "corpora"
    access = {"GET": Access(Scope.READ, Right.BROWSE, "One corpus.", CorpusSheet)}

    def get(self, request: Request, corpus_id: str) -> Response:
        return self.answer(self.one(threads.corpora(self.person), corpus_id))
