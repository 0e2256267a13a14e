"""What is known of profiles, one label an attribute, in sets that say where they come from."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.questions import Question
from simulation.domain.roles import Right
from simulation.models import Comment, Corpus, Profile, PublicIdField, User


class LabelSetQuerySet(models.QuerySet["LabelSet"]):
    def visible_to(self, person: User) -> LabelSetQuerySet:
        """A label of a profile is its truth, or near it."""
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.SEE_PROFILES))


class LabelSet(models.Model):
    """Labels of profiles that were made in one way from one source. Guesses are scored against one."""

    IMPORTED, ROLLED_UP, REVISED, INHERITED = "imported", "rolled_up", "revised", "inherited"
    KINDS = [
        (IMPORTED, "imported"),
        (ROLLED_UP, "rolled up from comments"),
        (REVISED, "revised against the profiles"),
        (INHERITED, "inherited from tags"),
    ]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="label_sets", db_index=False)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=KINDS)
    policy = models.CharField(max_length=40, blank=True)
    """A value of `evaluation.domain.rollup.Policy`; empty where nothing was rolled up."""
    recipe = models.JSONField(default=dict, blank=True)
    """What else it was made with: reviewer of the file, people, queues, tagger ... as the page says it."""
    source = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="revisions"
    )
    """The set that this one revises."""
    file_name = models.CharField(max_length=200, blank=True)
    """Of the file it was imported from, within its folder."""
    digest = models.CharField(max_length=64, blank=True)
    """SHA-256 of the file's bytes, in hexadecimal."""
    skipped = models.JSONField(default=list, blank=True)
    """Lines that could not be read and were passed over on request: {line, field, message}."""
    labels = models.PositiveIntegerField(default=0)
    """Its labels that count, that is of hardness 1 and more."""
    profiles = models.PositiveIntegerField(default=0)
    """Profiles with at least one of them."""
    version = models.PositiveIntegerField(default=1)
    """Grows with every change of its labels."""
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabelSetQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "name"]
        constraints = [models.UniqueConstraint(fields=["corpus", "name"], name="label_set_name_once")]

    def __str__(self) -> str:
        return self.name


class ProfileLabel(models.Model):
    """The label of one attribute of one profile. Scales are NULL where the published files say 0."""

    label_set = models.ForeignKey(LabelSet, on_delete=models.CASCADE, related_name="rows", db_index=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="labels")
    attribute = models.CharField(max_length=40)
    value = models.CharField(max_length=1000, blank=True)
    category = models.CharField(max_length=100, blank=True)
    """The education category, where there is one."""
    hardness = models.PositiveSmallIntegerField(null=True, blank=True)
    certainty = models.PositiveSmallIntegerField(null=True, blank=True)
    comment = models.ForeignKey(Comment, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    """The comment whose label it is, where it was rolled up."""
    truth_score = models.FloatField(null=True, blank=True)
    """How the label scores against the persona's truth (0, 0.5, 1; the published acc_gt); NULL: not looked
    at, or not settled yet."""
    truth_rung = models.CharField(max_length=12, blank=True)
    """Who decided that: a value of `Rung`."""
    truth_question = models.ForeignKey(
        Question, on_delete=models.SET_NULL, null=True, blank=True, related_name="labels"
    )
    """What has to be settled for it."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "profile", "attribute"], name="profile_label_once"),
            models.CheckConstraint(
                condition=Q(hardness__isnull=True) | Q(hardness__range=(1, 5)),
                name="profile_label_hardness_1_5",
            ),
            models.CheckConstraint(
                condition=Q(certainty__isnull=True) | Q(certainty__range=(1, 5)),
                name="profile_label_certainty_1_5",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attribute} of {self.profile_id}: {self.value}"
