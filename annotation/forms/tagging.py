"""What a tagging run is told."""

from collections.abc import Mapping
from copy import copy
from typing import Any

from django import forms

from simulation.models import Provider


class ProviderChoice(forms.ModelChoiceField):
    """Names each provider with the model that it stands for."""

    def label_from_instance(self, obj: Provider) -> str:
        return f"{obj.name} ({obj.default_model})"


class TagForm(forms.Form):
    """What a tagging run needs to be told. Hidden are the caps that were proposed, and the mark by which a
    form that is sent twice is told."""

    WHICH = [("untagged", "Only comments no model was asked about"), ("all", "All comments")]
    LARGEST_CAP = 10**15

    name = forms.CharField(label="Name", max_length=80)
    provider = ProviderChoice(
        queryset=Provider.objects.order_by("name"),
        label="Provider",
        to_field_name="public_id",
        empty_label=None,
    )
    model = forms.CharField(
        label="Model", required=False, max_length=100, help_text="Empty: the default model of the provider."
    )
    which = forms.ChoiceField(label="Comments", choices=WHICH, initial="untagged", widget=forms.RadioSelect)
    max_calls = forms.IntegerField(label="Calls, at most", min_value=1, max_value=LARGEST_CAP)
    max_tokens = forms.IntegerField(label="Tokens, at most", min_value=1, max_value=LARGEST_CAP)
    suggested_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)
    suggested_tokens = forms.IntegerField(required=False, widget=forms.HiddenInput)
    form = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.visible_fields():
            if not isinstance(field.field.widget, forms.RadioSelect):
                field.field.widget.attrs.setdefault("class", "field")

    def with_fields(self, fields: Mapping[str, int]) -> "TagForm":
        """The same form with other values in some fields."""
        sent: Any = copy(self.data)
        for name, value in fields.items():
            sent[name] = str(value)
        return TagForm(sent)
