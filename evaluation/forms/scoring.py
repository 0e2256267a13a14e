"""What is to be scored against which labels, by which rules."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.models import LabelSet, PredictionRun, Scoring
from evaluation.selectors.verdicts import Made
from evaluation.services.baselines import taggers
from simulation.models import Corpus

NOTHING = "Choose at least one prediction run, or a baseline."
MODES = [
    (
        Scoring.DEFAULT,
        "Default rules: the published ladder without its known faults; what no rule knows becomes a question",
    ),
    (
        Scoring.COMPATIBLE,
        "Published rules: as in the paper, with all their faults, to compare with published numbers",
    ),
]


class LabelSetChoice(forms.ModelChoiceField):
    """Names each set with its size."""

    def label_from_instance(self, obj: LabelSet) -> str:
        return f"{obj.name} ({obj.labels:,} labels of {obj.profiles:,} profiles)"


class RunChoices(forms.ModelMultipleChoiceField):
    """Names each run with its model."""

    def label_from_instance(self, obj: PredictionRun) -> str:
        return obj.name if obj.model == obj.name else f"{obj.name} ({obj.model})"


class ScoringForm(forms.Form):
    """Label set, runs, modes, baselines."""

    labels = LabelSetChoice(
        queryset=LabelSet.objects.none(),
        to_field_name="public_id",
        empty_label=None,
        widget=forms.Select(attrs={"class": "field"}),
        label="Against the labels",
        help_text="Labels of hardness 1 and more count; a label that no prediction is about is “not asked”.",
    )
    runs = RunChoices(
        queryset=PredictionRun.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Prediction runs",
    )
    modes = forms.MultipleChoiceField(
        choices=MODES, widget=forms.CheckboxSelectMultiple, label="By which rules", initial=[Scoring.DEFAULT]
    )
    takes_recorded = forms.BooleanField(
        required=False,
        label="Let the scores of imported files answer questions",
        help_text="A score above 0 always; a 0 only where all scores of the item are 0: only then somebody"
        " was asked by the published rules. Files that contradict each other answer nothing.",
    )
    majority = forms.BooleanField(
        required=False,
        label="Majority guess",
        help_text="The most frequent values of the set, counted without the label that is guessed.",
    )
    taggers = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="From the tags of"
    )

    def __init__(self, *given: Any, corpus: Corpus, made: Made, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["labels"].queryset = LabelSet.objects.filter(corpus=corpus).order_by("name")  # type: ignore[attr-defined]
        self.fields["runs"].queryset = PredictionRun.objects.filter(corpus=corpus).order_by("name")  # type: ignore[attr-defined]
        self.fields["taggers"].choices = [(one, one) for one in taggers(corpus)]  # type: ignore[attr-defined]
        self.made = made

    def clean(self) -> dict[str, Any]:
        """At least one thing has to be scored."""
        said = super().clean() or {}
        if not (said.get("runs") or said.get("majority") or said.get("taggers") or self.errors):
            self.add_error("runs", NOTHING)
        return said

    @property
    def more(self) -> dict[str, Any]:
        """What the worker is told besides set, runs and modes."""
        said = self.cleaned_data
        names = ("majority", "taggers", "takes_recorded")
        return {name: said[name] for name in names}
