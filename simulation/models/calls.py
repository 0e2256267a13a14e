"""The ledger: every call to a model and every attempt at it. Replies are kept whole, keys never."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from simulation.domain.run_states import AttemptState, CallState
from simulation.models.identity import PublicIdField
from simulation.models.money import Price
from simulation.models.providers import Provider
from simulation.models.runs import PromptVersion, Run, Step


class ModelCall(models.Model):
    """One question to one model on behalf of one step. A finished call is never made again."""

    public_id = PublicIdField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_calls", db_index=False)
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="model_calls", db_index=False)
    purpose = models.CharField(max_length=20)
    key = models.CharField(max_length=64, db_index=True)
    """Digest of address, model, parameters, messages and schema: equal questions have equal keys."""
    sample = models.PositiveSmallIntegerField(default=0)
    """Another answer to the same question is another sample."""
    prompt = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="+")
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="+")
    base_url = models.CharField(max_length=300)
    model = models.CharField(max_length=100)
    served_model = models.CharField(max_length=200, blank=True)
    request = models.JSONField()
    reply = models.JSONField(null=True)
    state = models.CharField(
        max_length=10,
        choices=[(state.value, state.value) for state in CallState],
        default=CallState.QUEUED.value,
    )
    finish = models.CharField(max_length=20, blank=True)
    rung = models.CharField(max_length=20, blank=True)
    """How the answer was read: by schema, as JSON, as words, repaired."""
    problem = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    tokens_cached = models.PositiveIntegerField(default=0)
    tokens_reasoning = models.PositiveIntegerField(default=0)
    price = models.ForeignKey(Price, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    """What its tokens cost when it was sent."""
    cost = models.BigIntegerField(default=0)
    """Nano-dollars of all its attempts."""
    replayed_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    """The call of another run whose kept reply this one took: nothing was sent."""
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["step", "key", "sample"], name="call_once")]
        indexes = [
            models.Index(fields=["run", "state"], name="call_of_run"),
            models.Index(
                fields=["replayed_from"], name="call_replayed", condition=Q(replayed_from__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.public_id}"


class CallAttempt(models.Model):
    """One time that a call was sent. `number` counts from 0 and is what the provider was told."""

    call = models.ForeignKey(ModelCall, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveSmallIntegerField()
    state = models.CharField(
        max_length=14,
        choices=[(state.value, state.value) for state in AttemptState],
        default=AttemptState.SENT.value,
    )
    sent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    held = models.PositiveIntegerField()
    """Tokens set aside for it."""
    spent = models.PositiveBigIntegerField(default=0)
    """Tokens it cost: as the provider counted, or what was set aside where nobody knows."""
    held_cost = models.BigIntegerField(default=0)
    """Nano-dollars set aside for it."""
    cost = models.BigIntegerField(default=0)
    """Nano-dollars it cost, known as `spent` is."""
    status = models.PositiveSmallIntegerField(null=True)
    """HTTP status, where there was an answer."""
    wait = models.FloatField(null=True)
    """Seconds until the next attempt."""
    detail = models.CharField(max_length=600, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            # A lost attempt is repeated under its own number: the provider is asked the very same again.
            models.UniqueConstraint(
                fields=["call", "number"], name="attempt_once", condition=~Q(state="lost")
            ),
        ]
        indexes = [
            models.Index(fields=["call", "number"], name="attempt_of_call"),
            # The sweep looks for these every few seconds, however long the ledger is.
            models.Index(fields=["call"], name="attempt_in_flight", condition=Q(state="sent")),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.call_id}: {self.state}"
