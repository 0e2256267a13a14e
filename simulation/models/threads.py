"""Threads and the comments in them: a tree by parent, in the order in which the source gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models

from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField
from simulation.models.profiles import Profile

if TYPE_CHECKING:
    from simulation.models.accounts import User


class ThreadQuerySet(models.QuerySet["Thread"]):
    def visible_to(self, person: User) -> ThreadQuerySet:
        return self.filter(corpus__in=Corpus.objects.visible_to(person))


class Thread(models.Model):
    SOURCES = [("simulated", "simulated"), ("tree", "imported tree"), ("flat", "imported rows")]

    public_id = PublicIdField()
    # Unique constraints and indexes below begin with these foreign keys; a second index would only cost.
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="threads", db_index=False)
    external_id = models.CharField(max_length=100)
    target_phrase = models.CharField(max_length=200, blank=True)
    """What the thread's topic asks about (SynthPAI `guess_feature`)."""
    source = models.CharField(max_length=10, choices=SOURCES)
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ThreadQuerySet.as_manager()

    class Meta:
        ordering = ["corpus_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="thread_external_id_once"),
        ]

    def __str__(self) -> str:
        return self.external_id


class CommentQuerySet(models.QuerySet["Comment"]):
    def visible_to(self, person: User) -> CommentQuerySet:
        return self.filter(corpus__in=Corpus.objects.visible_to(person))


class Comment(models.Model):
    """One comment. `text` is trimmed; what the source had around it stands in `extra["around"]`."""

    STATES = [("active", "active"), ("withdrawn", "withdrawn")]

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="comments", db_index=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments", db_index=False)
    parent = models.ForeignKey(
        "self", on_delete=models.RESTRICT, null=True, blank=True, related_name="replies"
    )
    profile = models.ForeignKey(
        Profile, on_delete=models.RESTRICT, null=True, blank=True, related_name="comments"
    )
    external_id = models.CharField(max_length=200)
    author = models.CharField(max_length=100, blank=True)
    """The author's id in the source, as `pers12`."""
    username = models.CharField(max_length=100)
    text = models.TextField()
    original_text = models.TextField(blank=True)
    """The text before a person first edited it; empty while nobody has."""
    depth = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)
    """Place among the replies to the same parent."""
    sequence = models.PositiveBigIntegerField(default=0)
    """Place in the corpus in the order of arrival; exports and browsing follow it."""
    state = models.CharField(max_length=10, choices=STATES, default="active")
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="comment_external_id_once"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="comment_not_own_parent"),
        ]
        indexes = [
            models.Index(fields=["corpus", "sequence", "id"], name="comment_in_order"),
            models.Index(fields=["thread", "sequence"], name="comment_in_thread"),
            models.Index(fields=["corpus", "username", "sequence"], name="comment_by_author"),
            models.Index(
                fields=["corpus", "sequence", "id"],
                name="comment_withdrawn",
                condition=models.Q(state="withdrawn"),
            ),
            # Words of English are stemmed; other languages are found as they are written.
            GinIndex(SearchVector("text", config="english"), name="comment_words", fastupdate=False),
        ]

    def __str__(self) -> str:
        return self.external_id
