"""The form of a personal token."""

from __future__ import annotations

from typing import Any

from django import forms

from simulation.domain.scopes import WORDS, Scope
from simulation.forms.styled import Styled
from simulation.models import Corpus, User
from simulation.selectors.api_tokens import corpora_for
from simulation.services.api_tokens import MOST_DAYS, NAME_LENGTH

USUAL_DAYS = 90


class TokenForm(Styled, forms.Form):
    """What it is called, what it may do, for how long and where."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        help_text="What will use it, such as “notebook on the lab server”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=[(scope.value, WORDS[scope]) for scope in Scope],
        initial=[Scope.READ.value],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one: without a scope it opens nothing."},
        help_text="As far as your roles go: a scope gives no right that you do not have.",
    )
    days = forms.IntegerField(
        label="Days", min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS, help_text="1 to 365."
    )
    corpus = forms.ModelChoiceField(
        queryset=Corpus.objects.none(),
        label="Where",
        required=False,
        to_field_name="public_id",
        empty_label="Everywhere I may",
        help_text="One corpus alone, or every one.",
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].widget.attrs.pop("class", None)
        place = self.fields["corpus"]
        assert isinstance(place, forms.ModelChoiceField)
        place.queryset = corpora_for(person)

    def asked(self) -> dict[str, Any]:
        """As `make_token` wants it."""
        said = self.cleaned_data
        return {**said, "scopes": [Scope(scope) for scope in said["scopes"]]}
