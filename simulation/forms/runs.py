"""What a person may change about a run that is under way."""

from __future__ import annotations

from typing import Any

from django import forms

from simulation.forms.styled import Styled
from simulation.models import Run

LARGEST_CAP = 10**15


class CapsForm(Styled, forms.Form):
    """New caps for a run."""

    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"max_calls": run.max_calls, "max_tokens": run.max_tokens})
        super().__init__(*args, **kwargs)
        self.run = run
        self.fields["max_calls"].help_text = f"{run.calls:,} made so far"
        self.fields["max_tokens"].help_text = f"{run.tokens:,} spent so far"

    def clean(self) -> dict[str, Any]:
        """Going on under the same caps would halt at once."""
        sent = self.cleaned_data
        if len(sent) == 2 and all(sent[name] <= getattr(self.run, name) for name in sent):
            raise forms.ValidationError("Neither is higher than before: raise the one that was reached.")
        return sent
