"""Comments without what gives their authors away: one masked text beside each original."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models import Comment, Corpus, ModelCall, PublicIdField, Run, User


class MaskingQuerySet(models.QuerySet["Masking"]):
    def visible_to(self, person: User) -> MaskingQuerySet:
        """What was masked says what was given away: for those who may see profiles."""
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.SEE_PROFILES))


class Masking(models.Model):
    """The comments of a corpus, masked in one way; the texts it was made from stay where they are."""

    IMPORTED, MADE = "imported", "made"
    ORIGINS = [(IMPORTED, "imported"), (MADE, "made here")]
    STARS, CATEGORY, REWRITTEN = "stars", "category", "rewritten"
    STYLES = [
        (STARS, "as many * as characters"),
        (CATEGORY, "the category in angle brackets"),
        (REWRITTEN, "rewritten by a model"),
    ]
    WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
    STATES = [(state, state) for state in (WAITING, RUNNING, DONE, FAILED)]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="maskings", db_index=False)
    name = models.CharField(max_length=120)
    origin = models.CharField(max_length=10, choices=ORIGINS)
    masker = models.CharField(max_length=60)
    """Its name and version, as `Masker` says them; of an import what the file calls it."""
    style = models.CharField(max_length=10, choices=STYLES)
    options = models.JSONField(default=dict, blank=True)
    """What else it was told: categories, least confidence, rounds."""
    state = models.CharField(max_length=10, choices=STATES, default=WAITING)
    reason = models.TextField(blank=True)
    run = models.ForeignKey(Run, on_delete=models.RESTRICT, null=True, blank=True, related_name="maskings")
    """The long job that asked a model to rewrite, where one did."""
    file_name = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    texts = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    """Texts that differ from their originals."""
    characters = models.PositiveBigIntegerField(default=0)
    masked_characters = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = MaskingQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "name"]
        constraints = [models.UniqueConstraint(fields=["corpus", "name"], name="masking_name_once")]

    def __str__(self) -> str:
        return self.name


class MaskedText(models.Model):
    """One comment as a masking has it.

    `original` is the SHA-256 of the text that was masked: where the comment was edited since, the two do not
    belong together any more.
    """

    masking = models.ForeignKey(Masking, on_delete=models.CASCADE, related_name="rows", db_index=False)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="masked")
    text = models.TextField()
    original = models.CharField(max_length=64)
    spans = models.JSONField(default=list, blank=True)
    """What was masked: {start, end (code points of the original), category, confidence}."""
    rounds = models.PositiveSmallIntegerField(default=0)
    """Of a rewriter: how often it was asked."""
    call = models.ForeignKey(
        ModelCall, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["masking", "comment"], name="masked_text_once"),
            models.CheckConstraint(condition=~Q(original=""), name="masked_text_has_original"),
        ]

    def __str__(self) -> str:
        return f"{self.comment_id} in {self.masking_id}"
