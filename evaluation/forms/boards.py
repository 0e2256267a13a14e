"""The form of a reference: typed in, pasted, or a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from evaluation.exchange import board_references
from evaluation.exchange.board_references import Unreadable, Values
from evaluation.models import Reference
from simulation.domain.attributes import CATALOGUE
from simulation.models import Corpus

EXAMPLE = "attribute,percent,n\nage,72.5,40\nsex,91.0,110\nall,78.0,700"


class ReferenceForm(forms.Form):
    """One field for each attribute and one for all, or a table instead. `values` holds what was given."""

    name = forms.CharField(max_length=120, help_text="As the leaderboard calls it.")
    note = forms.CharField(
        label="Where it comes from",
        max_length=500,
        required=False,
        help_text="Paper, table, and how accuracy was defined there.",
    )
    table = forms.CharField(
        label="Pasted table",
        required=False,
        max_length=board_references.MOST_BYTES,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "placeholder": EXAMPLE}),
        help_text="One line an attribute: attribute, percent and, if known, n. “all” is over all attributes.",
    )
    file = forms.FileField(label="or a file", required=False, help_text="CSV or JSON, up to 100 kB.")

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= _typed()
        for field in self.fields.values():
            field.widget.attrs["class"] = "field"
        self.corpus = corpus
        self.values: Values = {}

    def rows(self) -> Iterator[tuple[str, BoundField, BoundField]]:
        """(label, percent, n) of each attribute, and of all."""
        for key, label in _keys():
            yield label, self[f"percent_{key}"], self[f"n_{key}"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Reference.objects.filter(corpus=self.corpus, name=name).exists():
            raise forms.ValidationError("This corpus has a reference of this name. Choose another one.")
        return name

    def clean_file(self) -> str:
        given = self.cleaned_data["file"]
        if not given:
            return ""
        if given.size > board_references.MOST_BYTES:
            raise forms.ValidationError("The file is larger than 100 kB: it has to be a small table.")
        try:
            return str(given.read().decode("utf-8"))
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not UTF-8 text. Save it as UTF-8.") from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.values = self._typed_values(cleaned)
        tables = [name for name in ("table", "file") if (cleaned.get(name) or "").strip()]
        if len(tables) + bool(self.values) > 1:
            self.add_error(
                tables[-1], "Values are given twice. Leave the fields, the pasted table or the file empty."
            )
        elif tables:
            self._take(tables[0], cleaned[tables[0]])
        elif not self.values and not self.errors:
            raise forms.ValidationError(
                "No value is given. Type in at least one, paste a table or give a file."
            )
        return cleaned

    def _take(self, field: str, text: str) -> None:
        try:
            self.values = board_references.read(text)
        except Unreadable as error:
            for problem in error.problems:
                self.add_error(field, str(problem))

    def _typed_values(self, cleaned: dict[str, Any]) -> Values:
        values: Values = {}
        for key, _ in _keys():
            percent, n = cleaned.get(f"percent_{key}"), cleaned.get(f"n_{key}")
            if percent is not None:
                values["" if key == board_references.ALL else key] = {"value": percent / 100, "n": n}
            elif n is not None and f"percent_{key}" not in self.errors:
                self.add_error(f"percent_{key}", "n is given without its percent.")
        return values


def _keys() -> list[tuple[str, str]]:
    known = [(key, one.label) for key, one in CATALOGUE.items() if one.target]
    return [*known, (board_references.ALL, "All attributes")]


def _typed() -> dict[str, forms.Field]:
    found: dict[str, forms.Field] = {}
    for key, label in _keys():
        found[f"percent_{key}"] = forms.FloatField(
            label=f"{label}, percent", required=False, min_value=0, max_value=100
        )
        found[f"n_{key}"] = forms.IntegerField(
            label=f"{label}, n", required=False, min_value=1, max_value=10**9
        )
    return found
