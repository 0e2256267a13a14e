"""Addresses elsewhere that are told what happened, and every message to them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.roles import Right
from simulation.models.accounts import User
from simulation.models.corpora import Corpus
from simulation.models.identity import PublicIdField


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def visible_to(self, person: User) -> WebhookQuerySet:
        return self.filter(corpus__in=Corpus.objects.with_right(person, Right.CONNECT))


class Webhook(models.Model):
    """One address that is told of the events of one corpus.

    Its messages are signed with a secret that is made from the installation's own key, the public id and
    `secret_version`: nothing in the database, or in a copy of it, can sign.
    """

    public_id = PublicIdField()
    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    """Values of `simulation.domain.webhooks.Event`."""
    note = models.CharField(max_length=200, blank=True)
    secret_version = models.PositiveSmallIntegerField(default=1)
    paused_at = models.DateTimeField(null=True, blank=True)
    """No new messages from then on: by a person, or after many failures in a row."""
    paused_why = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["corpus", "url"], name="webhook_url_once")]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One message to one webhook: written with what it tells of, sent afterwards, tried again."""

    WAITING, SENT, FAILED = "waiting", "sent", "failed"
    STATES = [(state, state) for state in (WAITING, SENT, FAILED)]
    SENDING = "being sent"
    """The detail of one that a worker has in hand; `due_at` says until when."""

    public_id = PublicIdField()
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=40)
    about = models.CharField(max_length=60)
    """Public id of what it tells of, with a version where that can happen twice: told once."""
    payload = models.JSONField()
    state = models.CharField(max_length=10, choices=STATES, default=WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    """When it is tried next; while a worker sends it, when another may take it over."""
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    """HTTP status of the last attempt, where there was an answer."""
    detail = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "about"], name="delivery_once"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="delivery_due", condition=Q(state="waiting")),
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}: {self.state}"
