"""A file on its way into a corpus, and what became of it."""

from __future__ import annotations

from django.db import models

from simulation.domain.roles import Right
from simulation.models import Corpus, PublicIdField, User


class DataImportQuerySet(models.QuerySet["DataImport"]):
    def visible_to(self, person: User) -> DataImportQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.IMPORT))


class DataImport(models.Model):
    """Terminal states (done, invalid, failed, cancelled) are final; another try is another row. One that is
    done may be undone, which is final, too."""

    QUEUED, RUNNING, DONE, INVALID, FAILED = "queued", "running", "done", "invalid", "failed"
    CANCELLED, UNDONE = "cancelled", "undone"
    WAITING = (QUEUED, RUNNING)
    STATES = [(state, state) for state in (QUEUED, RUNNING, DONE, INVALID, FAILED, CANCELLED, UNDONE)]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="imports")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=200)
    path = models.CharField(max_length=500)
    """Where the upload lies, below MEDIA_ROOT."""
    dry_run = models.BooleanField(default=False)
    options = models.JSONField(default=dict, blank=True)
    """How a foreign table is read: {mapping: {field of ours: column}, ...}; empty for known layouts."""
    size = models.PositiveBigIntegerField(default=0)
    """Bytes of the upload as it lies on the disk."""
    state = models.CharField(max_length=10, choices=STATES, default=QUEUED)
    counts = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    """Somebody wants it to stop; the worker looks here between batches."""
    made = models.JSONField(default=dict, blank=True)
    """Keys of the rows that it made, as ranges: {"simulation.comment": [[first, last], ...]}."""
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    objects = DataImportQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"

    @property
    def is_being_undone(self) -> bool:
        """Somebody has asked for it, and no worker has done or refused it yet."""
        return self.state == self.DONE and self.undone_by_id is not None


class ImportChange(models.Model):
    """A row that was there before an import changed it, as it was: what an undo gives back."""

    data_import = models.ForeignKey(
        DataImport, on_delete=models.CASCADE, related_name="changes", db_index=False
    )
    model = models.CharField(max_length=60)
    """As "simulation.comment"."""
    row = models.BigIntegerField()
    before = models.JSONField()
    """Field -> value, of the fields that changed."""
    after = models.JSONField()
    """The same as the import left them: a row that has changed since is not touched by an undo."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["data_import", "model", "row"], name="import_change_once")
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.row} in import {self.data_import_id}"


class ColumnMapping(models.Model):
    """Which column of a foreign table stands for which field of ours, remembered for the next such file."""

    public_id = PublicIdField()
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, related_name="column_mappings", db_index=False
    )
    name = models.CharField(max_length=80)
    columns = models.JSONField()
    """Names of the columns of the file that it was made for, in order."""
    key = models.CharField(max_length=64)
    """SHA-256 of the sorted columns: a file with the same ones finds it."""
    mapping = models.JSONField()
    """Field of ours -> column, or {"constant": value}."""
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-used_at"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="column_mapping_name_once"),
        ]
        indexes = [models.Index(fields=["corpus", "key"], name="column_mapping_of_columns")]

    def __str__(self) -> str:
        return self.name
