"""The mark beside a field that has a published value: whether it is still that."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

UNSENT = "not sent"


class PlanField(BoundField):
    """A field of the run form. `has_published`: the published runs had a value for it."""

    @property
    def has_published(self) -> bool:
        return hasattr(self.field, "published")

    @property
    def published(self) -> str:
        """The published value as words."""
        value = getattr(self.field, "published", None)
        words = dict(getattr(self.field, "choices", ()))
        return UNSENT if value is None else str(words.get(value, f"{value:g}" if _number(value) else value))

    @property
    def changed(self) -> bool:
        """Whether what stands in the field is not the published value; what cannot be read is not."""
        try:
            held = self.field.to_python(self.value())
        except ValidationError:
            return True
        return bool(held != getattr(self.field, "published", held))


def published(field: forms.Field, value: Any) -> forms.Field:
    """`field` with the value of the published runs, which is its first value too."""
    field.initial = value
    field.published = value  # type: ignore[attr-defined]
    return field


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
