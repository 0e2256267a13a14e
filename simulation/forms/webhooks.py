"""The forms of a webhook."""

from __future__ import annotations

from typing import Any

from django import forms

from simulation.domain.webhooks import WORDS, Event


class EventsForm(forms.Form):
    """What is told, and a note for whoever reads the list."""

    events = forms.MultipleChoiceField(
        label="Tell it when",
        choices=[(event.value, WORDS[event]) for event in Event],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=200,
        help_text="What listens there, such as “the lab's notebook server”.",
        widget=forms.TextInput(attrs={"class": "field", "autocomplete": "off"}),
    )


class WebhookForm(EventsForm):
    """A new one. The address cannot be changed later: a secret belongs to one receiver."""

    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Where messages are posted to, such as https://example.org/hooks/synthpai.",
        widget=forms.TextInput(
            attrs={"class": "field", "autocomplete": "off", "inputmode": "url", "spellcheck": "false"}
        ),
    )
    field_order = ["url", "events", "note"]

    def asked(self) -> dict[str, Any]:
        """As `webhook_keeping.add` wants it."""
        return dict(self.cleaned_data)
