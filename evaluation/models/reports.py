"""What was counted, kept until what it was counted from has changed; and numbers to compare it with."""

from __future__ import annotations

from django.db import models

from simulation.domain.roles import Right
from simulation.models import Corpus, PublicIdField, User


class Report(models.Model):
    """The numbers of one page: counted by a worker, read by everybody.

    It is out of date where `stamp` is not the one of the rows as they are now (see the service that makes
    reports of its kind); it is shown all the same, and says so.
    """

    BOARD, LABELS, DIVERSITY, MASKING = "board", "labels", "diversity", "masking"
    KINDS = [
        (BOARD, "leaderboard"),
        (LABELS, "label quality"),
        (DIVERSITY, "diversity"),
        (MASKING, "masking"),
    ]

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="reports", db_index=False)
    kind = models.CharField(max_length=10, choices=KINDS)
    key = models.CharField(max_length=64)
    """SHA-256 of the parameters."""
    parameters = models.JSONField(default=dict)
    content = models.JSONField(null=True)
    """NULL: asked for and not counted yet."""
    stamp = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True)
    """Why it could not be counted."""
    asked_at = models.DateTimeField(null=True, blank=True)
    """When it was last asked for; NULL once it was counted for that."""
    made_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["corpus", "kind", "key"], name="report_once")]
        indexes = [models.Index(fields=["asked_at"], name="report_asked")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.corpus_id}"


class ReferenceQuerySet(models.QuerySet["Reference"]):
    def visible_to(self, person: User) -> ReferenceQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.SEE_PROFILES))


class Reference(models.Model):
    """Accuracies from elsewhere, such as a paper's table, that a leaderboard is put beside."""

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="references", db_index=False)
    name = models.CharField(max_length=120)
    values = models.JSONField(default=dict)
    """Attribute key, or "" for all attributes, -> {"value": share from 0 to 1, "n": items or null}."""
    note = models.CharField(max_length=500, blank=True)
    """Where it comes from."""
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReferenceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["corpus", "name"], name="reference_name_once")]

    def __str__(self) -> str:
        return self.name
