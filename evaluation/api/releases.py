"""Releases: asked for, read, withdrawn, compared, and their files."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.exchange import release_differences, release_reading, releases
from evaluation.models import Release
from evaluation.services import releases as later
from evaluation.services.releases import Refused
from evaluation.tasks import make_difference, make_release
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.domain.typed import NotConfirmed
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.strict import PublicId, Strict
from simulation.rest.telling import tell


class ReleaseSheet(serializers.Serializer):
    """A release. `digest` is the SHA-256 of its manifest: what a citation can be checked by."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    licence = serializers.CharField()
    query = serializers.JSONField()
    policy = serializers.CharField()
    agreeing = serializers.IntegerField(allow_null=True)
    state = serializers.CharField(help_text="queued, running, ready, failed")
    reason = serializers.CharField()
    digest = serializers.CharField()
    size = serializers.IntegerField()
    doi = serializers.CharField()
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    notice = serializers.CharField(help_text="Why it was withdrawn, and what to use instead.")

    example = {
        "id": "e7m2q9x4v3ht",
        "corpus": "k7m2q9x4v3ht",
        "name": "1.0",
        "title": "Winter threads",
        "description": "",
        "licence": "CC BY-NC-SA 4.0",
        "query": {"reviewed_only": True},
        "policy": "adjudicated",
        "agreeing": None,
        "state": "ready",
        "reason": "",
        "digest": "9f2c" * 16,
        "size": 1_204_331,
        "doi": "",
        "created_at": "2026-12-01T09:12:44Z",
        "withdrawn_at": None,
        "notice": "",
    }


class FileSheet(serializers.Serializer):
    """One file of a release, as its manifest has it. `rows` is null where it has none."""

    name = serializers.CharField()
    size = serializers.IntegerField()
    rows = serializers.IntegerField(allow_null=True)
    sha256 = serializers.CharField()


class ReleaseFilesSheet(serializers.Serializer):
    """All files of a release that is ready; none of one that is not."""

    files = FileSheet(many=True)

    example = {
        "files": [{"name": "labels.jsonl", "size": 20_331, "rows": 96, "sha256": "1c0d" * 16}],
    }


class ReleaseMaking(Strict):
    """What is released, and what counts as a label."""

    name = serializers.CharField(max_length=40, help_text="What people cite: 1.0, 2026-12.")
    title = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    description = serializers.CharField(max_length=20_000, required=False, default="", allow_blank=True)
    licence = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    query = serializers.DictField(
        required=False, default=dict, help_text="reviewed_only, attributes, queues, sources, threads, …"
    )
    policy = serializers.ChoiceField(choices=Release.POLICIES, default=Release.ADJUDICATED)
    agreeing = serializers.IntegerField(
        min_value=1, max_value=100, required=False, allow_null=True, default=None
    )

    example = {"name": "1.0", "policy": "agreeing", "agreeing": 2, "query": {"reviewed_only": True}}


class Withdrawing(Strict):
    notice = serializers.CharField(
        max_length=2000, help_text="Why, and what to use instead: everybody who has the release reads it."
    )
    confirm = serializers.CharField(max_length=40, help_text="The name of the release.")

    example = {"notice": "Two threads were doubled; use 1.1.", "confirm": "1.0"}


class Comparing(Strict):
    other = PublicId(help_text="Public id of the older release of the same corpus.")

    example = {"other": "e2m2q9x4v3ht"}


class DifferenceSheet(serializers.Serializer):
    """What differs between two releases, by table; `counts` is null until a worker has counted."""

    old = serializers.CharField(source="old.public_id")
    new = serializers.CharField(source="new.public_id")
    counts = serializers.JSONField(allow_null=True)
    problem = serializers.CharField()

    example = {
        "old": "e2m2q9x4v3ht",
        "new": "e7m2q9x4v3ht",
        "counts": {"labels": {"added": 12, "removed": 0, "relabelled": 3, "same": 81}},
        "problem": "",
    }


def _mine(endpoint: Endpoint) -> QuerySet[Release]:
    return Release.objects.visible_to(endpoint.person).select_related("corpus")


class Releases(Endpoint):
    noun = "releases"
    refusals = {Refused: 409}
    access = {
        "GET": Access(Scope.READ, Right.EXPORT, "The releases of a corpus.", ReleaseSheet, paged=True),
        "POST": Access(
            Scope.RELEASE,
            Right.EXPORT,
            "Make a release.",
            ReleaseSheet,
            body=ReleaseMaking,
            status=202,
            also=(409,),
        ),
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.EXPORT), corpus_id)
        return self.page(Release.objects.filter(corpus=corpus).select_related("corpus"), order=("-id",))

    def post(self, request: Request, corpus_id: str) -> Response:
        """A worker writes its files; ask for its state until it is ready or failed. 409 names the field where
        it cannot be made so: a name that is taken, a filter that leaves nothing."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.EXPORT), corpus_id)
        made = releases.ask(by=self.person, corpus=corpus, **self.sent)
        tell(make_release, made.pk)
        return self.answer(made, headers={"Location": reverse("api_release", args=[made.public_id])})


class OneRelease(Endpoint):
    noun = "releases"
    access = {"GET": Access(Scope.READ, Right.EXPORT, "One release.", ReleaseSheet)}

    def get(self, request: Request, release_id: str) -> Response:
        return self.answer(self.one(_mine(self), release_id))


class ReleaseFiles(Endpoint):
    noun = "releases"
    access = {"GET": Access(Scope.READ, Right.EXPORT, "The files of a release.", ReleaseFilesSheet)}

    def get(self, request: Request, release_id: str) -> Response:
        return self.answer({"files": release_reading.files(self.one(_mine(self), release_id))})


class OneReleaseFile(Endpoint):
    """The bytes of one file. Not JSON, so it stands beside the description: docs/api.md has it."""

    noun = "releases"
    hidden = True
    access = {"GET": Access(Scope.READ, Right.EXPORT, "One file of a release.")}

    def get(self, request: Request, release_id: str, name: str) -> HttpResponseBase:
        path = release_reading.path_of(self.one(_mine(self), release_id), name)
        if path is None:
            raise Http404
        answer = StreamingHttpResponse(release_reading.pieces(path), content_type="application/octet-stream")
        answer["Content-Disposition"] = f'attachment; filename="{path.name}"'
        answer["Content-Length"] = str(path.stat().st_size)
        answer["X-Accel-Buffering"] = "no"
        return answer


class Withdrawals(Endpoint):
    noun = "releases"
    refusals = {Refused: 409, NotConfirmed: 409}
    access = {
        "POST": Access(
            Scope.RELEASE,
            Right.EXPORT,
            "Withdraw a release.",
            ReleaseSheet,
            body=Withdrawing,
            also=(409,),
        )
    }

    def post(self, request: Request, release_id: str) -> Response:
        """Its files stay as they are; everybody who opens it reads the notice. There is no way back."""
        release = self.one(_mine(self), release_id)
        later.withdraw(release, by=self.person, notice=self.sent["notice"], typed=self.sent["confirm"])
        return self.answer(self.one(_mine(self), release_id))


class Differences(Endpoint):
    noun = "releases"
    refusals = {Refused: 409}
    access = {
        "POST": Access(
            Scope.READ,
            Right.EXPORT,
            "Compare a release with an older one.",
            DifferenceSheet,
            body=Comparing,
            also=(409,),
        )
    }

    def post(self, request: Request, release_id: str) -> Response:
        """Counted once by a worker: ask again until `counts` is there."""
        new = self.one(_mine(self), release_id)
        old = self.one(_mine(self), self.sent["other"])
        one = release_differences.ask(by=self.person, old=old, new=new)
        if one.counts is None:
            tell(make_difference, one.pk)
        return self.answer(one)
