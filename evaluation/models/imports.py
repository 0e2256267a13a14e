"""A file of results on its way in, and what became of it."""

from __future__ import annotations

from django.db import models

from simulation.domain.roles import Right
from simulation.models import Corpus, PublicIdField, User


class ResultImportQuerySet(models.QuerySet["ResultImport"]):
    def visible_to(self, person: User) -> ResultImportQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.EVALUATE))


class ResultImport(models.Model):
    """An upload of labels or predictions. Terminal states are final; another try is another row."""

    QUEUED, RUNNING, DONE, INVALID, FAILED = "queued", "running", "done", "invalid", "failed"
    STATES = [(state, state) for state in (QUEUED, RUNNING, DONE, INVALID, FAILED)]
    LABELS, PREDICTIONS = "labels", "predictions"
    KINDS = [(LABELS, "labels of profiles"), (PREDICTIONS, "predictions of a model")]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="result_imports")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=KINDS)
    options = models.JSONField(default=dict)
    """As the form gave them: model, label set, whether unreadable lines are skipped."""
    file_name = models.CharField(max_length=200)
    path = models.CharField(max_length=500)
    """Where the upload lies, below MEDIA_ROOT."""
    state = models.CharField(max_length=10, choices=STATES, default=QUEUED)
    counts = models.JSONField(default=list)
    """What was made: {kind, name, rows}."""
    problems = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ResultImportQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"
