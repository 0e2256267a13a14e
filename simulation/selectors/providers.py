"""The providers of the installation."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from simulation.domain.plans import RoleModel
from simulation.models import Provider


def listed() -> QuerySet[Provider]:
    """By name, each with the number of runs that called it."""
    return Provider.objects.annotate(n_runs=Count("runs")).select_related("created_by").order_by("name")


def of_role(default: Provider, role: RoleModel) -> Provider:
    """The provider that answers for a role: its own, or the run's. Raises Provider.DoesNotExist."""
    if role.provider in ("", default.public_id):
        return default
    return Provider.objects.get(public_id=role.provider)
