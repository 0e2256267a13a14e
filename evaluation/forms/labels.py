"""What a new label set is made from."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Annotation, Queue, Suggestion
from evaluation.domain.rollup import Policy
from evaluation.models import LabelSet, Scoring
from evaluation.selectors.label_sources import Sources
from evaluation.selectors.label_words import ARM_WORDS, POLICY_WORDS, WHICH_WORDS
from evaluation.services.label_sets import SEVERAL_WORDS, Several
from simulation.domain.attributes import TARGET_KEYS
from simulation.models import Corpus, Run, User

PLAIN = (forms.RadioSelect, forms.CheckboxInput, forms.CheckboxSelectMultiple, forms.HiddenInput)
"""Widgets that have no frame of their own."""


class NewSetForm(forms.Form):
    """The fields that every new set has. Adds the classes of our fields."""

    KIND = ""
    kind = forms.CharField(widget=forms.HiddenInput)
    name = forms.CharField(
        label="Name", max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    policy = forms.ChoiceField(
        label="Which label of an author’s comments becomes the profile’s",
        choices=[(policy.value, policy.value.capitalize()) for policy in Policy],
        initial=Policy.MINIMUM_HARDNESS.value,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus = corpus
        for field in self.visible_fields():
            if not isinstance(field.field.widget, PLAIN):
                field.field.widget.attrs.setdefault("class", "field")

    @property
    def policies(self) -> list[tuple[Any, str]]:
        """Each choice with its definition."""
        return [(box, POLICY_WORDS[Policy(box.data["value"])]) for box in self["policy"]]

    @property
    def can_look(self) -> bool:
        """Whether all but the name is right, so that it can be said what would come of it."""
        return not set(self.errors) - {"name"}


class PeopleField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: User) -> str:
        return obj.username


class RollUpForm(NewSetForm):
    """Whose labels are rolled up, and by which rules."""

    KIND = LabelSet.ROLLED_UP
    WHOSE = [
        ("all", "Labels of people here and of imported files"),
        ("people", "Only of people here"),
        ("imported", "Only of imported files"),
    ]
    whose = forms.ChoiceField(label="Whose labels", choices=WHOSE, initial="all", widget=forms.RadioSelect)
    people = PeopleField(
        label="People",
        queryset=User.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text="None chosen: everybody.",
        widget=forms.CheckboxSelectMultiple,
    )
    queues = forms.ModelMultipleChoiceField(
        label="Queues",
        queryset=Queue.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text="None chosen: all of them.",
        widget=forms.CheckboxSelectMultiple,
    )
    reviewers = forms.MultipleChoiceField(
        label="Reviewers of imported files",
        required=False,
        help_text="None chosen: all of them.",
        widget=forms.CheckboxSelectMultiple,
    )
    arm = forms.ChoiceField(
        label="How people answered",
        choices=[("", "In any way"), *((key, words.capitalize()) for key, words in ARM_WORDS.items())],
        required=False,
    )
    several = forms.ChoiceField(
        label="Several people labelled one comment, and nobody has decided",
        choices=[(one.value, one.value.capitalize()) for one in Several],
        initial=Several.MAJORITY.value,
        widget=forms.RadioSelect,
    )
    use_decisions = forms.BooleanField(
        label="Decisions of adjudicators stand in place of the labels of their item", required=False
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, corpus=corpus, **kwargs)
        said = Annotation.objects.filter(comment__corpus=corpus)
        people = User.objects.filter(pk__in=said.values("person")).order_by("username")
        self.fields["people"].queryset = people  # type: ignore[attr-defined]
        queues = Queue.objects.filter(corpus=corpus, trashed_at=None).order_by("name")
        self.fields["queues"].queryset = queues  # type: ignore[attr-defined]
        names = said.exclude(reviewer="").order_by("reviewer").values_list("reviewer", flat=True).distinct()
        self.fields["reviewers"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @property
    def rules(self) -> list[tuple[Any, str]]:
        """Each rule for several labels with its definition."""
        return [(box, SEVERAL_WORDS[Several(box.data["value"])]) for box in self["several"]]

    @property
    def chosen(self) -> dict[str, Any]:
        """As the service takes it."""
        said = self.cleaned_data
        whose = said["whose"]
        return {
            "people": [] if whose == "imported" else list(said["people"]) or None,
            "queues": list(said["queues"]) or None,
            "reviewers": [] if whose == "people" else list(said["reviewers"]) or None,
            "arm": said["arm"],
            "several": said["several"],
            "use_decisions": said["use_decisions"],
        }

    @property
    def sources(self) -> Sources:
        chosen = self.chosen
        people, queues, reviewers = (chosen[key] for key in ("people", "queues", "reviewers"))
        return Sources(
            None if people is None else tuple(one.pk for one in people),
            None if queues is None else tuple(one.pk for one in queues),
            None if reviewers is None else tuple(reviewers),
            chosen["arm"],
            chosen["use_decisions"],
        )


class InheritForm(NewSetForm):
    """Which tags are inherited from."""

    KIND = LabelSet.INHERITED
    tags = forms.ChoiceField(label="Tags of", required=False)
    which = forms.ChoiceField(
        label="Which of them",
        choices=[(key, words.capitalize()) for key, words in WHICH_WORDS.items()],
        initial="not refused",
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, corpus=corpus, **kwargs)
        policies = [one for one in Policy if one is not Policy.FIRST_COMMENT_BLOCKS]  # no tag is prefilled
        self.fields["policy"].choices = [(one.value, one.value.capitalize()) for one in policies]  # type: ignore[attr-defined]
        runs = list(Run.objects.filter(corpus=corpus, kind=Run.TAG).order_by("-pk"))
        self._runs = {f"run:{run.public_id}": run for run in runs}
        tags = Suggestion.objects.filter(comment__corpus=corpus, attribute__in=TARGET_KEYS)
        taggers = tags.order_by("tagger").values_list("tagger", flat=True).distinct()
        self.fields["tags"].choices = [  # type: ignore[attr-defined]
            ("", "every tagger"),
            *((f"tagger:{name}", name) for name in taggers),
            *((key, f"run {run.name}") for key, run in self._runs.items()),
        ]

    @property
    def chosen(self) -> dict[str, Any]:
        """As the service takes it."""
        tags = self.cleaned_data["tags"]
        return {
            "tagger": tags.removeprefix("tagger:") if tags.startswith("tagger:") else "",
            "run": self._runs.get(tags),
            "which": self.cleaned_data["which"],
        }


FORMS: dict[str, type[NewSetForm]] = {RollUpForm.KIND: RollUpForm, InheritForm.KIND: InheritForm}


class CompareForm(forms.Form):
    """By which rules labels are compared with the profiles."""

    mode = forms.ChoiceField(
        label="Rules",
        choices=[(Scoring.DEFAULT, "Default rules"), (Scoring.COMPATIBLE, "Published rules")],
        initial=Scoring.DEFAULT,
        widget=forms.Select(attrs={"class": "field"}),
    )
