"""The form of the installation's caps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from simulation.domain.money import dollars, nanos
from simulation.forms.dollars import AmountField
from simulation.forms.styled import Styled
from simulation.models import Workspace


def plain(amount: int | None) -> str:
    """Nano-dollars as a person would type them into a field: 25, 0.5; empty for no cap."""
    return "" if amount is None else f"{dollars(amount).normalize():f}"


class BudgetForm(Styled, forms.Form):
    """Dollars; kept as whole nano-dollars."""

    soft_cap = AmountField(
        label="Soft cap, USD",
        help_text="From here on the pages of runs warn; nothing stops. Empty: never.",
    )
    hard_cap = AmountField(
        label="Hard cap, USD",
        help_text="No call is begun that might pass it, in any run. Empty: only the caps of each run hold.",
    )

    def __init__(self, *args: Any, budget: Workspace, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"soft_cap": plain(budget.soft_cap), "hard_cap": plain(budget.hard_cap)})
        super().__init__(*args, **kwargs)

    def asked(self) -> dict[str, int | None]:
        """The caps of a valid form in nano-dollars."""
        sent: dict[str, Decimal | None] = self.cleaned_data
        return {name: None if cap is None else nanos(cap) for name, cap in sent.items()}
