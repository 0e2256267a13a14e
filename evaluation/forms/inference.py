"""What inference runs are told: whom they are about, what is shown, and which models are asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from evaluation.domain.inference import ANSWER_CAP
from evaluation.forms.caps import CapsForm, provider_field
from evaluation.models import LabelSet, Masking
from evaluation.selectors import masking
from evaluation.services.infer_prompts import Variant
from simulation.domain.plans import RoleModel
from simulation.models import Corpus

MOST_MODELS = 24
TEMPERATURE = 0.1
"""As published."""


class LabelSetChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: LabelSet) -> str:
        return f"{obj.name} ({obj.labels:,} labels of {obj.profiles:,} profiles)"


class MaskingChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Masking) -> str:
        return f"masked: {obj.name} ({obj.changed:,} of {obj.texts:,} texts changed)"


class InferenceForm(CapsForm):
    """One run for each model that is named, all about the same. Caps hold for each of them."""

    name = forms.CharField(label="Name", max_length=60)
    labels = LabelSetChoice(
        label="Ask about",
        queryset=LabelSet.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="every attribute of every author",
        help_text="A label set: its labels of certainty 1 and more; guesses are scored against it.",
    )
    masking = MaskingChoice(
        label="Texts",
        queryset=Masking.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="plain, as they were written",
        help_text="Of a masking: its texts; comments without one, or edited since, are left out and counted.",
    )
    comment_tokens = forms.IntegerField(
        label="Tokens of comments, at most",
        required=False,
        min_value=100,
        max_value=1_000_000,
        help_text="Empty: all comments. Else those without a label go first, the longest of them first.",
    )
    repair = forms.BooleanField(
        label="Send an answer back once if nothing can be read of it", required=False, initial=True
    )
    variant = forms.ChoiceField(label="Prompt", required=False)
    provider = provider_field()
    models = forms.CharField(
        label="Models, one a line",
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="As the provider calls them. Empty: the provider’s own.",
    )

    def __init__(self, *args: Any, corpus: Corpus, variants: Iterable[Variant], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus, self.variants = corpus, list(variants)
        self.fields["labels"].queryset = LabelSet.objects.filter(corpus=corpus)  # type: ignore[attr-defined]
        self.fields["masking"].queryset = masking.ready(corpus)  # type: ignore[attr-defined]
        self.fields["variant"].choices = [  # type: ignore[attr-defined]
            (one.name, f"{one.name} ({one.title})" if one.title else one.name) for one in self.variants
        ]

    def clean_models(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["models"].splitlines()]
        names = list(dict.fromkeys(line for line in lines if line))
        if len(names) > MOST_MODELS:
            raise forms.ValidationError(f"At most {MOST_MODELS} models at once; these are {len(names)}.")
        for name in names:
            if len(name) > 100:
                raise forms.ValidationError(f"“{name[:40]}…” is longer than 100 characters.")
        return names

    @property
    def roles(self) -> list[RoleModel]:
        """Whom to ask, as published at temperature 0.1; empty where that cannot be read."""
        said = self.cleaned_data
        provider = said.get("provider")
        if provider is None or said.get("models") is None:
            return []
        return [
            RoleModel(name, TEMPERATURE, max_tokens=ANSWER_CAP, provider=provider.public_id)
            for name in said["models"] or [provider.default_model]
        ]

    def with_fields(self, fields: Mapping[str, int]) -> InferenceForm:
        """The same form with other values in some fields."""
        return InferenceForm(self.changed(fields), corpus=self.corpus, variants=self.variants)
