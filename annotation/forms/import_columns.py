"""What the page asks that has a person say what the columns of a foreign table stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from annotation.domain.column_mapping import CONSTANT, LONGEST_CONSTANT, Field, faults, fields

NOTHING = ""
SAME = "same:"
"""Stands before a field's name for the value that all rows have."""
COLUMN = "column:"
"""Stands before a column's name in a choice, so that no name can be taken for “nothing”."""
FOR_ALL = "one value for all rows"


class Asked(NamedTuple):
    """One field of ours: its choice of a column, and the value for all rows where one is possible."""

    column: BoundField
    constant: BoundField | None


class ColumnsForm(forms.Form):
    name = forms.CharField(
        label="Remember as",
        required=False,
        max_length=80,
        help_text="The next file with these columns is filled in like this one. Empty: not remembered.",
        widget=forms.TextInput(attrs={"class": "field"}),
    )

    def __init__(self, *args: Any, columns: Sequence[str], mapping: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._columns = columns
        choices = [(NOTHING, "–"), *((f"{COLUMN}{name}", name) for name in columns)]
        self._ours = {one.name: one for one in fields()}
        for one in self._ours.values():
            self._add(one, choices, mapping.get(one.name))

    def _add(self, one: Field, choices: list[tuple[str, str]], given: Any) -> None:
        known = given if isinstance(given, str) and given in self._columns else None
        self.fields[one.name] = forms.ChoiceField(
            label=one.label,
            required=False,
            choices=choices,
            initial=f"{COLUMN}{known}" if known is not None else NOTHING,
            help_text=one.help,
            widget=forms.Select(attrs={"class": "field"}),
        )
        if one.constant:
            self.fields[f"{SAME}{one.name}"] = forms.CharField(
                label=f"{one.label}, {FOR_ALL}",
                required=False,
                max_length=LONGEST_CONSTANT,
                initial=given.get(CONSTANT, "") if isinstance(given, dict) else "",
                widget=forms.TextInput(attrs={"class": "field", "placeholder": FOR_ALL}),
            )

    def of_comments(self) -> Iterator[Asked]:
        return self._asked("")

    def of_profiles(self) -> Iterator[Asked]:
        return self._asked("profile.")

    def of_guesses(self) -> Iterator[Asked]:
        return self._asked("guess.")

    def says_profiles(self) -> bool:
        """Whether anything about profiles is filled in, or wrong: then it is shown at once."""
        return self._filled(self.of_profiles())

    def says_guesses(self) -> bool:
        return self._filled(self.of_guesses())

    def _filled(self, group: Iterator[Asked]) -> bool:
        return any(asked.column.value() or asked.column.errors for asked in group)

    def _asked(self, group: str) -> Iterator[Asked]:
        for name, one in self._ours.items():
            kind = name.partition(".")
            if f"{kind[0]}." == group if kind[1] else not group:
                yield Asked(self[name], self[f"{SAME}{name}"] if one.constant else None)

    @property
    def mapping(self) -> dict[str, Any]:
        """What the person has said; once the form has been found valid."""
        said: dict[str, Any] = {}
        for name, one in self._ours.items():
            column = self.cleaned_data.get(name, NOTHING)
            constant = self.cleaned_data.get(f"{SAME}{name}", "") if one.constant else ""
            if column:
                said[name] = column.removeprefix(COLUMN)
            elif constant:
                said[name] = {CONSTANT: constant}
        return said

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name, one in self._ours.items():
            if one.constant and cleaned.get(name) and cleaned.get(f"{SAME}{name}"):
                self.add_error(name, "Choose a column or give one value for all rows, not both.")
        if not self.errors:
            for fault in faults(self.mapping, self._columns):
                self.add_error(fault.field or None, f"{fault.message[:1].upper()}{fault.message[1:]}.")
        return cleaned
