"""Fields that several apps answer with."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from simulation.domain.money import dollars


@extend_schema_field({"type": "string", "pattern": r"^\d+(\.\d+)?$", "examples": ["1.25"]})
class Dollars(serializers.Field):
    """Nano-dollars as dollars, exact: a text, since a number would be rounded by its reader."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "read_only": True})

    def to_representation(self, value: int) -> str:
        whole, _, rest = f"{dollars(value):f}".partition(".")
        return f"{whole}.{rest.rstrip('0'):0<2}"
