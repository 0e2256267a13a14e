"""What the review page sends, read into typed answers; and the small forms around it."""

import uuid
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotation.domain.labels import Answer, Guessed, Label, Problem, judge
from simulation.domain.attributes import TARGETS
from simulation.models import Provider

DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Review:
    """A posted review: the answers as typed, and either all labels or all problems."""

    submission_id: uuid.UUID | None
    active_ms: int
    answers: dict[str, Answer]
    labels: dict[str, Label]
    problems: list[Problem]


def read_review(
    posted: Mapping[str, str], suggestions: Mapping[str, Guessed], *, rest_is_none: bool
) -> Review:
    """Reads every row; the server's word on what is complete, whatever the browser checked."""
    answers, labels, problems = {}, {}, []
    for attribute in TARGETS:
        answer = Answer(
            *(
                posted.get(f"{attribute.key}-{part}", "").strip()
                for part in ("choice", "text", "hardness", "certainty")
            )
        )
        answers[attribute.key] = answer
        outcome = judge(attribute, answer, suggestions.get(attribute.key), rest_is_none=rest_is_none)
        if isinstance(outcome, Label):
            labels[attribute.key] = outcome
        else:
            problems.extend(outcome)
    return Review(
        _uuid(posted.get("submission_id", "")), _ms(posted.get("active_ms", "")), answers, labels, problems
    )


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _ms(text: str) -> int:
    return min(int(text), DAY_MS) if text.isdecimal() and len(text) < 12 else 0


class QueueForm(forms.Form):
    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"class": "field"}))
    people_per_item = forms.IntegerField(
        label="People a comment",
        min_value=1,
        max_value=10,
        initial=1,
        widget=forms.NumberInput(attrs={"class": "field"}),
    )
    only_suggested = forms.BooleanField(label="Only comments with a suggestion", required=False)


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="profiles.json, a thread tree, or rows in the SynthPAI layout (JSONL); plain or .gz.",
        widget=forms.ClearableFileInput(attrs={"class": "field"}),
    )
    dry_run = forms.BooleanField(label="Only look: report what would change", required=False)

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        megabytes = (file.size or 0) / 1024 / 1024
        if megabytes > settings.UPLOAD_LIMIT_MB:
            raise forms.ValidationError(
                f"The file has {megabytes:.0f} MB; at most {settings.UPLOAD_LIMIT_MB} MB are taken."
                " Split it, or pack it with gzip."
            )
        return file


class ExportForm(forms.Form):
    LAYOUTS = [
        ("synthpai", "SynthPAI layout (JSONL): as published, labels under “reviews”"),
        ("jsonl", "Plain JSONL: one comment a line, every field"),
        ("csv", "CSV: one row a comment, reviewer and attribute"),
    ]
    format = forms.ChoiceField(choices=LAYOUTS, initial="synthpai", widget=forms.RadioSelect)
    reviewed_only = forms.BooleanField(label="Only comments that somebody reviewed here", required=False)


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
