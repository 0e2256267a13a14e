"""What a run may spend: dollars first, calls and tokens behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django import forms

from simulation.domain.money import dollars, nanos
from simulation.forms.dollars import AmountField
from simulation.forms.runs import LARGEST_CAP

MOST_PARALLEL = 512


def money_fields() -> Iterator[tuple[str, forms.Field]]:
    yield "max_cost", _dollars("Hard cap, USD", "The run halts before it would pass it.")
    yield "soft_cost", _dollars("Soft cap, USD", "From here on the page of the run warns. May be empty.")


def limit_fields() -> Iterator[tuple[str, forms.Field]]:
    """Limits besides money."""
    for name, label in (("max_calls", "Calls, at most"), ("max_tokens", "Tokens, at most")):
        yield name, forms.IntegerField(label=label, min_value=1, max_value=LARGEST_CAP)
    yield (
        "parallel",
        forms.IntegerField(
            label="Steps in work at once",
            min_value=1,
            max_value=MOST_PARALLEL,
            initial=32,
            help_text="More ends sooner, as far as the provider and the workers allow.",
        ),
    )


def suggested_fields() -> Iterator[tuple[str, forms.Field]]:
    """What was proposed last, hidden: a cap that still is as proposed follows the next proposal."""
    for what in ("calls", "tokens"):
        yield f"suggested_{what}", forms.IntegerField(required=False, widget=forms.HiddenInput)
    yield "suggested_cost", forms.DecimalField(required=False, widget=forms.HiddenInput)


def read_money(cleaned: Mapping[str, Any]) -> dict[str, int | None]:
    """`soft_cost` and `max_cost` in nano-dollars; None: no such cap."""
    return {name: None if (said := cleaned.get(name)) is None else nanos(said) for name, _ in money_fields()}


def as_dollars(nano: int) -> str:
    """Nano-dollars as a form holds them: 1.50, 0.004."""
    whole, _, rest = f"{dollars(nano):f}".partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


def renewed_cost(said: Mapping[str, Any], cost: int | None) -> dict[str, str]:
    """The fields to set anew for a proposal of `cost` nano-dollars (None or 0: no cap is proposed).

    Only where the cap still is as it was proposed; empty where there is nothing to change.
    """
    proposal = as_dollars(cost) if cost else ""
    held, before = said.get("max_cost"), said.get("suggested_cost")
    if held != before or before == (Decimal(proposal) if proposal else None):
        return {}
    return {"max_cost": proposal, "suggested_cost": proposal}


def _dollars(label: str, help_text: str) -> AmountField:
    return AmountField(
        label=label,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
        help_text=help_text,
    )
