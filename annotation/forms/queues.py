"""What queues are made and steered with, and what their guidelines say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet

from annotation.domain.markdown import LONGEST
from annotation.models import Queue
from annotation.selectors.queue_settings import MOST_PEOPLE
from simulation.models import User

EVERYBODY, NAMED = "everybody", "named"
LARGEST_SEED = 2**53 - 1


class People(forms.ModelMultipleChoiceField):
    """Checkboxes with the names of people."""

    def label_from_instance(self, obj: User) -> str:
        return obj.username


class SteeringForm(forms.Form):
    """What may be changed while people work."""

    WHO = [(EVERYBODY, "Everybody who may review in this corpus"), (NAMED, "Only the people ticked below")]

    name = forms.CharField(label="Name", max_length=80)
    who = forms.ChoiceField(label="Who may work", choices=WHO, initial=EVERYBODY, widget=forms.RadioSelect)
    workers = People(
        label="People",
        queryset=User.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    skip_policy = forms.ChoiceField(
        label="When somebody skips a comment",
        choices=Queue.SKIP_POLICIES,
        initial=Queue.SKIP_OTHERS,
        widget=forms.RadioSelect,
    )
    skips_to_adjudicator = forms.IntegerField(
        label="Skips before the adjudicator gets it", min_value=1, max_value=10, initial=2
    )
    gold_every = forms.IntegerField(
        label="Comments between gold ones",
        min_value=0,
        max_value=1000,
        initial=0,
        help_text="0: gold comments are not handed out.",
    )
    bulk_asks_from = forms.IntegerField(
        label="“Accept all” asks from (%)",
        min_value=0,
        max_value=100,
        initial=50,
        help_text="Asks back when it touches this share of the rows or more.",
    )

    def __init__(self, *args: Any, people: QuerySet[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        workers = self.fields["workers"]
        assert isinstance(workers, People)
        workers.queryset = people
        for field in self.visible_fields():
            if not isinstance(field.field.widget, forms.RadioSelect | forms.CheckboxSelectMultiple):
                field.field.widget.attrs.setdefault("class", "field")

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("who") == NAMED:
            self.check_named(said.get("workers"))
        return said

    def check_named(self, workers: QuerySet[User] | None) -> None:
        if workers is not None and not workers:
            self.add_error("workers", "Tick at least one person, or let everybody work in it.")

    @property
    def workers_wanted(self) -> list[User] | None:
        """The people on the list; None: everybody. Of a valid form."""
        return list(self.cleaned_data["workers"]) if self.cleaned_data["who"] == NAMED else None


class QueueForm(SteeringForm):
    """A new queue. Hidden are the numbers that the page told, so that nobody agrees to others."""

    ASSISTED = [
        ("yes", "Yes: people confirm or correct what a model suggests"),
        ("no", "No: people label the bare comment"),
    ]

    people_per_item = forms.IntegerField(
        label="People per comment", min_value=1, max_value=MOST_PEOPLE, initial=1
    )
    assisted = forms.ChoiceField(
        label="Show suggestions", choices=ASSISTED, initial="yes", widget=forms.RadioSelect
    )
    tagger = forms.ChoiceField(label="Whose suggestions", required=False)
    blind_percent = forms.IntegerField(
        label="Answered blind first (%)",
        min_value=0,
        max_value=100,
        initial=0,
        help_text="This share of the comments is answered once before the suggestions show. Both answers"
        " are kept.",
    )
    order = forms.ChoiceField(label="Order", choices=Queue.ORDERS, initial="corpus")
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="Of the shuffling and of the draw of blind comments: the same seed gives the same ones.",
    )
    guidelines = forms.CharField(
        label="Guidelines",
        required=False,
        max_length=LONGEST,
        help_text="Markdown, shown beside the work. You can change them later; every version is kept.",
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    items = forms.IntegerField(widget=forms.HiddenInput, required=False)
    reviews = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, taggers: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tagger = self.fields["tagger"]
        assert isinstance(tagger, forms.ChoiceField)
        tagger.choices = [("", "The latest of each attribute"), *((name, name) for name in taggers)]

    def clean(self) -> dict[str, Any]:
        said = super().clean()
        if said.get("assisted") == "no" and said.get("blind_percent"):
            self.add_error(
                "blind_percent",
                "Without suggestions every answer is blind: write 0 here, or show suggestions.",
            )
        return said

    def check_named(self, workers: QuerySet[User] | None) -> None:
        super().check_named(workers)
        wanted = self.cleaned_data.get("people_per_item") or 1
        if workers and len(workers) < wanted:
            self.add_error(
                "workers",
                f"{wanted} people per comment need at least {wanted} names; {len(workers)} ticked.",
            )

    def ways(self) -> dict[str, Any]:
        """The fields of the queue; of a valid form."""
        said = self.cleaned_data
        assisted = said["assisted"] == "yes"
        same = ("people_per_item", "blind_percent", "order", "seed", "skip_policy", "skips_to_adjudicator")
        return {
            **{field: said[field] for field in (*same, "gold_every", "bulk_asks_from")},
            "assisted": assisted,
            "tagger": said["tagger"] if assisted else "",
        }


class GuidelineForm(forms.Form):
    """The next version of guidelines. Hidden is the version that the writer began with."""

    text = forms.CharField(
        label="Guidelines",
        required=False,
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"class": "field prose-field", "rows": 18}),
    )
    base = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
