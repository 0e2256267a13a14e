"""What a naming run is told: which model is asked, and whether r/AskReddit may be named."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms

from evaluation.forms.caps import CapsForm, provider_field
from evaluation.services.naming import ANSWER_CAP, TEMPERATURE
from simulation.domain.plans import RoleModel


class NamingForm(CapsForm):
    """One run of one model."""

    name = forms.CharField(label="Name", max_length=80)
    provider = provider_field()
    model = forms.CharField(
        label="Model",
        required=False,
        max_length=100,
        help_text="As the provider calls it. Empty: the provider’s own.",
    )
    askreddit = forms.BooleanField(
        label="r/AskReddit may be named",
        required=False,
        help_text="Nearly every thread would fit there; published are both, with it and without.",
    )

    @property
    def role(self) -> RoleModel | None:
        """Whom to ask; None where that cannot be read."""
        said = self.cleaned_data
        provider = said.get("provider")
        if provider is None or said.get("model") is None:
            return None
        name = said["model"].strip() or provider.default_model
        return RoleModel(name, TEMPERATURE, max_tokens=ANSWER_CAP, provider=provider.public_id)

    def with_fields(self, fields: Mapping[str, int]) -> NamingForm:
        """The same form with other values in some fields."""
        return NamingForm(self.changed(fields))
