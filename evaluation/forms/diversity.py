"""What a comparison by machine asks for: another corpus or a file, and a seed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from evaluation.services.diversity_texts import MOST_BYTES
from simulation.models import Corpus

MOST_SEED = 2**31 - 1


class RealismForm(forms.Form):
    """A corpus or a file, one of both."""

    other = forms.ModelChoiceField(
        label="Another corpus",
        queryset=Corpus.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="None: a file",
        widget=forms.Select(attrs={"class": "field"}),
    )
    file = forms.FileField(
        label="Or a file of texts",
        required=False,
        max_length=200,
        help_text=(
            "Plain text, one text a line, or .jsonl with “text” and, if known, “author” and “thread”; UTF-8, "
            f"at most {MOST_BYTES // 1024**2} MB. It is removed from the server once it is counted."
        ),
        widget=forms.FileInput(attrs={"class": "field"}),
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=MOST_SEED,
        initial=0,
        help_text="Draws authors and folds; the same seed gives the same numbers.",
        widget=forms.NumberInput(attrs={"class": "field"}),
    )

    def __init__(self, *args: Any, corpora: QuerySet[Corpus], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["other"].queryset = corpora  # type: ignore[attr-defined]

    def clean_file(self) -> UploadedFile | None:
        """No larger than can be compared with."""
        file: UploadedFile | None = self.cleaned_data.get("file")
        if file is not None and (file.size or 0) > MOST_BYTES:
            raise forms.ValidationError(
                f"The file has {(file.size or 0) / 1024**2:.1f} MB; at most {MOST_BYTES // 1024**2} are "
                "possible. Bring a sample of it."
            )
        return file

    def clean(self) -> dict[str, Any]:
        """One of both."""
        given: dict[str, Any] = super().clean() or {}
        if not self.errors and bool(given.get("other")) == bool(given.get("file")):
            raise forms.ValidationError("Choose a corpus or a file, one of both.")
        return given
