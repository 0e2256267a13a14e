"""Posts that a person wrote: rows of target, question and story, or lines pasted from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from simulation.domain.attributes import CATALOGUE
from simulation.domain.plans import TypedTopic

ROWS = 3
"""So many rows stand there at least."""
MOST_ROWS = 20
"""More posts than these are filled in below, where they are pasted: each row is three fields of the form."""
MOST = 500
SAID = 20
"""So many problems of a paste are said; the rest are counted."""
PARTS = ("target", "question", "story")
KEYS = {words.casefold(): one.key for one in CATALOGUE.values() for words in (one.key, one.label)}
"""Key or label, case-folded -> key."""


@dataclass(frozen=True)
class Row:
    """What stands in one row, as it was typed."""

    target: str = ""
    question: str = ""
    story: str = ""

    @property
    def is_blank(self) -> bool:
        return not any(getattr(self, part).strip() for part in PARTS)

    @property
    def problem(self) -> str:
        """Why no post can be made of it; empty where one can, or nothing was typed."""
        try:
            if not self.is_blank:
                self.topic()
        except ValueError as error:
            return str(error)
        return ""

    def topic(self) -> TypedTopic:
        """Raises ValueError that says what is missing or too long."""
        key = KEYS.get(self.target.strip().casefold())
        if key is None and self.target.strip():
            known = ", ".join(CATALOGUE)
            raise ValueError(f"“{self.target.strip()[:60]}” is no attribute; there are: {known}.")
        if key is None:
            raise ValueError("Say which attribute the post is to draw out.")
        if not self.question.strip():
            raise ValueError("The question is missing.")
        if not self.story.strip():
            raise ValueError("The story behind the question is missing.")
        try:
            return TypedTopic(key, self.question.strip(), self.story.strip())
        except ValueError as error:
            said = str(error).replace("description", "story").capitalize()
            raise ValueError(f"{said} are allowed.") from None


class Rows(forms.Widget):
    """Three inputs a row, each named `<name>_<part>`; drawn by the template."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[Row]:
        columns = [_listed(data, f"{name}_{part}") for part in PARTS]
        longest = max(map(len, columns))
        padded = [[*column, *[""] * (longest - len(column))] for column in columns]
        return [Row(*(str(cell) for cell in cells)) for cells in zip(*padded, strict=True)]


class TopicsField(forms.Field):
    """The rows as posts; what is wrong is said by the number of the row."""

    widget = Rows

    def clean(self, value: Any) -> list[TypedTopic]:
        return _topics(value or (), "Row")


class PasteField(forms.CharField):
    """One post a line: attribute | question | story."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        return _topics(rows_of(str(super().clean(value) or "")), "Line")


def rows_of(text: str) -> list[Row]:
    """A row for each line, blank ones too, so that numbers are those of the lines."""
    return [Row(*(part.strip() for part in line.split("|", 2))) for line in text.splitlines()]


def topic_fields() -> Iterable[tuple[str, forms.Field]]:
    yield "typed", TopicsField(label="Posts of your own", required=False)
    yield (
        "typed_paste",
        PasteField(
            label="Many at once",
            required=False,
            max_length=2_000_000,
            widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
            help_text="One post a line: attribute | question | story",
        ),
    )


def read_topics(cleaned: Mapping[str, Any]) -> list[TypedTopic]:
    return [*(cleaned.get("typed") or ()), *(cleaned.get("typed_paste") or ())]


def shown_rows(rows: Iterable[Row], *, more: bool) -> list[Row]:
    """The rows to draw: those that were sent, at least three, one more where that was asked for."""
    shown = list(rows)
    shown += [Row()] * max(0, ROWS - len(shown))
    return shown + [Row()] * more


def row_values(topics: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Posts {target, question, description} as the fields of the rows."""
    topics = list(topics)
    return {
        "typed_target": [one["target"] for one in topics],
        "typed_question": [one["question"] for one in topics],
        "typed_story": [one["description"] for one in topics],
    }


def refilled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a form in which the posts behind the first rows stand as lines of the paste, in their order.

    Posts that are no line of it (a story of two lines) keep their rows, and those before them.
    """
    columns = [list(values.get(f"typed_{part}") or ()) for part in PARTS]
    rows = [Row(*(str(cell) for cell in cells)) for cells in zip(*columns, strict=False)]
    kept = len(rows)
    while kept > MOST_ROWS and rows_of(_line(rows[kept - 1])) == [rows[kept - 1]]:
        kept -= 1
    if kept == len(rows):
        return dict(values)
    cut = {f"typed_{part}": column[:kept] for part, column in zip(PARTS, columns, strict=True)}
    pasted = [_line(row) for row in rows[kept:]]
    return dict(values) | cut | {"typed_paste": "\n".join(pasted)}


def _line(row: Row) -> str:
    return " | ".join(getattr(row, part) for part in PARTS)


def _topics(rows: Iterable[Row], word: str) -> list[TypedTopic]:
    topics, problems = [], []
    filled = [(number, row) for number, row in enumerate(rows, 1) if not row.is_blank]
    if len(filled) > MOST:
        raise ValidationError(f"At most {MOST} posts in one run; these are {len(filled):,}.")
    for number, row in filled:
        try:
            topics.append(row.topic())
        except ValueError as error:
            problems.append(f"{word} {number}: {error}")
    if len(problems) > SAID:
        problems[SAID:] = [f"And {len(problems) - SAID} more."]
    if problems:
        raise ValidationError(problems)
    return topics


def _listed(data: Mapping[str, Any], name: str) -> list[Any]:
    several = getattr(data, "getlist", None)
    found = several(name) if several else data.get(name)
    if found is None:
        return []
    return list(found) if isinstance(found, list | tuple) else [found]
