"""What adjudicators settle, and the answers that are known beforehand."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.domain.labels import State
from annotation.models.annotations import in_scale
from annotation.models.queue import Item
from simulation.models import User


class Decision(models.Model):
    """The adjudicated label of one attribute of one item. A change adds a DecisionEvent."""

    REASONS = [
        ("unanimous", "the annotators agree"),
        ("ambiguous", "the text is ambiguous"),
        ("guideline", "the guidelines leave it open"),
        ("slip", "a slip of an annotator"),
        ("edge", "an edge case"),
        ("subjective", "a matter of judgement"),
    ]

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="decisions", db_index=False)
    attribute = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=[(state.value, state.value) for state in State])
    value = models.CharField(max_length=1000, blank=True)
    hardness = models.PositiveSmallIntegerField(null=True, blank=True)
    certainty = models.PositiveSmallIntegerField(null=True, blank=True)
    evidence = models.JSONField(default=list, blank=True)
    reason = models.CharField(max_length=12, choices=REASONS)
    note = models.CharField(max_length=500, blank=True)
    guideline_gap = models.BooleanField(default=False)
    """The guidelines should be changed because of this."""
    bulk = models.BooleanField(default=False)
    saw_model = models.BooleanField(default=False)
    """The model's column was open when it was decided."""
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "attribute"], name="decision_once"),
            models.CheckConstraint(condition=in_scale("hardness"), name="decision_hardness_1_5"),
            models.CheckConstraint(condition=in_scale("certainty"), name="decision_certainty_1_5"),
            models.CheckConstraint(condition=~Q(state="value") | ~Q(value=""), name="decision_has_value"),
        ]

    def __str__(self) -> str:
        return f"{self.attribute}: {self.state} {self.value}"


class DecisionEvent(models.Model):
    """One change of one decision. Append-only: the database refuses updates and deletions."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="decision_events", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    attribute = models.CharField(max_length=40)
    old = models.JSONField(null=True)
    new = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["item", "id"], name="decision_event_in_order")]

    def __str__(self) -> str:
        return f"{self.attribute} of item {self.item_id}"


class Gold(models.Model):
    """The known answer to an item: attribute key -> {"state", "value", "hardness", "certainty"}.

    Attributes that are not in it are not checked.
    """

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="gold_answer")
    labels = models.JSONField()
    why = models.CharField(max_length=500, blank=True)
    """What a person who slipped should know."""
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"gold of {self.item_id}"
