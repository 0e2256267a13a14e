"""One person's verified view of one comment, attribute by attribute, and every change of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.domain.labels import Outcome, State
from annotation.models.queue import Guideline, Item
from annotation.models.suggestions import Suggestion
from simulation.models import Comment, PublicIdField, User


class Annotation(models.Model):
    """Exactly one of `person` (someone here) and `reviewer` (a key of an import) says who.

    `active_ms` counts the time in which the page was visible and the person not idle; `extra` keeps what
    an import carried beyond the model, as the float `timestamp` and `time`.
    """

    ARMS = [("assisted", "assisted"), ("blind", "blind first"), ("unassisted", "without suggestions")]

    public_id = PublicIdField()
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="annotations")
    item = models.ForeignKey(
        Item, on_delete=models.SET_NULL, null=True, blank=True, related_name="annotations"
    )
    person = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="annotations"
    )
    reviewer = models.CharField(max_length=100, blank=True)
    version = models.PositiveIntegerField(default=1)
    over_quota = models.BooleanField(default=False)
    """More answers than the queue wanted: kept, and left out of the default metrics."""
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveBigIntegerField(default=0)
    wall_ms = models.PositiveBigIntegerField(default=0)
    """From opening to submitting by the clock, whatever happened in between."""
    note = models.TextField(blank=True)
    arm = models.CharField(max_length=10, choices=ARMS, blank=True)
    """How it was answered: beside the suggestions, once before seeing them (see FirstAnswer), or without."""
    guideline = models.ForeignKey(
        Guideline, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    """The guidelines that were in force when it was last submitted."""
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "person"], name="annotation_once"),
            models.UniqueConstraint(
                fields=["comment", "reviewer"], name="annotation_import_once", condition=~Q(reviewer="")
            ),
            models.CheckConstraint(
                condition=Q(person__isnull=False, reviewer="") | (Q(person__isnull=True) & ~Q(reviewer="")),
                name="annotation_by_someone",
            ),
        ]
        indexes = [models.Index(fields=["person", "-submitted_at"], name="annotation_of_person")]

    def __str__(self) -> str:
        return self.public_id


def in_scale(field: str) -> Q:
    """The condition that `field` is from 1 to 5, or not given."""
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__range": (1, 5)})


class AttributeLabel(models.Model):
    """Scales are NULL where the published files say 0: not asked, or not given."""

    annotation = models.ForeignKey(
        Annotation, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    attribute = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=[(state.value, state.value) for state in State])
    value = models.CharField(max_length=1000, blank=True)
    hardness = models.PositiveSmallIntegerField(null=True, blank=True)
    certainty = models.PositiveSmallIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=[(outcome.value, outcome.value) for outcome in Outcome])
    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    evidence = models.JSONField(default=list, blank=True)
    """Quotes that carry the value: {"comment": public id, "start", "end": code points, "quote"}."""
    bulk = models.BooleanField(default=False)
    """Set by one act for several rows (“accept all”, “nothing else”), not row by row."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["annotation", "attribute"], name="label_once"),
            models.CheckConstraint(condition=in_scale("hardness"), name="label_hardness_1_5"),
            models.CheckConstraint(condition=in_scale("certainty"), name="label_certainty_1_5"),
            models.CheckConstraint(
                condition=~Q(state="value") | (~Q(value="") & Q(hardness__isnull=False)),
                name="label_value_has_hardness",
            ),
        ]
        indexes = [models.Index(fields=["attribute", "state"], name="label_by_attribute")]

    def __str__(self) -> str:
        return f"{self.attribute}: {self.state} {self.value}"


class Submission(models.Model):
    """One press of Submit. The id comes with the page: the same press sent twice is stored once."""

    id = models.UUIDField(primary_key=True)
    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="submissions")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    """Of the answers, so that the same id with other answers is known for a change."""
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.id)


class AnnotationEvent(models.Model):
    """One change of one label. Append-only: the database refuses updates and deletions.

    `old` is null for the first label of an attribute. The current labels can be rebuilt from the events
    (`manage.py check_events`). The attribute "note" stands for the note beside the labels.
    """

    SOURCES = [("human", "human"), ("import", "import"), ("bulk", "bulk"), ("api", "api")]

    annotation = models.ForeignKey(
        Annotation, on_delete=models.PROTECT, related_name="events", db_index=False
    )
    person = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    attribute = models.CharField(max_length=40)
    old = models.JSONField(null=True)
    new = models.JSONField()
    source = models.CharField(max_length=10, choices=SOURCES, default="human")
    active_ms = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["annotation", "id"], name="event_in_order")]

    def __str__(self) -> str:
        return f"{self.attribute} of annotation {self.annotation_id}"


class FirstAnswer(models.Model):
    """What a person said about a blind item before the suggestions were shown. Append-only.

    `labels` maps attribute keys to labels in the form in which events hold them.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="first_answers", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    labels = models.JSONField()
    note = models.TextField(blank=True)
    active_ms = models.PositiveBigIntegerField(default=0)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="first_answer_once")]

    def __str__(self) -> str:
        return f"first answer of {self.person_id} to {self.item_id}"


class Draft(models.Model):
    """What a person has typed and not submitted yet, as fields of the form. Gone with the submission.

    `stamp` rises with every save of a page; an older save that arrives late changes nothing.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    base_version = models.PositiveIntegerField(default=0)
    stamp = models.PositiveBigIntegerField(default=0)
    fields = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="draft_once")]

    def __str__(self) -> str:
        return f"draft of {self.person_id} for {self.item_id}"


class Flag(models.Model):
    """Somebody asks the adjudicator to look at an item."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="flags", db_index=False)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    attribute = models.CharField(max_length=40, blank=True)
    """Empty: the whole comment."""
    note = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="flag_once")]

    def __str__(self) -> str:
        return f"flag of {self.person_id} on {self.item_id}"
