"""What a person may change about a run that is under way."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms

from simulation.forms.dollars import DollarsField
from simulation.forms.styled import Styled
from simulation.models import Run
from simulation.services.spending import said

LARGEST_CAP = 10**15


class CapsForm(Styled, forms.Form):
    """New caps for a run."""

    max_cost = DollarsField(label="Hard cap, USD")
    soft_cost = DollarsField(label="Warn from, USD")
    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {name: getattr(run, name) for name in self.base_fields})
        super().__init__(*args, **kwargs)
        self.run = run
        self.fields["max_cost"].help_text = f"{said(run.cost)} spent so far; empty: no cap in money"
        self.fields["soft_cost"].help_text = "The page warns; empty: never"
        self.fields["max_calls"].help_text = f"{run.calls:,} made so far"
        self.fields["max_tokens"].help_text = f"{run.tokens:,} spent so far"

    def clean(self) -> dict[str, Any]:
        """Going on under the same caps would halt at once."""
        sent = self.cleaned_data
        if len(sent) == len(self.fields) and not self._raised(sent):
            raise forms.ValidationError("None is higher than before: raise the one that was reached.")
        return sent

    def _raised(self, sent: dict[str, Any]) -> bool:
        run = self.run
        more = any(sent[name] > getattr(run, name) for name in ("max_calls", "max_tokens"))
        free = run.max_cost is not None and (sent["max_cost"] is None or sent["max_cost"] > run.max_cost)
        return more or free


class AgainForm(Styled, forms.Form):
    """Caps of a run that comes from another: the same plan with other answers, or a fork of a thread.

    `form` is hidden: the mark by which a form that is sent twice is told.
    """

    max_cost = DollarsField(label="Hard cap, USD", help_text="Empty: no cap in money.")
    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)
    form = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, run: Run, initial: dict[str, Any] | None = None, **kwargs: Any) -> None:
        first = {name: getattr(run, name) for name in ("max_cost", "max_calls", "max_tokens")}
        first["form"] = str(uuid.uuid4())
        super().__init__(*args, initial=first | (initial or {}), **kwargs)


class ForkForm(AgainForm):
    """Where to fork a thread, and what is different from there on."""

    name = forms.CharField(label="Name", max_length=80)
    turn = forms.IntegerField(
        label="After turn",
        min_value=0,
        help_text="0: behind the post. What was written until then is copied.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=2**63 - 1,
        help_text="Who answers whom from there on. Empty: as in the source, with other answers.",
    )
    model = forms.CharField(
        label="Model of the replies", required=False, max_length=100, help_text="Empty: as in the source."
    )
    field_order = ("name", "turn", "seed", "model", "max_cost", "max_calls", "max_tokens")


class ReplayForm(Styled, forms.Form):
    """The new corpus that a replay writes into."""

    corpus = forms.CharField(label="Name of the new corpus", max_length=80)
