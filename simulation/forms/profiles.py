"""The form of a profile: one field for each attribute of the catalogue, by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms import BoundField

from simulation.domain.attributes import CATALOGUE, Attribute, Kind
from simulation.domain.normalise import MAX_LENGTH, OLDEST, vocabulary_form
from simulation.forms.styled import Styled
from simulation.models import Profile
from simulation.services.profiles import LONGEST_NAME, LONGEST_STYLE

LOOKED_UP = ("occupation",)
"""Attributes of free words for which names can be looked up, besides the places."""


class ProfileForm(Styled, forms.Form):
    """What a profile says. Which facts go together, and which must be there, the service decides."""

    username = forms.CharField(
        label="Username",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="The name under which the author writes; once in a corpus.",
    )
    style = forms.CharField(
        label="Writing style",
        required=False,
        max_length=LONGEST_STYLE,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="How the author writes, told to the author; an example comment may follow.",
    )
    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, profile: Profile | None = None, **kwargs: Any) -> None:
        known: Mapping[str, Any] = profile.facts if profile else {}
        if profile is not None:
            kwargs["initial"] = _initial(profile) | kwargs.get("initial", {})
        super().__init__(*args, **kwargs)
        for key, attribute in CATALOGUE.items():
            field = _field(attribute, known.get(key))
            field.widget.attrs["class"] = "field"
            self.fields[f"fact_{key}"] = field

    def facts(self) -> list[tuple[Attribute, BoundField]]:
        """Each attribute with its field, in the catalogue's order."""
        return [(one, self[f"fact_{key}"]) for key, one in CATALOGUE.items()]

    def asked_facts(self) -> dict[str, Any]:
        """What was entered; a field that is empty stands for no value."""
        return {key: self.cleaned_data.get(f"fact_{key}") for key in CATALOGUE}

    def say(self, problems: Mapping[str, str]) -> None:
        """Puts each problem beside its field; what belongs to none goes above."""
        for key, sentence in problems.items():
            field = f"fact_{key}" if f"fact_{key}" in self.fields else key
            self.add_error(field if field in self.fields else None, sentence)


def _initial(profile: Profile) -> dict[str, Any]:
    facts = {f"fact_{key}": _shown(one, profile.facts.get(key)) for key, one in CATALOGUE.items()}
    return facts | {"username": profile.username, "style": profile.style, "version": profile.version}


def _shown(attribute: Attribute, value: Any) -> Any:
    """The value as its field can show it: a choice in the catalogue's spelling."""
    if attribute.kind is Kind.CHOICE and value:
        return vocabulary_form(attribute, str(value)) or value
    return value


def _field(attribute: Attribute, known: Any) -> forms.Field:
    common: dict[str, Any] = {"label": attribute.label, "required": False}
    if attribute.kind is Kind.CHOICE:
        values = list(attribute.values)
        shown = _shown(attribute, known)
        if shown and shown not in values:
            values.append(str(shown))  # what an import brought can stay as it is
        return forms.ChoiceField(choices=[("", "–"), *((one, one) for one in values)], **common)
    if attribute.kind is Kind.AGE:
        return forms.IntegerField(min_value=1, max_value=OLDEST, **common)
    attrs = {"autocomplete": "off", "spellcheck": "false"}
    if attribute.values or attribute.kind is Kind.PLACE or attribute.key in LOOKED_UP:
        attrs["list"] = f"known-{attribute.key}"
    return forms.CharField(
        max_length=MAX_LENGTH,
        help_text=attribute.short[:1].upper() + attribute.short[1:],
        widget=forms.TextInput(attrs=attrs),
        **common,
    )
