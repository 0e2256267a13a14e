"""The fields that every form of a run has: provider, caps, and the mark of a form that is sent twice."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from decimal import Decimal
from typing import Any

from django import forms

from simulation.domain.money import MOST_NANO, NANO, nanos
from simulation.models import Provider

LARGEST_CAP = 10**15
NO_AMOUNT = "Enter a number of dollars, such as 2.50."
PLAIN = (forms.RadioSelect, forms.CheckboxInput, forms.CheckboxSelectMultiple)
"""Widgets that have no frame of their own."""


class ProviderChoice(forms.ModelChoiceField):
    """Names each provider with the model that it stands for."""

    def label_from_instance(self, obj: Provider) -> str:
        return f"{obj.name} ({obj.default_model})"


def provider_field(label: str = "Provider") -> ProviderChoice:
    """A provider by its public id."""
    return ProviderChoice(
        queryset=Provider.objects.order_by("name"),
        label=label,
        to_field_name="public_id",
        empty_label=None,
    )


def dollars_field(label: str, help_text: str) -> forms.DecimalField:
    """An amount in dollars that may be left out."""
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal(0),
        max_value=Decimal(MOST_NANO // NANO),
        decimal_places=6,
        validators=[_require_no_sign],
        error_messages={"invalid": NO_AMOUNT},
        help_text=help_text,
    )


def _require_no_sign(amount: Decimal) -> None:
    if amount.is_zero() and amount.is_signed():
        raise forms.ValidationError(NO_AMOUNT, code="invalid")


class CapsForm(forms.Form):
    """The caps of a run, and hidden what was proposed for them. Adds the classes of our fields."""

    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)
    max_cost = dollars_field("Cost in USD, at most", "Empty: calls and tokens alone limit it.")
    soft_cost = dollars_field("Warn from USD", "The run goes on, and its page warns. Empty: no warning.")
    suggested_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)
    suggested_tokens = forms.IntegerField(required=False, widget=forms.HiddenInput)
    form = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.visible_fields():
            if not isinstance(field.field.widget, PLAIN):
                field.field.widget.attrs.setdefault("class", "field")

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        soft, hard = said.get("soft_cost"), said.get("max_cost")
        if soft is not None and hard is not None and soft > hard:
            self.add_error("soft_cost", "It warns before the cap is reached: not more than that.")
        return said

    @property
    def caps(self) -> dict[str, Any]:
        """The caps as services take them, costs in nano-dollars."""
        said = self.cleaned_data
        costs = {
            name: None if said[name] is None else nanos(said[name]) for name in ("max_cost", "soft_cost")
        }
        return {"max_calls": said["max_calls"], "max_tokens": said["max_tokens"], **costs}

    def changed(self, fields: Mapping[str, int]) -> Any:
        """What was sent, with other values in some fields."""
        sent: Any = copy(self.data)
        for name, value in fields.items():
            sent[name] = str(value)
        return sent
