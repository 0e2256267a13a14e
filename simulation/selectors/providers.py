"""The providers of the installation."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from simulation.models import Provider


def listed() -> QuerySet[Provider]:
    """By name, each with the number of runs that called it."""
    return Provider.objects.annotate(n_runs=Count("runs")).select_related("created_by").order_by("name")
