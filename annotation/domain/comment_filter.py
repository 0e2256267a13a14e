"""Which comments of a corpus are meant: read from an address or a queue, said in words, written back.

One filter serves the browse page, bulk acts and new queues. Its fields are the fields of the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulation.domain.attributes import CATALOGUE

SAID = {
    "suggested": "with a suggestion",
    "unsuggested": "without a suggestion",
    "reviewed": "reviewed here",
    "unreviewed": "not reviewed here",
    "flagged": "flagged for the adjudicator",
    "differs": "answers differ",
    "settled": "settled by an adjudicator",
    "confirmed": "label: confirmed",
    "corrected": "label: corrected",
    "rejected": "label: rejected",
    "added": "label: added",
    "none": "label: no evidence",
    "unsure": "label: unsure",
}
LABEL_STATES = ("confirmed", "corrected", "rejected", "added", "none", "unsure")
"""Those of `SAID` that speak about one label."""
STATES = {"active": "active", "withdrawn": "withdrawn", "both": "active and withdrawn"}
ACTIVE = "active"
SCALES = ("hardness_from", "hardness_to", "certainty_from", "certainty_to")

# Field of the filter -> its key in the address and its name on the page, in the order of the chips.
FIELDS = {
    "text": ("q", "Text"),
    "attribute": ("attribute", "Attribute"),
    "value": ("value", "Value contains"),
    "hardness_from": ("hardness_from", "Hardness from"),
    "hardness_to": ("hardness_to", "Hardness up to"),
    "certainty_from": ("certainty_from", "Certainty from"),
    "certainty_to": ("certainty_to", "Certainty up to"),
    "tagger": ("tagger", "Model"),
    "said": ("said", "Said"),
    "person": ("person", "Person"),
    "thread": ("thread", "Thread"),
    "author": ("author", "Author"),
    "state": ("state", "State"),
}
CHOICES = {"attribute": tuple(CATALOGUE), "said": tuple(SAID), "state": tuple(STATES)}
OF_LABELERS = ("text", "thread", "author")
"""What somebody may filter by who must not see what models and others said."""
LONGEST = {"text": 200, "value": 200, "tagger": 100, "author": 100, "person": 40, "thread": 40}


@dataclass(frozen=True)
class CommentFilter:
    """What a comment must be; an empty field means: any. An empty `state` means active ones.

    Attribute, value, hardness, certainty and tagger speak about the same suggestion or the same label.
    """

    text: str = ""
    """Words in the syntax of web search: words, "a phrase", -not, or."""
    attribute: str = ""
    value: str = ""
    hardness_from: int | None = None
    hardness_to: int | None = None
    certainty_from: int | None = None
    certainty_to: int | None = None
    tagger: str = ""
    said: str = ""
    person: str = ""
    """Public id of an annotator."""
    thread: str = ""
    """Public id."""
    author: str = ""
    """Name of the author, as written."""
    state: str = ""

    @property
    def empty(self) -> bool:
        return self == CommentFilter()

    @property
    def narrows(self) -> bool:
        """Whether something beside the attribute is asked of a suggestion or label."""
        return bool(self.value or self.tagger) or any(getattr(self, scale) is not None for scale in SCALES)

    def fields(self) -> dict[str, str]:
        """The fields that say something, by their key in the address and always in the same order."""
        return {
            key: str(getattr(self, field))
            for field, (key, _) in FIELDS.items()
            if getattr(self, field) not in ("", None)
        }

    def words(self, names: Mapping[str, str] | None = None) -> list[tuple[str, str, str]]:
        """(name, value in words, key in the address) of each field that says something.

        `names` has the names of what is known by an id, by key: person, thread.
        """
        said = self.fields()
        told = {**_in_words(self), **(names or {})}
        return [(name, told.get(key, said[key]), key) for key, name in FIELDS.values() if key in said]

    def without(self, key: str) -> dict[str, str]:
        """The fields, but for `key`."""
        return {name: value for name, value in self.fields().items() if name != key}


def _in_words(asked: CommentFilter) -> dict[str, str]:
    known = CATALOGUE.get(asked.attribute)
    return {
        "attribute": known.label if known else asked.attribute,
        "said": SAID.get(asked.said, asked.said),
        "state": STATES.get(asked.state, asked.state),
    }


def read(params: Mapping[str, Any]) -> tuple[CommentFilter, list[str]]:
    """The filter that `params` ask for, and what is wrong with them in sentences.

    A field that is wrong is left out of the filter: with problems it must not be used to find comments.
    """
    problems: list[str] = []
    found: dict[str, Any] = {}
    for field, (key, name) in FIELDS.items():
        given = str(params.get(key) or "").strip()
        if given:
            found[field] = _value(field, name, given, problems)
    asked = CommentFilter(**{field: value for field, value in found.items() if value is not None})
    for scale in ("hardness", "certainty"):
        least, most = getattr(asked, f"{scale}_from"), getattr(asked, f"{scale}_to")
        if least is not None and most is not None and least > most:
            problems.append(
                f"{scale.capitalize()} from {least} up to {most} leaves nothing: swap the two numbers."
            )
    if asked.state == ACTIVE:
        asked = replace(asked, state="")
    return asked, problems


def _value(field: str, name: str, given: str, problems: list[str]) -> str | int | None:
    """The value of one field, or None and a sentence more in `problems`."""
    if field in SCALES:
        if given in {"1", "2", "3", "4", "5"}:
            return int(given)
        problems.append(f"{name}: choose a number from 1 to 5, not “{given[:40]}”.")
        return None
    choices = CHOICES.get(field)
    if choices is not None and given not in choices:
        problems.append(f"{name}: “{given[:40]}” is not on the list; choose one of: {', '.join(choices)}.")
        return None
    if "\x00" in given:
        problems.append(f"{name}: a character of it cannot be searched for; type it anew.")
        return None
    longest = LONGEST.get(field)
    if longest and len(given) > longest:
        problems.append(f"{name}: at most {longest} characters, not {len(given)}; shorten it.")
        return None
    return given


def closed_fields(asked: CommentFilter, *, sees_labels: bool, names_people: bool) -> list[str]:
    """Why somebody may not use this filter, one sentence a field; empty: they may.

    `sees_labels`: they may see what models and others said; `names_people`: and also who said it.
    """
    problems = []
    open_keys = {FIELDS[field][0] for field in OF_LABELERS}
    for name, _, key in asked.words():
        if not sees_labels and key not in open_keys:
            who = "people who may see suggestions and labels"
        elif key == FIELDS["person"][0] and not names_people:
            who = "people who manage queues"
        else:
            continue
        problems.append(f"{name}: only {who} can filter by it; remove it.")
    return problems
