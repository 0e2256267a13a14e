"""What a tagging run is told, or several side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from decimal import Decimal
from typing import Any

from django import forms

from annotation.services.tag_prompts import Variant
from annotation.services.tagging import Choice
from simulation.domain.money import MOST_NANO, NANO, nanos
from simulation.domain.plans import RoleModel
from simulation.models import Corpus, Provider, Run

ROWS = ("", "_2", "_3")
"""Endings of the fields of each model that can be chosen; the first one must be."""
PLAIN = (forms.RadioSelect, forms.CheckboxInput, forms.CheckboxSelectMultiple)
"""Widgets that have no frame of their own."""
LARGEST_CAP = 10**15
NO_AMOUNT = "Enter a number of dollars, such as 2.50."
JUDGE_CAP, TAGGER_CAP = 600, 1200
"""Completion caps, in tokens."""


class ProviderChoice(forms.ModelChoiceField):
    """Names each provider with the model that it stands for."""

    def label_from_instance(self, obj: Provider) -> str:
        return f"{obj.name} ({obj.default_model})"


def provider_field(label: str, *, empty: str | None = None) -> ProviderChoice:
    """A provider by its public id; with `empty` as the words for none, it may be left out."""
    return ProviderChoice(
        queryset=Provider.objects.order_by("name"),
        label=label,
        to_field_name="public_id",
        empty_label=empty,
        required=empty is None,
    )


def dollars_field(label: str, help_text: str) -> forms.DecimalField:
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


def role_model(provider: Provider, model: str, *, max_tokens: int) -> RoleModel:
    """The model at temperature 0; empty: the provider's own. Raises ValueError for too long a name."""
    return RoleModel(model or provider.default_model, 0.0, max_tokens=max_tokens, provider=provider.public_id)


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


class TagForm(CapsForm):
    """Which comments, up to three models or prompts, and whether a judge checks the tags. The hidden mark
    `form` tells a form that is sent twice."""

    WHICH = [("untagged", "Only comments no model was asked about"), ("all", "All of them")]

    name = forms.CharField(label="Name", max_length=80)
    which = forms.ChoiceField(label="Comments", choices=WHICH, initial="untagged", widget=forms.RadioSelect)
    judge = forms.BooleanField(label="Check the tags against the profiles afterwards", required=False)
    judge_provider = provider_field("Provider of the judge", empty="the first tagger’s")
    judge_model = forms.CharField(label="Model of the judge", required=False, max_length=100)

    def __init__(self, *args: Any, variants: Iterable[Variant], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.variants = list(variants)
        prompts = [
            (one.name, f"{one.name} ({one.title})" if one.title else one.name) for one in self.variants
        ]
        for number, end in enumerate(ROWS, start=1):
            which = f" {number}" if end else ""
            self.fields[f"provider{end}"] = provider_field(
                f"Provider{which}", empty="– none –" if end else None
            )
            self.fields[f"model{end}"] = forms.CharField(
                label=f"Model{which}", required=False, max_length=100
            )
            self.fields[f"variant{end}"] = forms.ChoiceField(
                label=f"Prompt{which}", choices=prompts, required=False
            )
            for name in ("provider", "model", "variant"):
                self.fields[f"{name}{end}"].widget.attrs["class"] = "field"
        self.choices: list[Choice] = []

    def clean(self) -> dict[str, Any]:
        said = super().clean()
        for end in ROWS:
            self._take_row(said, end)
        if len(set(self.choices)) < len(self.choices):
            self.add_error("provider_2", "The same model with the same prompt is chosen twice: change one.")
        return said

    def _take_row(self, said: Mapping[str, Any], end: str) -> None:
        provider, model = said.get(f"provider{end}"), said.get(f"model{end}")
        if provider is None:
            if end and model:
                self.add_error(f"provider{end}", "Choose the provider of this model, or clear the model.")
            return
        variant = said.get(f"variant{end}") or (self.variants[0].name if self.variants else "")
        if model is not None:
            self.choices.append(Choice(provider, role_model(provider, model, max_tokens=TAGGER_CAP), variant))

    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField, forms.BoundField]]:
        """Provider, model and prompt of each model that can be chosen."""
        return [(self[f"provider{end}"], self[f"model{end}"], self[f"variant{end}"]) for end in ROWS]

    @property
    def judge_role(self) -> RoleModel | None:
        """Who checks the tags: one judge for all runs, so that they can be compared."""
        said = self.cleaned_data
        if not said.get("judge"):
            return None
        provider = said.get("judge_provider") or said.get("provider")
        return role_model(provider, said.get("judge_model", ""), max_tokens=JUDGE_CAP) if provider else None

    def with_fields(self, fields: Mapping[str, int]) -> TagForm:
        """The same form with other values in some fields."""
        return TagForm(self.changed(fields), variants=self.variants)


class CheckForm(CapsForm):
    """Which tags a judge checks, and by which model."""

    name = forms.CharField(label="Name", max_length=80)
    runs = forms.ModelMultipleChoiceField(
        label="Tags of",
        queryset=Run.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text="None chosen: all suggestions, imported ones too.",
        widget=forms.CheckboxSelectMultiple,
    )
    only_unchecked = forms.BooleanField(label="Only tags that no run has checked", required=False)
    all_to_judge = forms.BooleanField(
        label="Ask the judge even where a guess equals the profile’s value",
        required=False,
        help_text="As the published check did. Otherwise equal values are right without a call.",
    )
    provider = provider_field("Provider")
    model = forms.CharField(label="Model", required=False, max_length=100, help_text="Empty: the provider’s.")

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus = corpus
        self.fields["runs"].queryset = Run.objects.filter(corpus=corpus, kind=Run.TAG)  # type: ignore[attr-defined]
        self.fields["runs"].widget.attrs.pop("class", None)

    @property
    def role(self) -> RoleModel | None:
        said = self.cleaned_data
        if not said.get("provider") or said.get("model") is None:
            return None
        return role_model(said["provider"], said["model"], max_tokens=JUDGE_CAP)

    def with_fields(self, fields: Mapping[str, int]) -> CheckForm:
        """The same form with other values in some fields."""
        return CheckForm(self.changed(fields), corpus=self.corpus)
