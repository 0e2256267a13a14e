"""What a generator left behind in a comment, and what people changed in comments."""

from __future__ import annotations

from django.db import models

from simulation.models.accounts import User
from simulation.models.identity import PublicIdField
from simulation.models.threads import Comment


class Artefact(models.Model):
    """One place of a comment that one named rule found suspicious, until somebody decides."""

    OPEN, CLEARED, EDITED, WITHDRAWN = "open", "cleared", "edited", "withdrawn"
    STATES = [(state, state) for state in (OPEN, CLEARED, EDITED, WITHDRAWN)]

    public_id = PublicIdField()
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="artefacts", db_index=False)
    rule = models.CharField(max_length=40)
    """Key of the rule (simulation/domain/artefacts)."""
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    """Code points of the text as it was found: [start, end)."""
    excerpt = models.CharField(max_length=300, blank=True)
    """What stood there."""
    state = models.CharField(max_length=10, choices=STATES, default=OPEN)
    found_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["comment", "rule"], name="artefact_once_a_rule"),
            models.CheckConstraint(
                condition=models.Q(state__in=["open", "cleared", "edited", "withdrawn"]),
                name="artefact_state_known",
            ),
        ]
        indexes = [
            models.Index(fields=["comment"], name="artefact_open", condition=models.Q(state="open")),
        ]

    def __str__(self) -> str:
        return f"{self.rule} in comment {self.comment_id}"


class CommentEdit(models.Model):
    """One change of a comment's text by a person. Append-only."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="edits")
    before = models.TextField()
    after = models.TextField()
    reason = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"edit {self.pk} of comment {self.comment_id}"
