"""How the comments of a corpus are masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.domain.masking import LEAST, Category
from evaluation.domain.masking_rewrite import CERTAIN, ROUNDS, Limits
from evaluation.forms.caps import CapsForm, provider_field
from evaluation.models import Masking
from evaluation.services.masking import LONGEST_NAME
from evaluation.services.masking_maskers import REGISTRY, Kind
from evaluation.services.masking_rewriting import ANSWER_CAP
from simulation.domain.plans import RoleModel

PLAIN = (forms.RadioSelect, forms.CheckboxSelectMultiple)
"""Widgets that have no frame of their own."""


class MaskingForm(forms.Form):
    """One masker, its style, and what it may look for. `missing` maskers are named, not offered."""

    name = forms.CharField(
        label="Name", max_length=LONGEST_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    masker = forms.ChoiceField(label="Masker", widget=forms.RadioSelect)
    style = forms.ChoiceField(
        label="What stands in the place of what was found",
        choices=[(key, words.capitalize()) for key, words in Masking.STYLES if key != Masking.REWRITTEN],
        initial=Masking.STARS,
        widget=forms.RadioSelect,
    )
    least = forms.FloatField(
        label="Least confidence",
        min_value=0,
        max_value=1,
        initial=LEAST,
        help_text="0 to 1; from here on it is masked. Published: 0.4.",
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
    categories = forms.MultipleChoiceField(
        label="Categories",
        choices=[(one.value, one.value) for one in Category],
        initial=[one.value for one in Category],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one category."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kinds = list(REGISTRY.values())
        self.fields["masker"].choices = [  # type: ignore[attr-defined]
            (one.name, one.title) for one in self.kinds if not one.missing()
        ]
        for field in self.visible_fields():
            if not isinstance(field.field.widget, PLAIN):
                field.field.widget.attrs.setdefault("class", "field")

    @property
    def maskers(self) -> list[tuple[Any, Kind]]:
        """Each choice with what it is."""
        return [(box, REGISTRY[box.data["value"]]) for box in self["masker"]]

    @property
    def missing(self) -> list[tuple[Kind, str]]:
        """Maskers that are not installed, with the line that installs them."""
        return [(one, how) for one in self.kinds if (how := one.missing())]

    @property
    def chosen(self) -> dict[str, Any]:
        """As the service takes it."""
        said = self.cleaned_data
        options = {"least": said["least"], "categories": said["categories"]}
        return {"name": said["name"], "masker": said["masker"], "style": said["style"], "options": options}


class RewritingForm(CapsForm):
    """Who rewrites the comments, and until when."""

    name = forms.CharField(label="Name", max_length=80)
    provider = provider_field()
    model = forms.CharField(
        label="Model",
        required=False,
        max_length=100,
        help_text="It looks for what is given away, and rewrites. Empty: the provider’s own.",
    )
    rounds = forms.IntegerField(
        label="Rewritings, at most",
        min_value=1,
        max_value=10,
        initial=ROUNDS,
        help_text="Of one comment. It ends earlier where nothing can be inferred any more.",
    )
    certain = forms.IntegerField(
        label="Certainty from which it counts",
        min_value=1,
        max_value=5,
        initial=CERTAIN,
        help_text="1 (mere bias) to 5 (clear evidence); what is inferred less surely may stay.",
    )

    @property
    def limits(self) -> Limits:
        """As the service takes them."""
        return Limits(rounds=self.cleaned_data["rounds"], certain=self.cleaned_data["certain"])

    @property
    def role(self) -> RoleModel | None:
        """Whom to ask; None where that cannot be read."""
        provider = self.cleaned_data.get("provider")
        if provider is None or self.cleaned_data.get("model") is None:
            return None
        name = self.cleaned_data["model"].strip() or provider.default_model
        return RoleModel(name, 0.0, max_tokens=ANSWER_CAP, provider=provider.public_id)

    def with_fields(self, fields: Mapping[str, int]) -> RewritingForm:
        """The same form with other values in some fields."""
        return RewritingForm(self.changed(fields))
