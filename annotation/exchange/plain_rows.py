"""Rows of the plain layout, and of our own exports and releases, as rows of the flat layout.

The plain layout: `external_id, thread_id, parent_id, author, username, text, created_at?, source?, profile?,
guesses[]`. Our own rows: `id`, and what is said of the comment under `suggestions` and `annotations`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from annotation.exchange.comments import SOURCE, SOURCES, WHEN, said
from annotation.exchange.problems import Place, Problems, brief
from annotation.exchange.records import TAGGER, Given

ID = "external_id"
OWN = ("suggestions", "annotations", "decisions")
DERIVED = ("depth", "position", "sequence")
"""What our exports say of a comment although the rows around it say it already."""
TOPIC = "topic"
ACTIVE = "active"


def as_flat(given: Given, problems: Problems) -> Given:
    """The row in the fields of the flat layout; a row that has them already comes back as it is."""
    row = given.value
    if not isinstance(row, dict) or given.names:
        return given
    plain = ID in row and "id" not in row
    own = any(isinstance(row.get(key), list) for key in OWN) or (
        "depth" in row and row.get("state") is not None
    )
    if not plain and not own:
        return given
    row = dict(row)
    names = _plain_name if plain else str
    read = Given(given.line, row, names)
    place = read.place(problems)
    if plain:
        row["id"] = row.pop(ID)
    check_optional(row, place)
    if own:
        _take_own(row, place)
    if row.get("guesses") == []:
        row["guesses"] = None
    return read


def _plain_name(field: str) -> str:
    return ID if field == "id" else field


def check_optional(row: dict[str, Any], place: Place) -> None:
    """Refuses what the plain layout has a field for, and the field does not hold; null is not given."""
    for key in (WHEN, SOURCE):
        value = row.get(key)
        if value in (None, ""):
            row.pop(key, None)
        elif not said(key, value):
            wanted = (
                "a time as 2026-05-31T12:00:00Z"
                if key == WHEN
                else " or ".join(f"“{one}”" for one in SOURCES)
            )
            place.problem(key, f"must be {wanted}, not {brief(value)}")


def _take_own(row: dict[str, Any], place: Place) -> None:
    for key in DERIVED:
        row.pop(key, None)
    if not row.get(TOPIC, True):
        del row[TOPIC]
    if row.get("state") == ACTIVE:
        del row["state"]
    if not row.get("decisions", True):
        del row["decisions"]
    if "suggestions" in row and "guesses" not in row:
        row["guesses"] = [
            _guess(one) for one in _objects(row.pop("suggestions"), "suggestions", place)
        ] or None
    if "annotations" in row and "reviews" not in row:
        reviews = [_review(one) for one in _objects(row.pop("annotations"), "annotations", place)]
        row["reviews"] = {name: block for name, block in reviews if name} or None
    if row.get("profile") is None:
        row.pop("profile", None)


def _objects(given: Any, field: str, place: Place) -> Iterable[dict[str, Any]]:
    if not isinstance(given, list) or any(not isinstance(one, dict) for one in given):
        if given is not None:
            place.problem(field, f"must be a list of objects, not {brief(given)}")
        return []
    return given


def _guess(one: dict[str, Any]) -> dict[str, Any]:
    guess = {
        "feature": one.get("attribute"),
        "guesses": one.get("guesses"),
        "hardness": one.get("hardness_word") or None,
        "certainty": one.get("certainty"),
        "model_eval": one.get("model_eval"),
    }
    return guess if one.get("tagger", TAGGER) == TAGGER else {**guess, "model": one["tagger"]}


def _review(one: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Who reviewed, and the block of the published layout; what that has no field for stays beside it."""
    labels = one.get("labels")
    block: dict[str, Any] = {}
    quotes = {}
    for key, label in (labels if isinstance(labels, dict) else {}).items():
        if not isinstance(label, dict):
            block[key] = label  # the reader of reviews says what is wrong with it
            continue
        told = label.get("state") in ("value", "untouched")
        block[key] = {
            "estimate": (label.get("value") or "") if told else "",
            "hardness": label.get("hardness") or 0,
            "certainty": label.get("certainty") or 0,
        }
        if label.get("state") == "unsure":
            block[key]["state"] = "unsure"
        if label.get("evidence"):
            quotes[key] = label["evidence"]
    block |= {key: one[key] for key in ("note", "arm") if one.get(key)}
    if quotes:
        block["evidence"] = quotes
    submitted = one.get("submitted_at")
    if isinstance(submitted, str) and said(WHEN, submitted):
        block["timestamp"] = datetime.fromisoformat(submitted).timestamp()
    if isinstance(one.get("active_ms"), int):
        block["time"] = one["active_ms"] / 1000
    return str(one.get("reviewer") or ""), block
