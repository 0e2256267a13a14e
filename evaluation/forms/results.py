"""What the pages of results ask for: a file with what it is, and what is known of a model."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from evaluation.models import LabelSet, Masking, PredictionRun, ResultImport
from evaluation.selectors import results
from evaluation.selectors.masking import ready
from simulation.models import Corpus

LONGEST_TITLE = 80
"""Leaves room for a reviewer or a kind behind it."""


class ResultsForm(forms.Form):
    """One file of labels or predictions."""

    kind = forms.ChoiceField(
        label="The file holds",
        choices=[
            (ResultImport.PREDICTIONS, "Guesses of one model, with or without their scores"),
            (ResultImport.LABELS, "Labels of profiles, by one or several reviewers"),
        ],
        initial=ResultImport.PREDICTIONS,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(
        label="File",
        help_text="JSONL in the SynthPAI layout, one profile a line; plain or .gz.",
        widget=forms.ClearableFileInput(attrs={"class": "field"}),
    )
    model = forms.CharField(
        label="Model, as charts call it",
        max_length=LONGEST_TITLE,
        required=False,
        help_text="Of guesses. The run is called after it and the file, as “gpt-4 / evaluated”.",
        widget=forms.TextInput(attrs={"class": "field", "autocomplete": "off"}),
    )
    labels = forms.ModelChoiceField(
        label="Label set of the scores in the file",
        queryset=LabelSet.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="None: leave scores out",
        help_text="Scores of the file are kept beside ours, as “as the file recorded”.",
        widget=forms.Select(attrs={"class": "field"}),
    )
    masking = forms.ModelChoiceField(
        label="Masking whose texts the model was shown",
        queryset=Masking.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="None: it was shown the comments as they are",
        help_text="Of guesses on anonymised text. The run is then called after the masking, too.",
        widget=forms.Select(attrs={"class": "field"}),
    )
    name = forms.CharField(
        label="Name of the label sets",
        max_length=LONGEST_TITLE,
        required=False,
        help_text="Of labels; empty: the file’s name. Each reviewer’s set is called “name / reviewer”.",
        widget=forms.TextInput(attrs={"class": "field", "autocomplete": "off"}),
    )
    skip = forms.BooleanField(
        label="Pass over lines that cannot be read, and list them on what is made", required=False
    )
    replace = forms.BooleanField(
        label="Replace what was imported under the same name from other contents; its scorings are removed",
        required=False,
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["labels"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = LabelSet.objects.filter(corpus=corpus)
        masking = self.fields["masking"]
        assert isinstance(masking, forms.ModelChoiceField)
        masking.queryset = ready(corpus)

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        megabytes = (file.size or 0) / 1024 / 1024
        if megabytes > settings.UPLOAD_LIMIT_MB:
            raise forms.ValidationError(
                f"The file has {megabytes:.0f} MB; at most {settings.UPLOAD_LIMIT_MB} MB are taken."
                " Split it, or pack it with gzip."
            )
        return file

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if said.get("kind") == ResultImport.PREDICTIONS and not said.get("model", "").strip():
            self.add_error("model", "Say which model made the guesses.")
        if said.get("kind") == ResultImport.LABELS and said.get("masking"):
            self.add_error("masking", "Labels are of the comments as they are; choose none.")
        return said

    @property
    def options(self) -> dict[str, Any]:
        """What the import is told, as its row keeps it."""
        said = self.cleaned_data
        labels: LabelSet | None = said["labels"]
        masking: Masking | None = said["masking"]
        return {
            "model": said["model"].strip(),
            "name": said["name"].strip(),
            "labels": str(labels.public_id) if labels else "",
            "masking": str(masking.public_id) if masking else "",
            "skip": said["skip"],
            "replace": said["replace"],
        }


class DescriptionForm(forms.ModelForm):
    """What is known of the model of a run, and what it was shown."""

    class Meta:
        model = PredictionRun
        fields = ("model", "family", "parameters", "text", "counterpart", "masking")
        labels = {
            "model": "Model, as charts call it",
            "parameters": "Size in billions of parameters",
            "text": "Text that it was shown",
            "counterpart": "Run on plain text to compare with",
            "masking": "Masking whose texts it was shown",
        }
        help_texts = {
            "family": "Such as Llama 3; charts colour and group by it.",
            "parameters": "As its maker published it; empty: not known.",
            "counterpart": "Only of a run on anonymised text.",
            "masking": "Only of a run on anonymised text; of one that was asked here it is known.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "field"
        other = self.fields["counterpart"]
        size = self.fields["parameters"]
        assert isinstance(other, forms.ModelChoiceField)
        assert isinstance(size, forms.DecimalField)
        other.queryset = results.counterparts(self.instance)
        other.to_field_name = "public_id"
        other.empty_label = "None"
        if self.instance.counterpart_id and self.instance.counterpart:
            self.initial["counterpart"] = self.instance.counterpart.public_id
        masking = self.fields["masking"]
        assert isinstance(masking, forms.ModelChoiceField)
        masking.queryset = Masking.objects.filter(corpus=self.instance.corpus).order_by("name")
        masking.to_field_name = "public_id"
        masking.empty_label = "None, or not known"
        masking.disabled = self.instance.origin == PredictionRun.ASKED
        if self.instance.masking:
            self.initial["masking"] = self.instance.masking.public_id
        if self.instance.parameters is not None:
            self.initial["parameters"] = f"{self.instance.parameters.normalize():f}"
        size.widget.attrs["min"] = 0

    def clean_parameters(self) -> Decimal | None:
        size: Decimal | None = self.cleaned_data["parameters"]
        if size is not None and size <= 0:
            raise forms.ValidationError("A size is above 0; leave it empty where it is not known.")
        return size
