"""What differs between two releases of a corpus, row by row, and why a label differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ADDED, REMOVED, RELABELLED, CHANGED, SAME = "added", "removed", "relabelled", "changed", "same"
CHANGES = {
    ADDED: "added",
    REMOVED: "removed",
    RELABELLED: "relabelled: another value, or another answer",
    CHANGED: "changed otherwise",
}
COMMENTS, SUGGESTIONS, ANNOTATIONS, LABELS, PROFILES = (
    "comments",
    "suggestions",
    "annotations",
    "labels",
    "profiles",
)
TABLES = (COMMENTS, SUGGESTIONS, ANNOTATIONS, LABELS, PROFILES)
"""In the order in which they are compared: what explains labels before the labels."""
KEYS: dict[str, tuple[str, ...]] = {
    COMMENTS: ("id",),
    SUGGESTIONS: ("comment_id", "attribute", "tagger", "run"),
    ANNOTATIONS: ("comment_id", "attribute", "annotator", "queue"),
    LABELS: ("comment_id", "attribute"),
    PROFILES: ("id",),
}
"""By which columns a row of one release is found again in the other; whom it is about comes first."""
CALLED = {COMMENTS: "comment_id", PROFILES: "profile_id"}
"""What the first of them is called among the differences, where `id` would say too little."""
SAID = ("state", "value")
"""The columns of a label that are what is said; the others say how it came about."""

WHY = {
    "policy": "the policy of labels differs",
    "filter": "the two have other filters",
    "decision added": "an adjudicator decided on it",
    "decision changed": "an adjudicator changed the decision",
    "annotation added": "somebody answered since",
    "annotation changed": "somebody changed an answer",
    "annotation removed": "an answer is not in it any more",
    "tags": "what taggers suggest differs",
    "fact": "the profile says otherwise",
    "text": "the comment was edited",
    "comment added": "the comment is new in it",
    "comment withdrawn": "the comment was withdrawn",
    "comment removed": "the comment is not in it any more",
    "not recorded": "nothing that is recorded explains it",
}


def key_of(table: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    """What a row is found again by; a column that is not there counts as empty."""
    return tuple("" if row.get(name) is None else str(row[name]) for name in KEYS[table])


def named(table: str, key: tuple[str, ...]) -> dict[str, str]:
    """The key as the line of a difference says it."""
    first, *others = KEYS[table]
    return dict(zip((CALLED.get(table, first), *others), key, strict=True))


def fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Column -> [old, new] of those that differ."""
    return {
        name: [old.get(name), new.get(name)]
        for name in [*old, *(name for name in new if name not in old)]
        if old.get(name) != new.get(name)
    }


def change_of(table: str, differing: Iterable[str]) -> str:
    """What a row that is in both underwent."""
    names = set(differing)
    if not names:
        return SAME
    return RELABELLED if table == LABELS and names & set(SAID) else CHANGED


@dataclass(frozen=True)
class Between:
    """What is known of two releases as wholes."""

    policy: bool = False
    """Whether the policy of labels, or the number of people it asks for, differs."""
    filters: bool = False
    inherited: bool = False
    """Whether labels are the facts of profiles."""


@dataclass
class Known:
    """What happened between the two to one attribute of one comment."""

    annotations: set[str] = field(default_factory=set)
    """added, removed, changed."""
    tags: bool = False
    comment: str = ""
    """added or removed: the comment itself is in one release only."""
    text: bool = False
    withdrawn: bool = False
    fact: bool = False
    decision: str = ""
    """added or changed: the latest act of an adjudicator in that time."""
    reason: str = ""
    """Why it was decided so."""
    edit: str = ""
    """Why the comment was edited."""


def decide(known: Known, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
    """Notes what the two rows of a label themselves say of decisions, where no act in that time is known."""
    was, now = bool(old and old.get("decided")), bool(new and new.get("decided"))
    if now and not known.decision:
        differs = not was or any((old or {}).get(name) != (new or {}).get(name) for name in (*SAID, "reason"))
        known.decision = (CHANGED if was else ADDED) if differs else ""
    if now and not known.reason and new:
        known.reason = str(new.get("reason") or "")


def why(change: str, known: Known, between: Between) -> list[str]:
    """The causes of a label's difference, keys of WHY, most telling first; never empty.

    A cause that is named did happen; where several did, no rule can tell which of them it took.
    """
    if known.comment == ADDED and change == ADDED:
        return ["filter"] if between.filters else ["comment added"]
    if known.comment == REMOVED and change == REMOVED:
        if known.withdrawn:
            return ["comment withdrawn"]
        return ["filter"] if between.filters else ["comment removed"]
    found = [f"decision {known.decision}"] if known.decision else []
    if between.policy:
        found.append("policy")
    found += [f"annotation {one}" for one in (ADDED, CHANGED, REMOVED) if one in known.annotations]
    if known.text:
        found.append("text")
    if known.tags:
        found.append("tags")
    if known.fact and between.inherited:
        found.append("fact")
    if between.filters and not found:
        found.append("filter")
    return found or ["not recorded"]
