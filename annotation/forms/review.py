"""What the review page sends, read into typed answers."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from annotation.domain import evidence
from annotation.domain.labels import Answer, Guessed, Label, Problem, State, judge
from annotation.domain.rows import Given
from simulation.domain.attributes import TARGET_KEYS, TARGETS, Attribute

DAY_MS = 24 * 3600 * 1000
LONGEST_NOTE = 2000
PARTS = ("choice", "text", "hardness", "certainty", "evidence", "quote")
DRAFTED = frozenset(f"{key}-{part}" for key in TARGET_KEYS for part in PARTS) | {
    "note",
    "bulk",
    "active_ms",
    "wall_ms",
}
"""The fields that a draft keeps."""


@dataclass(frozen=True)
class Review:
    """A posted review: what stood in the rows, and either all labels or all problems."""

    submission_id: uuid.UUID | None
    base_version: int | None
    active_ms: int
    wall_ms: int
    note: str
    given: dict[str, Given]
    labels: dict[str, Label]
    problems: list[Problem]


def read_review(
    posted: Mapping[str, str],
    suggestions: Mapping[str, Guessed],
    *,
    rest_is_none: bool,
    readable: Callable[[], evidence.Readable],
) -> Review:
    """Reads every row; the server's word on what is complete, whatever the browser checked.

    `readable` gives the comments that may be quoted; it is asked only when something was quoted.
    """
    given, labels, problems = {}, {}, []
    in_bulk = set(posted.get("bulk", "").split(","))
    for attribute in TARGETS:
        row = _Row(attribute, posted, suggestions.get(attribute.key), rest_is_none)
        quoted: tuple[evidence.Quote, ...] = ()
        try:
            quoted = row.quotes(readable)
            # Without a script a quote is taken away by a mark beside it.
            quoted = tuple(
                one for place, one in enumerate(quoted) if f"{attribute.key}-drop-{place}" not in posted
            )
        except evidence.BadEvidence as error:
            problems.append(Problem(attribute.key, "evidence", str(error)))
        outcome = row.judged()
        given[attribute.key] = Given(row.answer, quoted)
        if isinstance(outcome, Label):
            says = outcome.state in (State.VALUE, State.UNSURE)
            bulk = attribute.key in in_bulk or row.is_rest(outcome)
            labels[attribute.key] = replace(outcome, evidence=quoted if says else (), bulk=bulk)
        else:
            problems.extend(outcome)
    note = posted.get("note", "").strip()
    if len(note) > LONGEST_NOTE:
        problems.append(Problem("", "note", f"The note has {len(note)} characters; at most {LONGEST_NOTE}."))
    return Review(
        submission_id=as_uuid(posted.get("submission_id", "")),
        base_version=_whole(posted.get("base_version", "")),
        active_ms=_ms(posted.get("active_ms", "")),
        wall_ms=_ms(posted.get("wall_ms", "")),
        note=note,
        given=given,
        labels=labels,
        problems=problems,
    )


class _Row:
    def __init__(
        self, attribute: Attribute, posted: Mapping[str, str], suggestion: Guessed | None, rest_is_none: bool
    ) -> None:
        self.attribute, self.suggestion, self.rest_is_none = attribute, suggestion, rest_is_none
        said = {part: posted.get(f"{attribute.key}-{part}", "") for part in PARTS}
        self.answer = Answer(*(said[part].strip() for part in PARTS[:4]))
        self.evidence, self.quote = said["evidence"], said["quote"]

    def quotes(self, readable: Callable[[], evidence.Readable]) -> tuple[evidence.Quote, ...]:
        if not self.evidence.strip() and not self.quote.strip():
            return ()
        return evidence.read(self.evidence, self.quote, readable())

    def judged(self) -> Label | list[Problem]:
        return judge(self.attribute, self.answer, self.suggestion, rest_is_none=self.rest_is_none)

    def is_rest(self, label: Label) -> bool:
        """Whether “nothing else can be inferred” is what made this label."""
        return self.rest_is_none and not self.answer.choice and label.state is State.NONE


def drafted(posted: Mapping[str, str]) -> dict[str, str]:
    """The fields of a posted form that a draft keeps, the empty ones left out."""
    return {name: posted[name] for name in DRAFTED & set(posted) if posted[name]}


def as_uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _ms(text: str) -> int:
    return min(int(text), DAY_MS) if text.isdecimal() and text.isascii() and len(text) < 12 else 0
