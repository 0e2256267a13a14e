"""Profiles: a file of them, and the one that a comment's row may carry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.exchange import decoding, reading, scanning
from annotation.exchange.problems import NOT_GIVEN, Place, Problems, brief
from annotation.exchange.records import ProfileRecord
from simulation.domain.attributes import CATALOGUE, Kind

LONGEST_NAME = 100
ENCODED_TIMES = 3
AGES = {attribute.key for attribute in CATALOGUE.values() if attribute.kind is Kind.AGE}


def read_profiles(path: Path, problems: Problems) -> Iterator[ProfileRecord]:
    """The profiles of a `{"pers1": {…}, …}` file, one at a time; those with a problem are left out."""
    seen: dict[str, int] = {}
    names: dict[str, int] = {}
    count = 0
    for line, key, value in scanning.Scanner(reading.chunks(path)).entries():
        count += 1
        place, before = Place(problems, line, f"{key[:60]}."), problems.total
        if seen.setdefault(key, line) != line or count > len(seen):
            place.problem("", f"the id stands in line {seen[key]} already; every profile has its own")
        record = read_profile(key, decoded(value, place, ""), place)
        if record and names.setdefault(record.username, line) != line:
            first = names[record.username]
            place.problem(
                "username", f"“{record.username}” stands in line {first} already; give each its own"
            )
        if problems.total != before:
            problems.invalid["profiles"] += 1
        elif record:
            yield record
    if not count:
        problems.add(None, "", "the file holds no profiles")


def read_profile_lines(path: Path, problems: Problems) -> Iterator[ProfileRecord]:
    """The profiles of a file with one a line, as releases have them; those with a problem are left out."""
    seen: dict[str, int] = {}
    names: dict[str, int] = {}
    for line in reading.lines(path):
        place, before = Place(problems, line.number), problems.total
        record = None
        try:
            given = decoding.decode(line.data.decode("utf-8"))
        except UnicodeDecodeError as error:
            place.problem("", reading.not_utf8(error))
        except ValueError as error:
            fault = decoding.fault(error, line=line.number)
            problems.add(fault.line, fault.field, fault.message)
        else:
            record = _of_line(given, place)
        if record:
            _refuse_twice(record, seen, names, place)
        if problems.total != before:
            problems.invalid["profiles"] += 1
        elif record:
            yield record


def _of_line(given: Any, place: Place) -> ProfileRecord | None:
    if not isinstance(given, dict):
        place.problem("", f"must be an object with a profile's fields, not {brief(given)}")
        return None
    given = dict(given)
    key = next((key for key in ("external_id", "id") if given.get(key) is not None), "id")
    external_id = place.text(given, key, LONGEST_NAME)
    for name in ("external_id", "id"):
        given.pop(name, None)
    for part in ("facts", "extra"):
        inner = given.pop(part, None)
        if isinstance(inner, dict):
            given = {**inner, **given}
        elif inner is not None:
            place.problem(part, f"must be an object, not {brief(inner)}")
    given = {name: value for name, value in given.items() if value is not None or name not in CATALOGUE}
    return read_profile(external_id, given, place) if external_id else None


def _refuse_twice(record: ProfileRecord, seen: dict[str, int], names: dict[str, int], place: Place) -> None:
    line = place.line or 0
    if (first := seen.setdefault(record.external_id, line)) != line:
        place.problem("id", f"stands in line {first} already; every profile has its own")
    if (first := names.setdefault(record.username, line)) != line:
        place.problem("username", f"“{record.username}” stands in line {first} already; give each its own")


def decoded(given: Any, place: Place, field: str) -> dict[str, Any] | None:
    """`given` as an object, whether it came as one, as JSON in a string, or encoded twice over."""
    for _ in range(ENCODED_TIMES):
        if not isinstance(given, str):
            break
        try:
            given = decoding.decode(given)
        except ValueError as error:
            place.problem(field, f"is text that is not JSON ({error}); write an object")
            return None
    if isinstance(given, dict):
        return given
    place.problem(field, f"must be an object with the author's attributes, not {brief(given)}")
    return None


def read_profile(
    external_id: str, given: dict[str, Any] | None, place: Place, *, known_as: str = ""
) -> ProfileRecord | None:
    """The profile that `given` says, None if it cannot be one. `known_as`: the username to store it under."""
    before = place.total
    if not external_id.strip() or len(external_id) > LONGEST_NAME:
        place.problem("", f"the id {brief(external_id)} must have 1 to {LONGEST_NAME} characters")
    if given is None:
        return None
    place.refuse_reserved(given)
    facts = {key: given[key] for key in CATALOGUE if key in given}
    for key, value in facts.items():
        _check_fact(key, value, place)
    extra = {key: value for key, value in given.items() if key not in CATALOGUE}
    style = extra.pop("style", None)
    if style is not None and not isinstance(style, str):
        place.problem("style", f"must be text in quotes, not {brief(style)}")
        style = None
    # A failed run of the generator leaves a profile without username and style; its id then names it.
    username = place.text(given, "username", LONGEST_NAME, needed=given.get("username") is not None)
    extra.pop("username", None)
    record = ProfileRecord(external_id, known_as or username or external_id, facts, style or "", extra, place)
    if place.total != before:
        return None
    _note_what_is_missing(record, given)
    return record


def _check_fact(key: str, value: Any, place: Place) -> None:
    if isinstance(value, bool | list | dict):
        place.problem(key, f"must be text or a number, not {brief(value)}")
    elif key in AGES and isinstance(value, str):
        place.problem(key, f"must be a number without quotes, not {brief(value)}")


def _note_what_is_missing(record: ProfileRecord, given: dict[str, Any]) -> None:
    """Records in `extra` whatever keeps `profile_json` from giving `given` back."""
    missing = [key for key in ("style", "username") if key not in given]
    if missing:
        record.extra[NOT_GIVEN] = missing
    for key, stored in (("style", record.style), ("username", record.username)):
        if key in given and given[key] != stored:
            record.extra[key] = given[key]


def profile_json(facts: dict[str, Any], style: str, username: str, extra: dict[str, Any]) -> dict[str, Any]:
    """A stored profile as the published files write it."""
    written = {key: facts[key] for key in CATALOGUE if key in facts}
    written |= {"style": style, "username": username}
    written |= {key: extra[key] for key in sorted(extra) if key != NOT_GIVEN}
    for key in extra.get(NOT_GIVEN, ()):
        written.pop(key, None)
    return written
