"""A profile: the intrinsic facts of one synthetic author, and the style in which they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from simulation.domain.roles import Right
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField

if TYPE_CHECKING:
    from simulation.models.accounts import User


class ProfileQuerySet(models.QuerySet["Profile"]):
    def visible_to(self, person: User) -> ProfileQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.SEE_PROFILES))


class Profile(models.Model):
    """The truth about an author. `facts` maps catalogue keys to values as they came (age a number)."""

    PROPOSED, APPROVED, REJECTED = "proposed", "approved", "rejected"
    STATES = [(state, state) for state in (PROPOSED, APPROVED, REJECTED)]
    IMPORTED, GENERATED, TYPED = "imported", "generated", "typed"
    SOURCES = [(source, source) for source in (IMPORTED, GENERATED, TYPED)]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="profiles", db_index=False)
    external_id = models.CharField(max_length=100)
    username = models.CharField(max_length=100)
    facts = models.JSONField(default=dict)
    style = models.TextField(blank=True)
    extra = models.JSONField(default=dict, blank=True)
    """Fields of an import that the model does not know, kept for the export."""
    version = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=STATES, default=APPROVED)
    """Only approved profiles enter a run. What is imported or was there before is approved."""
    source = models.CharField(max_length=10, choices=SOURCES, default=IMPORTED)
    warnings = models.JSONField(default=list, blank=True)
    """What does not fit together, as found when it was last saved: {rule, attributes, text}."""
    original = models.JSONField(default=dict, blank=True)
    """{facts, style} as a model gave them, before a person first edited them; empty while nobody has."""
    run = models.ForeignKey(
        "simulation.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="made_profiles"
    )
    """The run that generated it."""
    call = models.ForeignKey(
        "simulation.ModelCall",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    """The call whose answer its facts are."""
    checked_by = models.ForeignKey(
        "simulation.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProfileQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="profile_external_id_once"),
            models.UniqueConstraint(fields=["corpus", "username"], name="profile_username_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=["proposed", "approved", "rejected"]), name="profile_state_known"
            ),
        ]
        indexes = [models.Index(fields=["corpus", "state", "id"], name="profile_by_state")]

    def __str__(self) -> str:
        return self.username


class ProfileVersion(models.Model):
    """A profile as it was from one edit to the next. Append-only."""

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField()
    username = models.CharField(max_length=100)
    facts = models.JSONField()
    style = models.TextField(blank=True)
    by = models.ForeignKey(
        "simulation.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["profile_id", "version"]
        constraints = [
            models.UniqueConstraint(fields=["profile", "version"], name="profile_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.username}, version {self.version}"
