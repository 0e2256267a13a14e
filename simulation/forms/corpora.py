"""The form of a new corpus."""

from __future__ import annotations

from typing import Any

from django import forms

from simulation.forms.styled import Styled
from simulation.services.corpora import DEFAULT_LANGUAGE, languages


class CorpusForm(Styled, forms.Form):
    """What a corpus is called, and in which language it will be written."""

    name = forms.CharField(label="Name", max_length=80, help_text="As people will choose it.")
    description = forms.CharField(
        label="What is it?",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where it comes from and what it is for. Everybody who may browse it reads this.",
    )
    licence = forms.CharField(
        label="Licence",
        required=False,
        max_length=80,
        help_text="Such as CC BY-NC-SA 4.0. It goes into every export.",
    )
    language = forms.ChoiceField(
        label="Language",
        initial=DEFAULT_LANGUAGE,
        help_text="In which its threads are written. Offered are those for which there are prompts.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language = self.fields["language"]
        assert isinstance(language, forms.ChoiceField)
        language.choices = languages()
