"""What a person sends from the pages that settle questions."""

from __future__ import annotations

from django import forms

from evaluation.selectors.questions import View
from simulation.domain.attributes import CATALOGUE

RIGHT, HALF, WRONG, UNSURE = "right", "half", "wrong", "unsure"
SCORES: dict[str, float | None] = {RIGHT: 1.0, HALF: 0.5, WRONG: 0.0, UNSURE: None}
SKIP, SECOND, ONE, UNDO = "skip", "second", "one", "undo"
ACTS = (*SCORES, SKIP, SECOND, ONE, UNDO)
QUEUE, PAGE = "settle", "question"
LONGEST_NOTE = 400


class ActForm(forms.Form):
    """One press: what is done, from which page, and what that page showed before."""

    do = forms.ChoiceField(choices=[(one, one) for one in ACTS])
    back = forms.ChoiceField(choices=[(QUEUE, QUEUE), (PAGE, PAGE)], required=False)
    view = forms.ChoiceField(choices=[(one.value, one.value) for one in View], required=False)
    attribute = forms.ChoiceField(choices=[("", "any"), *((key, key) for key in CATALOGUE)], required=False)
    saw = forms.CharField(max_length=20, required=False)
    note = forms.CharField(max_length=LONGEST_NOTE, required=False)
