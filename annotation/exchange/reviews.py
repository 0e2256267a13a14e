"""The `reviews` of a comment: what each reviewer of the source said, attribute by attribute.

The published files leave a prefilled suggestion that nobody touched in place: an estimate with hardness
0. That is no label, and is stored as `untouched` with its value beside it. Whatever the model cannot
give back exactly (a number in quotes, a missing key, an extra one) is kept in `extra["raw"]`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from annotation.domain.labels import State
from annotation.exchange.problems import Place, brief
from annotation.exchange.records import AnnotationRecord, LabelRecord
from simulation.domain.attributes import CATALOGUE

LONGEST_REVIEWER = 100
LONGEST_VALUE = 1000
TIMES = ("timestamp", "time")
LONGEST_TIME = 10**9
"""Seconds: thirty years at one comment."""
EMPTY = {"estimate": "", "hardness": 0, "certainty": 0}
_EMPTY_LABELS = {key: LabelRecord(key, State.NONE.value, "", None, None) for key in CATALOGUE}


def read_reviews(given: Any, place: Place) -> list[AnnotationRecord]:
    if given is None:
        return []
    if not isinstance(given, dict):
        place.problem("reviews", f"must be an object, one entry a reviewer, not {brief(given)}")
        return []
    return [record for key, block in given.items() if (record := _annotation(key, block, place))]


def _annotation(reviewer: str, block: Any, place: Place) -> AnnotationRecord | None:
    before = place.total
    where = f"reviews.{reviewer[:40]}"
    if not reviewer.strip() or len(reviewer) > LONGEST_REVIEWER:
        place.problem(
            "reviews", f"the reviewer's name {brief(reviewer)} must have 1 to {LONGEST_REVIEWER} characters"
        )
    elif not isinstance(block, dict):
        place.problem(where, f"must be an object, one entry an attribute, not {brief(block)}")
    else:
        record = _with_labels(reviewer, block, where, place)
        if place.total == before:
            return record
    place.problems.invalid["annotations"] += 1
    return None


def _with_labels(reviewer: str, block: dict[str, Any], where: str, place: Place) -> AnnotationRecord:
    labels: list[LabelRecord] = []
    raw: dict[str, Any] = {}
    extra = {key: block[key] for key in TIMES if key in block}
    others: dict[str, Any] = {}
    for key, given in block.items():
        if (
            given == EMPTY
            and key in _EMPTY_LABELS
            and type(given["hardness"]) is type(given["certainty"]) is int
        ):
            labels.append(_EMPTY_LABELS[key])  # by far the most frequent label
        elif key in CATALOGUE:
            label, exact = _label(key, given, f"{where}.{key}", place)
            labels.append(label)
            if not exact:
                raw[key] = given
        elif key not in TIMES:
            others[key] = given
            if isinstance(given, dict) and given.keys() >= EMPTY.keys():
                place.warn(f"reviews.<reviewer>.{key[:40]} is no known attribute; it was kept as it is")
    if raw:
        extra["raw"] = raw
    if others:
        extra["fields"] = others
    return AnnotationRecord(
        reviewer,
        _moment(block.get("timestamp"), where, place),
        _milliseconds(block.get("time")),
        extra,
        labels,
    )


def _label(attribute: str, given: Any, where: str, place: Place) -> tuple[LabelRecord, bool]:
    """The label, and whether its three fields alone give `given` back."""
    before = place.total
    if not isinstance(given, dict):
        place.problem(where, f"must be an object with estimate, hardness and certainty, not {brief(given)}")
        given = {}
    hardness = _scale(given.get("hardness"), f"{where}.hardness", place)
    certainty = _scale(given.get("certainty"), f"{where}.certainty", place)
    estimate = given.get("estimate")
    value = ("" if estimate is None else str(estimate)).strip()
    if isinstance(estimate, bool | list | dict):
        place.problem(f"{where}.estimate", f"must be text, not {brief(estimate)}")
    elif len(value) > LONGEST_VALUE:
        message = f"has {len(value)} characters; at most {LONGEST_VALUE} are possible"
        place.problem(f"{where}.estimate", message)
    if place.total != before:
        place.problems.invalid["labels"] += 1
    state = State.UNSURE if given.get("state") == "unsure" and not value else _state(value, hardness)
    label = LabelRecord(attribute, state.value, value, hardness or None, certainty or None)
    exact = (
        len(given) == len(EMPTY)
        and type(estimate) is str
        and estimate == value
        and type(given.get("hardness")) is type(given.get("certainty")) is int
    )
    return label, exact


def _state(value: str, hardness: int) -> State:
    if value:
        return State.VALUE if hardness else State.UNTOUCHED
    return State.UNTOUCHED if hardness else State.NONE


def _scale(given: Any, where: str, place: Place) -> int:
    """A mark from 0 to 5; a number in quotes and 3.0 are understood, a missing one is 0."""
    if given is None:
        return 0
    number = given
    if isinstance(given, str) and given.strip().isdecimal() and len(given) < 5:
        number = int(given)
    if isinstance(number, int | float) and not isinstance(number, bool) and number in range(6):
        return int(number)
    place.problem(where, f"must be a whole number from 0 to 5, not {brief(given)}")
    return 0


def _moment(given: Any, where: str, place: Place) -> datetime | None:
    if given is None:
        return None
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return datetime.fromtimestamp(given, UTC)
        except (OverflowError, ValueError, OSError):
            pass
    place.problem(f"{where}.timestamp", f"must be seconds since 1970, not {brief(given)}")
    return None


def _milliseconds(given: Any) -> int:
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= LONGEST_TIME:
        return round(given * 1000)
    return 0
