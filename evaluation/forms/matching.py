"""What a run is told in which a judge settles questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.domain.votes import VOTES
from evaluation.forms.caps import CapsForm, provider_field
from evaluation.selectors.matching_parts import GUESSES, MOST_GUESSES, Offer, Part, Which
from evaluation.services.matching import JUDGE_CAP
from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import RoleModel

MOST_WAITING = 10**6
LABELS = {
    Which.OPEN: ("Open ones", "nobody has given an answer that counts"),
    Which.UNANSWERED: ("All that people have not settled", "a judge’s word counts before a file’s"),
    Which.AGAIN: ("Those that a judge has answered, again", "shows how often it differs from itself"),
    Which.PEOPLE: ("Those that people have settled", "shows how far it agrees; people’s word still counts"),
}


class MatchingForm(CapsForm):
    """Which questions, which judge, and the caps; hidden what was proposed for them. The hidden mark `form`
    tells a form that is sent twice. `offer` says how many questions each choice has."""

    name = forms.CharField(label="Name", max_length=80)
    which = forms.ChoiceField(label="Questions", initial=Which.OPEN.value, widget=forms.RadioSelect)
    attributes = forms.MultipleChoiceField(
        label="About", required=False, widget=forms.CheckboxSelectMultiple, help_text="None chosen: all."
    )
    waiting = forms.IntegerField(
        label="Waiting guesses or labels, at least",
        min_value=0,
        max_value=MOST_WAITING,
        help_text="So many depend on the answer to a question.",
    )
    guesses = forms.IntegerField(
        label="Guesses in one call, at most",
        min_value=1,
        max_value=MOST_GUESSES,
        help_text="Of one attribute and one truth.",
    )
    votes = forms.TypedChoiceField(
        label="Votes on each question",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[(n, str(n)) for n in VOTES],
        help_text="What the judge says most often counts; cost grows as often.",
    )
    provider = provider_field()
    model = forms.CharField(label="Model", required=False, max_length=100, help_text="Empty: the provider’s.")

    def __init__(self, *args: Any, offer: Offer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer = offer
        self.fields["which"].choices = [  # type: ignore[attr-defined]
            (one.value, f"{LABELS[one][0]} ({offer.of(one):,}): {LABELS[one][1]}") for one in Which
        ]
        self.fields["attributes"].choices = [  # type: ignore[attr-defined]
            (key, one.label) for key, one in CATALOGUE.items() if key in offer.by_attribute
        ]

    @property
    def part(self) -> Part:
        """What is asked for, as far as it can be read."""
        said = self.cleaned_data
        waiting = said.get("waiting")
        return Part(
            Which(said.get("which") or Which.OPEN),
            tuple(said.get("attributes") or ()),
            1 if waiting is None else waiting,
        )

    @property
    def together(self) -> int:
        """Guesses in one call."""
        return self.cleaned_data.get("guesses") or GUESSES

    @property
    def times(self) -> int:
        """How often each question is asked."""
        return self.cleaned_data.get("votes") or 1

    @property
    def role(self) -> RoleModel | None:
        """The judge at temperature 0; None where it cannot be read."""
        said = self.cleaned_data
        if not said.get("provider") or said.get("model") is None:
            return None
        provider = said["provider"]
        return RoleModel(
            said["model"] or provider.default_model, 0.0, max_tokens=JUDGE_CAP, provider=provider.public_id
        )

    def with_fields(self, fields: Mapping[str, int]) -> MatchingForm:
        """The same form with other values in some fields."""
        return MatchingForm(self.changed(fields), offer=self.offer)
