"""Releases: a frozen question to a corpus, the files that answered it, and what differs between two."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models import Corpus, PublicIdField, User


class ReleaseQuerySet(models.QuerySet["Release"]):
    def visible_to(self, person: User) -> ReleaseQuerySet:
        """Its files hold the labels and the authors' true attributes."""
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.EXPORT))


class Release(models.Model):
    """One published state of a corpus. What it is made of never changes once it is ready; the database
    refuses it. A withdrawal leaves the files and says so; another try is another release."""

    QUEUED, RUNNING, READY, FAILED = "queued", "running", "ready", "failed"
    STATES = [(state, state) for state in (QUEUED, RUNNING, READY, FAILED)]
    ADJUDICATED, AGREEING, SINGLE, INHERITED = "adjudicated", "agreeing", "single", "inherited"
    POLICIES = [
        (ADJUDICATED, "adjudicated: what was decided, or what all annotators of a settled item said"),
        (AGREEING, "agreeing: what at least n people said alike"),
        (SINGLE, "single: what one person said, the latest where there are several"),
        (INHERITED, "inherited: the persona's own fact, where a tagger found a trace of it"),
    ]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.PROTECT, related_name="releases", db_index=False)
    name = models.CharField(max_length=40)
    """What people cite: 1.0, 2026-12."""
    title = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=80, blank=True)
    query = models.JSONField(default=dict)
    """Which comments are in it: see evaluation/domain/releasing.py."""
    policy = models.CharField(max_length=12, choices=POLICIES, default=ADJUDICATED)
    agreeing = models.PositiveSmallIntegerField(null=True, blank=True)
    """For AGREEING: how many people."""
    state = models.CharField(max_length=10, choices=STATES, default=QUEUED)
    reason = models.TextField(blank=True)
    folder = models.CharField(max_length=500, blank=True)
    """Where the files lie, below MEDIA_ROOT."""
    manifest = models.JSONField(null=True, blank=True)
    """As manifest.json says it: files with SHA-256 and rows, filters, versions, models, prompts."""
    digest = models.CharField(max_length=64, blank=True)
    """SHA-256 of manifest.json: what a citation can be checked by."""
    size = models.PositiveBigIntegerField(default=0)
    """Bytes of all files."""
    doi = models.CharField(max_length=200, blank=True)
    pushed = models.JSONField(default=list, blank=True)
    """Where copies were sent: {repository, url, at}."""
    attempts = models.PositiveSmallIntegerField(default=0)
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    notice = models.TextField(blank=True)
    """Why it was withdrawn, and what to use instead."""

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="release_name_once"),
            models.CheckConstraint(
                condition=~Q(state="ready") | Q(manifest__isnull=False), name="release_ready_has_manifest"
            ),
            models.CheckConstraint(
                condition=Q(policy="agreeing", agreeing__gte=1) | (~Q(policy="agreeing") & Q(agreeing=None)),
                name="release_agreeing_says_how_many",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"], name="release_to_make", condition=Q(state__in=["queued", "running"])
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ReleaseDifference(models.Model):
    """What differs between two ready releases of a corpus; both never change, so it is counted once."""

    old = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="+", db_index=False)
    new = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="differences")
    counts = models.JSONField(null=True)
    """{table: {added, removed, changed, same}}; NULL: asked for and not counted yet."""
    path = models.CharField(max_length=500, blank=True)
    """The differences, one JSON object a line, below MEDIA_ROOT."""
    problem = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    asked_at = models.DateTimeField(auto_now_add=True)
    made_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["old", "new"], name="release_difference_once")]

    def __str__(self) -> str:
        return f"{self.old_id} to {self.new_id}"
