"""What calls cost: prices by provider and model, and the budget of the whole installation.

Amounts are whole numbers of nano-dollars (1e-9 USD), so that sums are exact.
"""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import Q

from simulation.domain.money import UnitPrice
from simulation.models.accounts import User
from simulation.models.identity import PublicIdField
from simulation.models.providers import Provider


class Price(models.Model):
    """USD per million tokens of one model at one provider, from a moment on. A new price is a new row: the
    rows that calls refer to never change."""

    PACKAGE, PERSON, BUILT_IN = "package", "person", "built in"
    SOURCES = [(PACKAGE, "price list"), (PERSON, "set by a person"), (BUILT_IN, "costs nothing")]

    public_id = PublicIdField()
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="prices")
    model = models.CharField(max_length=100)
    input = models.DecimalField(max_digits=14, decimal_places=6)
    output = models.DecimalField(max_digits=14, decimal_places=6)
    cached = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    """Of input tokens read from the provider's cache; NULL: as `input`."""
    valid_from = models.DateTimeField()
    source = models.CharField(max_length=10, choices=SOURCES)
    note = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["provider_id", "model", "-valid_from", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(input__gte=0, output__gte=0) & (Q(cached__isnull=True) | Q(cached__gte=0)),
                name="price_not_negative",
            ),
        ]
        indexes = [models.Index(fields=["provider", "model", "-valid_from", "-id"], name="price_now")]

    def __str__(self) -> str:
        return f"{self.model} at {self.provider_id}: {self.input} / {self.output}"

    @property
    def unit(self) -> UnitPrice:
        return UnitPrice(Decimal(self.input), Decimal(self.output), self.cached)


class Workspace(models.Model):
    """The one row of the installation: its budget. `spent` and `held` are kept in step with the ledger."""

    THE_ONE = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=THE_ONE)
    soft_cap = models.BigIntegerField(null=True, blank=True)
    """From here on pages warn. Nano-dollars; NULL: never."""
    hard_cap = models.BigIntegerField(null=True, blank=True)
    """No call is begun that might pass it. Nano-dollars; NULL: no limit but that of each run."""
    spent = models.BigIntegerField(default=0)
    held = models.BigIntegerField(default=0)
    counted_from = models.DateTimeField(auto_now_add=True)
    """Since when `spent` counts: an admin may begin a new period."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="workspace_is_one")]

    def __str__(self) -> str:
        return "the installation"
