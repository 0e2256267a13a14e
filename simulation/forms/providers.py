"""The form of a provider."""

from __future__ import annotations

from django import forms

from simulation.forms.styled import Styled


class ProviderForm(Styled, forms.Form):
    """Where models are reached. It asks for the name of a variable, never for a key."""

    name = forms.CharField(
        label="Name", max_length=60, help_text="As people will choose it, such as “OpenAI” or “vLLM, room 4”."
    )
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        help_text=(
            "The base of an OpenAI-compatible service, such as https://api.openai.com/v1. Or “scripted:” for"
            " the built-in scripted model: rules, not a language model, without key and cost."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url", "spellcheck": "false"}),
    )
    key_variable = forms.CharField(
        label="Variable with the key",
        required=False,
        max_length=70,
        help_text=(
            "The name of an environment variable of the workers, such as OPENAI_API_KEY. The key itself is"
            " never entered here. Leave it empty where no key is needed."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    default_model = forms.CharField(
        label="Default model", max_length=100, help_text="Used where a run names no other."
    )
    timeout_seconds = forms.IntegerField(
        label="Seconds a call may take", min_value=1, max_value=3600, initial=120
    )
