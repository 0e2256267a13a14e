"""Where models are reached. The key itself is in the environment; the row holds the variable's name."""

from django.db import models

from simulation.models.accounts import User
from simulation.models.identity import PublicIdField


class Provider(models.Model):
    public_id = PublicIdField()
    name = models.CharField(max_length=60, unique=True)
    base_url = models.CharField(max_length=300)
    key_variable = models.CharField(max_length=70, blank=True)
    """Name of the environment variable with the key; empty where none is needed."""
    default_model = models.CharField(max_length=100)
    timeout_seconds = models.PositiveIntegerField(default=120)
    """How long one call may take."""
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
