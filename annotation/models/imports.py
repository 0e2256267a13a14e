"""A file on its way into a corpus, and what became of it."""

from __future__ import annotations

from django.db import models

from simulation.domain.roles import Right
from simulation.models import Corpus, PublicIdField, User


class DataImportQuerySet(models.QuerySet["DataImport"]):
    def visible_to(self, person: User) -> DataImportQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.IMPORT))


class DataImport(models.Model):
    """Terminal states (done, invalid, failed) are final; another try is another row."""

    QUEUED, RUNNING, DONE, INVALID, FAILED = "queued", "running", "done", "invalid", "failed"
    STATES = [(state, state) for state in (QUEUED, RUNNING, DONE, INVALID, FAILED)]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="imports")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=200)
    path = models.CharField(max_length=500)
    """Where the upload lies, below MEDIA_ROOT."""
    dry_run = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=STATES, default=QUEUED)
    counts = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = DataImportQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"
