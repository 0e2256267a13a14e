"""Amounts in dollars as forms take them, every one by the same rule."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Any

from django import forms

from simulation.domain.money import MOST_NANO, NANO, dollars, nanos

MOST_DOLLARS = MOST_NANO // NANO
NO_AMOUNT = "Enter a number of dollars, such as 2.50."


class AmountField(forms.DecimalField):
    """An amount from 0 to nine billion dollars, to a nano-dollar; empty: None.

    What is no amount (NaN, Infinity, -0) is an error beside the field.
    """

    def __init__(self, **options: Any) -> None:
        common: dict[str, Any] = {"required": False, "min_value": 0, "max_value": MOST_DOLLARS}
        common |= {"decimal_places": 9, "error_messages": {"invalid": NO_AMOUNT}}
        super().__init__(**common | options)

    def to_python(self, value: Any) -> Any:
        amount = super().to_python(value)
        if amount is not None and (not amount.is_finite() or (amount.is_zero() and amount.is_signed())):
            raise forms.ValidationError(NO_AMOUNT, code="invalid")
        return amount


class DollarsField(AmountField):
    """The same to a millionth of a dollar, kept as whole nano-dollars; empty: no cap."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"decimal_places": 6} | options)

    def clean(self, value: Any) -> Any:
        amount = super().clean(value)
        return None if amount is None else nanos(amount)

    def prepare_value(self, value: Any) -> Any:
        """Nano-dollars as a person would type them, rounded up."""
        if not isinstance(value, int):
            return value
        shown = dollars(value).quantize(Decimal("0.000001"), rounding=ROUND_CEILING)
        return f"{shown:f}".rstrip("0").rstrip(".")
