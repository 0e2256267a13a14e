"""The look of every form."""

from typing import Any

from django import forms


class Styled:
    """Gives text fields and selections the look of the site. Errors and hints are joined by Django."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.RadioSelect):
                field.widget.attrs.setdefault("class", "field")
