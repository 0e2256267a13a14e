"""A corpus: one simulated or imported world, to which everything else belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from simulation.domain.roles import Right, roles_with
from simulation.models.identity import PublicIdField

if TYPE_CHECKING:
    from simulation.models.accounts import User


class CorpusQuerySet(models.QuerySet["Corpus"]):
    def with_right(self, person: User, right: Right) -> CorpusQuerySet:
        """The corpora in which `person` has `right`, by a role there or in the whole installation.

        A corpus in the trash is nobody's until it is restored.
        """
        return self.filter(trashed_at=None)._held(person, right)

    def trashed_with_right(self, person: User, right: Right) -> CorpusQuerySet:
        """The corpora in the trash in which `person` would have `right`."""
        return self.filter(trashed_at__isnull=False)._held(person, right)

    def _held(self, person: User, right: Right) -> CorpusQuerySet:
        if not person.is_authenticated or not person.is_active:
            return self.none()
        if person.bound_to is not None:
            return self.filter(pk=person.bound_to)._by_role(person, right)
        return self._by_role(person, right)

    def _by_role(self, person: User, right: Right) -> CorpusQuerySet:
        if person.is_superuser:
            return self
        held = person.memberships.filter(role__in=[role.value for role in roles_with(right)])
        everywhere = held.filter(corpus=None)
        return self.filter(models.Exists(everywhere) | models.Q(pk__in=held.values("corpus_id")))

    def visible_to(self, person: User) -> CorpusQuerySet:
        return self.with_right(person, Right.BROWSE)


class Corpus(models.Model):
    public_id = PublicIdField()
    name = models.CharField(max_length=80, unique=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=80, blank=True)
    language = models.CharField(max_length=10, default="en")
    """Which prompt files its runs use, and in which words attributes are said."""
    created_at = models.DateTimeField(auto_now_add=True)
    trashed_at = models.DateTimeField(null=True, blank=True)
    trashed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = CorpusQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "corpora"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
