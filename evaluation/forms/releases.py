"""What a release holds and is called; what is added to one that is there."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from annotation.models import Queue
from evaluation.domain.citing import LONGEST_DOI
from evaluation.domain.releasing import SOURCES
from evaluation.exchange import releases
from evaluation.exchange.release_push import TOKEN
from evaluation.models import Release
from evaluation.services.releases import LONGEST_NOTICE
from simulation.domain.attributes import TARGETS
from simulation.models import Corpus

PLAIN = (forms.RadioSelect, forms.CheckboxSelectMultiple, forms.CheckboxInput)
"""Widgets that have no frame of their own."""


class Dressed(forms.Form):
    """A form whose fields have the classes of our design."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.visible_fields():
            if not isinstance(field.field.widget, PLAIN):
                field.field.widget.attrs.setdefault("class", "field")


class ReleaseForm(Dressed):
    """A new release: its name, its filters, its policy."""

    name = forms.CharField(
        label="Name",
        max_length=releases.LONGEST_NAME,
        help_text="What people cite: 1.0, 2026-12. It cannot be changed later.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    title = forms.CharField(
        label="Title",
        max_length=releases.LONGEST_TITLE,
        required=False,
        help_text="Empty: the name of the corpus.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    licence = forms.CharField(
        label="Licence",
        max_length=releases.LONGEST_LICENCE,
        required=False,
        help_text="Such as CC-BY-NC-SA-4.0. Empty: that of the corpus.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        label="Description",
        max_length=releases.LONGEST_DESCRIPTION,
        required=False,
        help_text="Stands at the head of its card. Empty: that of the corpus.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    policy = forms.ChoiceField(label="Which labels count", choices=Release.POLICIES, widget=forms.RadioSelect)
    agreeing = forms.IntegerField(
        label="People who must say the same",
        required=False,
        min_value=1,
        max_value=releases.MOST_PEOPLE,
        help_text="Only for “agreeing”.",
    )
    reviewed_only = forms.BooleanField(label="Only comments that somebody here has reviewed", required=False)
    include_withdrawn = forms.BooleanField(label="Withdrawn comments, too", required=False)
    notes = forms.BooleanField(
        label="The free notes of annotators and adjudicators, which may name anybody: look at them first",
        required=False,
    )
    min_words = forms.IntegerField(
        label="Least words of a comment", required=False, min_value=0, max_value=1_000_000
    )
    sources = forms.MultipleChoiceField(
        label="Sources",
        choices=[(one, one) for one in SOURCES],
        required=False,
        help_text="How comments came into the corpus, or what their file said they are. None chosen: all.",
        widget=forms.CheckboxSelectMultiple,
    )
    threads = forms.CharField(
        label="Threads",
        required=False,
        max_length=2_000_000,
        help_text="Their ids, one a line. Empty: all.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    profiles = forms.CharField(
        label="Authors",
        required=False,
        max_length=2_000_000,
        help_text="Their ids, one a line. Empty: all.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    attributes = forms.MultipleChoiceField(
        label="Attributes",
        choices=[(one.key, one.label) for one in TARGETS],
        required=False,
        help_text="None chosen: all of them.",
        widget=forms.CheckboxSelectMultiple,
    )
    queues = forms.ModelMultipleChoiceField(
        label="Queues",
        queryset=Queue.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text="None chosen: comments of all queues, and those of none.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["queues"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = Queue.objects.filter(corpus=corpus, trashed_at=None).order_by("name")

    @property
    def policies(self) -> list[tuple[Any, str, str]]:
        """Each choice, its word and what it means."""
        words = {key: text.partition(": ") for key, text in Release.POLICIES}
        found = [(box, words[box.data["value"]]) for box in self["policy"]]
        return [(box, name, meaning) for box, (name, _, meaning) in found]

    @property
    def query(self) -> dict[str, Any]:
        """As `Query.from_json` reads it."""
        said = self.cleaned_data
        found: dict[str, Any] = {
            "reviewed_only": said["reviewed_only"],
            "include_withdrawn": said["include_withdrawn"],
            "notes": said["notes"],
            "min_words": said["min_words"] or 0,
            "sources": said["sources"],
            "threads": _names(said["threads"]),
            "profiles": _names(said["profiles"]),
            "attributes": said["attributes"],
            "queues": [str(one.public_id) for one in said["queues"]],
        }
        return {name: value for name, value in found.items() if value}

    @property
    def holds(self) -> dict[str, Any]:
        """Query, policy and people, as `preview` takes them."""
        policy = self.cleaned_data["policy"]
        people = self.cleaned_data["agreeing"] if policy == Release.AGREEING else None
        return {"query": self.query, "policy": policy, "agreeing": people}

    @property
    def can_look(self) -> bool:
        """Whether all that decides what is in it is right."""
        return not set(self.errors) - {"name", "title", "licence", "description", NON_FIELD_ERRORS}


def _names(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class WithdrawForm(Dressed):
    """Why a release is withdrawn."""

    notice = forms.CharField(
        label="Why, and what to use instead",
        max_length=LONGEST_NOTICE,
        help_text="Everybody who opens the release or takes its files reads it. It cannot be changed later.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class DoiForm(Dressed):
    """Under which DOI a release is known."""

    doi = forms.CharField(
        label="DOI",
        max_length=LONGEST_DOI + 40,
        help_text="Such as 10.5281/zenodo.123456, as the archive gave it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class PushForm(Dressed):
    """Where a copy is sent."""

    repository = forms.CharField(
        label="Repository",
        max_length=96 * 2 + 1,
        help_text="Owner/name. It is made if it is not there.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    variable = forms.CharField(
        label="Variable with the token",
        max_length=60,
        initial=TOKEN,
        help_text=(
            "Its name, which ends in _TOKEN; the token itself is read from the server’s environment and kept"
            " nowhere."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    public = forms.BooleanField(label="Anybody may see it; else only the owner", required=False)
