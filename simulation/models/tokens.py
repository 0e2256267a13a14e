"""Doors for programs: personal tokens, and answers that are given again to a request that is sent twice."""

from __future__ import annotations

from django.db import models

from simulation.models.accounts import User
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField


class ApiToken(models.Model):
    """A personal token: it may do what its scopes say and its person may, and nothing else.

    The token itself is shown once and never stored: `digest` is its SHA-256 (it is 256 random bits, so that
    nothing slower is needed), `prefix` its first characters, by which people tell tokens apart.
    """

    public_id = PublicIdField()
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    """Values of `simulation.domain.scopes.Scope`."""
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, null=True, blank=True, related_name="api_tokens"
    )
    """The one corpus that it opens; NULL: all that its person may see."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    """To the minute: it is not written at every request."""
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["person", "name"], name="api_token_name_once")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class KeptAnswer(models.Model):
    """The answer to a request with an `Idempotency-Key`. The same request again is answered from here.

    It is written in the transaction of the work, so that neither is there without the other. Rows are swept
    after a day.
    """

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    """Of method, path and body: the same key with another request is refused."""
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "key"], name="kept_answer_once")]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_by_age")]

    def __str__(self) -> str:
        return f"answer {self.status} to {self.key}"
