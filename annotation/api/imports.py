"""Files on their way into a corpus."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpResponseBase
from django.urls import reverse
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.domain.column_mapping import faults
from annotation.exchange import undoing, upload_columns, uploads
from annotation.models import DataImport
from annotation.tasks import run_import, run_undo
from simulation.domain.roles import Right
from simulation.domain.scopes import Scope
from simulation.domain.typed import NotConfirmed
from simulation.models import Corpus
from simulation.rest.access import Access
from simulation.rest.endpoints import Endpoint
from simulation.rest.strict import Strict
from simulation.rest.telling import tell


class ImportSheet(serializers.Serializer):
    """A file and what became of it. `counts` says per kind what was new, changed, the same, invalid."""

    id = serializers.CharField(source="public_id")
    corpus = serializers.CharField(source="corpus.public_id")
    file_name = serializers.CharField()
    dry_run = serializers.BooleanField()
    state = serializers.CharField()
    asks_for_columns = serializers.SerializerMethodField(
        help_text="A foreign table waits until it is said what its columns stand for."
    )
    is_being_undone = serializers.BooleanField(
        help_text="It is done, and somebody has asked to undo it; what stands in the way is the reason."
    )
    reason = serializers.CharField()
    counts = serializers.JSONField()
    problems = serializers.JSONField(help_text="The first hundred: {file, line, field, message}.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    example = {
        "id": "m7m2q9x4v3ht",
        "corpus": "k7m2q9x4v3ht",
        "file_name": "rows.jsonl",
        "dry_run": False,
        "state": "done",
        "asks_for_columns": False,
        "is_being_undone": False,
        "reason": "",
        "counts": {"rows": [{"kind": "comments", "new": 12, "changed": 0, "same": 0, "invalid": 0}]},
        "problems": [],
        "created_at": "2026-12-01T09:12:44Z",
        "finished_at": "2026-12-01T09:12:46Z",
    }

    def get_asks_for_columns(self, one: DataImport) -> bool:
        return one.state == DataImport.QUEUED and uploads.ASKS in one.options


class Sending(Strict):
    """A file in one of the layouts of the import page, plain or .gz."""

    file = serializers.FileField(max_length=200)
    dry_run = serializers.BooleanField(default=False, help_text="Only look: report what would change.")

    def validate_file(self, file: Any) -> Any:
        if (file.size or 0) > settings.UPLOAD_LIMIT_MB * 1024 * 1024:
            raise serializers.ValidationError(
                f"At most {settings.UPLOAD_LIMIT_MB} MB are taken. Split it, or pack it with gzip."
            )
        return file


class Imports(Endpoint):
    noun = "imports"
    access = {
        "GET": Access(
            Scope.READ, Right.IMPORT, "The files that were sent into a corpus.", ImportSheet, paged=True
        ),
        "POST": Access(
            Scope.IMPORT,
            Right.IMPORT,
            "Send a file into a corpus.",
            ImportSheet,
            body=Sending,
            upload=True,
            status=202,
        ),
    }

    def get(self, request: Request, corpus_id: str) -> Response:
        corpus = self.one(Corpus.objects.with_right(self.person, Right.IMPORT), corpus_id)
        return self.page(DataImport.objects.filter(corpus=corpus).select_related("corpus"), order=("-id",))

    def post(self, request: Request, corpus_id: str) -> Response:
        """A worker imports it as a whole or not at all; ask for its state until it is done or invalid."""
        corpus = self.one(Corpus.objects.with_right(self.person, Right.IMPORT), corpus_id)
        try:
            one = uploads.receive(
                by=self.person, corpus=corpus, file=self.sent["file"], dry_run=self.sent["dry_run"]
            )
        except uploads.NameTooLong as error:
            raise ValidationError({"file": [str(error)]}) from None
        tell(run_import, one.pk)
        return self.answer(one, headers={"Location": reverse("api_import", args=[one.public_id])})


class OneImport(Endpoint):
    noun = "imports"
    access = {"GET": Access(Scope.READ, Right.IMPORT, "One file and what became of it.", ImportSheet)}

    def get(self, request: Request, import_id: str) -> Response:
        mine = DataImport.objects.visible_to(self.person).select_related("corpus")
        return self.answer(self.one(mine, import_id))


class Cancels(Endpoint):
    noun = "imports"
    refusals = {uploads.NotPossible: 409}
    access = {
        "POST": Access(
            Scope.IMPORT,
            Right.IMPORT,
            "Stop an import that waits or runs.",
            ImportSheet,
            status=202,
            also=(409,),
        )
    }

    def post(self, request: Request, import_id: str) -> Response:
        """Nothing of it is kept. One that runs stops at its next batch."""
        mine = DataImport.objects.visible_to(self.person).select_related("corpus")
        one = self.one(mine, import_id)
        uploads.cancel(by=self.person, one=one)
        return self.answer(self.one(mine, import_id))


class Undoing(Strict):
    confirm = serializers.CharField(max_length=200, help_text="The name of the file.")

    example = {"confirm": "rows.jsonl"}


class Undos(Endpoint):
    noun = "imports"
    refusals = {undoing.NotPossible: 409, NotConfirmed: 409}
    access = {
        "POST": Access(
            Scope.IMPORT,
            Right.IMPORT,
            "Undo an import as a whole.",
            ImportSheet,
            body=Undoing,
            status=202,
            also=(409,),
        )
    }

    def post(self, request: Request, import_id: str) -> Response:
        """What it made goes, what it changed is again what it was. 409 says what was built on it meanwhile;
        nothing is changed then."""
        mine = DataImport.objects.visible_to(self.person).select_related("corpus")
        one = self.one(mine, import_id)
        undoing.ask(by=self.person, one=one, typed=self.sent["confirm"])
        tell(run_undo, one.pk)
        return self.answer(self.one(mine, import_id))


class ColumnsSheet(serializers.Serializer):
    """The columns of a foreign table, its first rows, and what they seem to stand for: the field of ours ->
    the name of a column, or {"constant": a value}."""

    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField(allow_blank=True)))
    mapping = serializers.JSONField()

    example = {
        "columns": ["body", "user"],
        "rows": [["I take the night bus home.", "NightOwl"]],
        "mapping": {"text": "body", "username": "user", "thread_id": {"constant": "forum"}},
    }


class Mapped(Strict):
    """What the columns stand for. With `remember_as` the next file with the same columns finds it."""

    mapping = serializers.DictField()
    dry_run = serializers.BooleanField(
        required=False, help_text="Only look. Not given: as was said when the file that waits was sent."
    )
    remember_as = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)

    example = {"mapping": {"text": "body", "username": "user", "thread_id": {"constant": "forum"}}}


class Columns(Endpoint):
    noun = "imports"
    refusals = {uploads.NotPossible: 409}
    access = {
        "GET": Access(Scope.READ, Right.IMPORT, "The columns of a foreign table.", ColumnsSheet, also=(409,)),
        "POST": Access(
            Scope.IMPORT,
            Right.IMPORT,
            "Say what the columns stand for, and import by that.",
            ImportSheet,
            body=Mapped,
            status=202,
            also=(409,),
        ),
    }

    def get(self, request: Request, import_id: str) -> Response:
        """What is remembered for such columns, else a proposal. 409 for a file in a layout of ours."""
        found = upload_columns.question(self.seen(import_id))
        described = found.described
        return self.answer(
            {"columns": described.columns, "rows": described.rows, "mapping": dict(found.mapping)}
        )

    def post(self, request: Request, import_id: str) -> Response:
        """The import that waited begins; one that is over is done anew by this mapping, as another import."""
        one = self.seen(import_id)
        columns = upload_columns.question(one).described.columns
        if wrong := faults(self.sent["mapping"], columns):
            raise ValidationError({f"mapping.{fault.field}": [fault.message] for fault in wrong})
        begun = upload_columns.explain(
            by=self.person,
            one=one,
            columns=columns,
            mapping=self.sent["mapping"],
            dry_run=self.sent.get("dry_run", one.dry_run and uploads.ASKS in one.options),
            name=self.sent["remember_as"].strip(),
        )
        tell(run_import, begun.pk)
        return self.answer(begun, headers={"Location": reverse("api_import", args=[begun.public_id])})

    def seen(self, import_id: str) -> DataImport:
        return self.one(DataImport.objects.visible_to(self.person).select_related("corpus"), import_id)


class ImportProblems(Endpoint):
    """Every problem of a file as CSV. Not JSON, so it stands beside the description: docs/api.md has it."""

    noun = "imports"
    hidden = True
    access = {"GET": Access(Scope.READ, Right.IMPORT, "Every problem of a file.")}

    def get(self, request: Request, import_id: str) -> HttpResponseBase:
        one = self.one(DataImport.objects.visible_to(self.person), import_id)
        if not uploads.has_problem_file(one):
            raise Http404
        name = f"{one.public_id}.problems.csv"
        return FileResponse(uploads.problem_file(one).open("rb"), as_attachment=True, filename=name)
