"""The form of a price."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone

from simulation.forms.styled import Styled
from simulation.models import Provider


class PriceForm(Styled, forms.Form):
    """USD per million tokens of one model at one provider."""

    provider = forms.ModelChoiceField(
        Provider.objects.none(), to_field_name="public_id", label="Provider", empty_label=None
    )
    model = forms.CharField(
        label="Model",
        max_length=100,
        help_text="The name under which runs call it, letter by letter.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    input = forms.DecimalField(
        label="Input, USD per million tokens",
        min_value=0,
        max_value=1_000_000,
        decimal_places=6,
        help_text="0 if it costs nothing, as on a machine of your own.",
    )
    output = forms.DecimalField(
        label="Output, USD per million tokens",
        min_value=0,
        max_value=1_000_000,
        decimal_places=6,
        help_text="Tokens of reasoning count as output.",
    )
    cached = forms.DecimalField(
        label="Input read from the provider’s cache",
        required=False,
        min_value=0,
        max_value=1_000_000,
        decimal_places=6,
        help_text="No more than input. Empty: as input.",
    )
    valid_from = forms.DateTimeField(
        label="From",
        required=False,
        help_text=f"Time zone {settings.TIME_ZONE}. Empty: from now on.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=300,
        help_text="Where it is from, such as the address of a page.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["provider"].queryset = Provider.objects.all()  # type: ignore[attr-defined]

    def clean_valid_from(self) -> datetime | None:
        """Calls made keep their price: a price for the past would change nothing."""
        moment: datetime | None = self.cleaned_data["valid_from"]
        if moment is not None and moment < timezone.now() - timedelta(minutes=1):
            raise forms.ValidationError("Now or later: calls that were made keep the price they had.")
        return moment
