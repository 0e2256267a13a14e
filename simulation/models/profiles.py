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

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="profiles", db_index=False)
    external_id = models.CharField(max_length=100)
    username = models.CharField(max_length=100)
    facts = models.JSONField(default=dict)
    style = models.TextField(blank=True)
    extra = models.JSONField(default=dict, blank=True)
    """Fields of an import that the model does not know, kept for the export."""
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProfileQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="profile_external_id_once"),
            models.UniqueConstraint(fields=["corpus", "username"], name="profile_username_once"),
        ]

    def __str__(self) -> str:
        return self.username
