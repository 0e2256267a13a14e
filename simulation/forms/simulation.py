"""The form that starts a simulation. A forecast stands beside it, and caps are proposed from the forecast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

from django import forms
from django.forms import BoundField

from simulation.domain.attributes import CATALOGUE
from simulation.domain.parameters import Parameters
from simulation.domain.plans import RoleModel
from simulation.domain.profile_filter import AGED, CHOSEN, WORDED, ProfileFilter
from simulation.forms import plan_how, plan_who
from simulation.forms.runs import LARGEST_CAP
from simulation.forms.styled import Styled
from simulation.models import Provider

LARGEST_SEED = 2**63 - 1
ROLE_FIELDS = {
    "model": "Model",
    "temperature": "Temperature",
    "penalty": "Frequency penalty",
    "tokens": "Most tokens",
}


class ProviderChoice(forms.ModelChoiceField):
    """Names each provider with the model that it stands for."""

    def label_from_instance(self, obj: Provider) -> str:
        return f"{obj.name} ({obj.default_model})"


class SimulationForm(Styled, forms.Form):
    """Everything a run needs to be told. `suggested_*` and `form` are hidden: the caps that were proposed,
    and the mark by which a form that is sent twice is told."""

    name = forms.CharField(label="Name", max_length=80)
    provider = ProviderChoice(
        queryset=Provider.objects.none(), label="Provider", to_field_name="public_id", empty_label=None
    )
    model = forms.CharField(
        label="Model", required=False, max_length=100, help_text="Empty: the default model of the provider."
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Decides whatever chance decides: who is asked, who answers whom. Drawn for you.",
    )
    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)
    then_tag = forms.BooleanField(label="Tag the comments afterwards", required=False, initial=True)
    suggested_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)
    suggested_tokens = forms.IntegerField(required=False, widget=forms.HiddenInput)
    form = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, providers: Iterable[Provider], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        provider = self.fields["provider"]
        assert isinstance(provider, forms.ModelChoiceField)
        provider.queryset = Provider.objects.filter(pk__in=[one.pk for one in providers])
        for fields in (
            plan_who.filter_fields,
            plan_who.target_fields,
            plan_how.count_fields,
            plan_how.parameter_fields,
            plan_how.word_fields,
            plan_how.role_fields,
        ):
            for name, field in fields():
                if not isinstance(field.widget, forms.CheckboxSelectMultiple):
                    field.widget.attrs.setdefault("class", "field")
                self.fields[name] = field

    # What the page draws together.

    def filters_chosen(self) -> list[BoundField]:
        return [self[f"filter_{one.key}"] for one in CHOSEN]

    def filters_typed(self) -> list[BoundField]:
        ages = [self[f"filter_{one.key}_{side}"] for one in AGED for side in ("least", "most")]
        return [*ages, *(self[f"filter_{one.key}"] for one in WORDED)]

    def targets(self) -> list[BoundField]:
        return [self[f"threads_{key}"] for key in CATALOGUE]

    def parameters(self) -> list[BoundField]:
        return [self[name] for name, _ in plan_how.parameter_fields()]

    def words(self) -> list[BoundField]:
        return [self[name] for name, _ in plan_how.word_fields()]

    def roles(self) -> Iterator[tuple[str, str, list[tuple[str, BoundField]]]]:
        """Label, what the role does, and its four fields, each with its short name."""
        for role, (label, does) in plan_how.ROLES.items():
            yield label, does, [(words, self[f"{role}_{what}"]) for what, words in ROLE_FIELDS.items()]

    def wrong_inside(self) -> dict[str, bool]:
        """Which folded part holds an error, and so is drawn open."""
        parts = {
            "filter": [*self.filters_chosen(), *self.filters_typed()],
            "parameters": [*self.parameters(), *self.words()],
            "roles": [field for _, _, fields in self.roles() for _, field in fields],
        }
        return {part: any(field.errors for field in fields) for part, fields in parts.items()}

    # What was asked for. The first three are None where a field they need is wrong.

    def asked_filter(self) -> ProfileFilter | None:
        names = [field.name for field in (*self.filters_chosen(), *self.filters_typed())]
        return plan_who.read_filter(self.cleaned_data) if self._fine(names) else None

    def asked_targets(self) -> dict[str, int] | None:
        fine = self._fine([field.name for field in self.targets()])
        return plan_who.read_targets(self.cleaned_data) if fine else None

    def asked_parameters(self) -> Parameters | None:
        names = [*plan_how.COUNTS, *(field.name for field in (*self.parameters(), *self.words()))]
        return plan_how.read_parameters(self.cleaned_data) if self._fine(names) else None

    def model_name(self) -> str:
        provider = self.cleaned_data.get("provider")
        return self.cleaned_data.get("model") or (provider.default_model if provider else "")

    def asked_models(self) -> dict[str, RoleModel]:
        return plan_how.read_roles(self.cleaned_data, self.model_name())

    def with_fields(self, fields: Mapping[str, int], providers: Iterable[Provider]) -> SimulationForm:
        """The same form with other values in some fields."""
        sent: Any = copy(self.data)
        for name, value in fields.items():
            sent[name] = str(value)
        return SimulationForm(sent, providers=providers)

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        for prefix, (label, _) in plan_how.WORDS.items():
            least, most = cleaned.get(f"{prefix}_least"), cleaned.get(f"{prefix}_most")
            if least and most and least > most:
                self.add_error(f"{prefix}_most", f"{label}: not less than the least, {least}.")
        for one in AGED:
            least, most = (cleaned.get(f"filter_{one.key}_{side}") for side in ("least", "most"))
            if least and most and least > most:
                self.add_error(f"filter_{one.key}_most", f"Not less than {least}, where it begins.")
        return cleaned

    def _fine(self, names: Iterable[str]) -> bool:
        return not any(name in self.errors for name in names)
