"""A comment is given another text by hand."""

from __future__ import annotations

from typing import Any

from django import forms

from simulation.forms.styled import Styled
from simulation.services.artefacts import LONGEST_TEXT


class CommentEditForm(Styled, forms.Form):
    """`expected_text` is what the person saw; the box “all the same” comes for comments that people
    have labelled or are labelling now (`in_use`)."""

    text = forms.CharField(
        label="Text of the comment",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto", "spellcheck": "true"}),
        error_messages={"required": "A comment cannot be empty: withdraw it instead."},
    )
    expected_text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=300,
        help_text="Optional; it stands beside the change.",
    )
    force = forms.BooleanField(
        label="Edit it although people have labelled it, or are at it now; their labels stay as they are",
        required=False,
    )

    def __init__(self, *args: Any, in_use: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not in_use:
            del self.fields["force"]
