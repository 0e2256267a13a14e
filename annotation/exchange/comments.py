"""One comment: what a node of a tree and a row of the flat layout have in common."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from annotation.exchange.guesses import read_guesses
from annotation.exchange.problems import NOT_GIVEN, Place, brief
from annotation.exchange.profiles import decoded, read_profile
from annotation.exchange.records import CommentRecord
from annotation.exchange.reviews import read_reviews
from annotation.exchange.sameness import alike

LONGEST_ID = 200
LONGEST_NAME = 100
LONGEST_PHRASE = 200
COMMON = ("author", "username", "profile", "text", "guesses", "reviews")
PHRASE = "guess_feature"
REMEMBERED = 5000
SOURCES = ("real", "synthetic")
WHEN, SOURCE = "created_at", "source"
"""Optional fields of a comment; they stand in `extra` under these names where they say what they should."""


class CommentReader:
    """Reads the fields that both layouts share. Checks each author's profile once, not at every comment."""

    def __init__(self, *, fields: tuple[str, ...], no_guesses: object, note_missing: bool) -> None:
        self._fields = frozenset(fields) | frozenset(COMMON)
        self._noted = self._fields if note_missing else frozenset()
        self._no_guesses = no_guesses
        self._checked: dict[str, dict[str, Any]] = {}

    def read(self, source: dict[str, Any], external_id: str, thread: str, place: Place) -> CommentRecord:
        """The comment of `source`; its problems go to `place`."""
        record = CommentRecord(
            external_id,
            thread,
            author=place.text(source, "author", LONGEST_NAME, needed=False),
            username=place.text(source, "username", LONGEST_NAME),
            text="",
            place=place,
            suggestions=read_guesses(source.get("guesses"), place) if "guesses" in source else None,
            annotations=read_reviews(source.get("reviews"), place),
        )
        self._read_text(source, record)
        self._keep(source, record)
        if source.get("profile"):
            self._read_profile(source["profile"], record)
        return record

    def _read_text(self, source: dict[str, Any], record: CommentRecord) -> None:
        text = source.get("text")
        if not isinstance(text, str):
            said = "is missing" if text is None else f"must be text in quotes, not {brief(text)}"
            record.place.problem("text", said)
            return
        record.text = text.strip()
        if record.text != text:
            lead = text[: len(text) - len(text.lstrip())]
            record.extra["around"] = [lead, text[len(lead) + len(record.text) :]]
        if not record.text:
            record.place.warn("comments without any text")

    def _keep(self, source: dict[str, Any], record: CommentRecord) -> None:
        """What the model has no column for."""
        extra = record.extra
        if not source.keys() <= self._fields:
            fields = {key: value for key, value in source.items() if key not in self._fields}
            extra |= {
                key: fields.pop(key) for key in (WHEN, SOURCE) if key in fields and said(key, fields[key])
            }
            if fields:
                extra["fields"] = fields
        if not self._noted <= source.keys():
            extra[NOT_GIVEN] = sorted(self._noted - source.keys())
        guesses = source.get("guesses", self._no_guesses)
        if not guesses and guesses != self._no_guesses:
            extra["guesses"] = guesses
        for key in ("reviews", "profile"):
            if key in source and not source[key]:
                extra[key] = source[key]
        if "author" in source and source["author"] is None:
            extra["author"] = None

    def _read_profile(self, given: Any, record: CommentRecord) -> None:
        place = record.place
        profile = decoded(given, place, "profile")
        if profile is None:
            return
        if PHRASE in profile:
            profile = dict(profile)
            record.extra[PHRASE] = profile.pop(PHRASE)
        if not profile:
            record.extra["profile"] = profile
            return
        record.profile = profile
        key = record.author or record.username
        if alike(self._checked.get(key), profile):
            return
        if read_profile(key or "?", profile, place.inside("profile")):
            if len(self._checked) >= REMEMBERED:
                self._checked.clear()
            self._checked[key] = profile


def said(field: str, given: Any) -> bool:
    """Whether `given` is a time (ISO 8601), or the word real or synthetic, as the field asks for."""
    if field == SOURCE:
        return given in SOURCES
    if not isinstance(given, str):
        return False
    try:
        datetime.fromisoformat(given)
    except ValueError:
        return False
    return True


def phrase(given: Any, place: Place, field: str) -> str | None:
    """The phrase by which a thread asks for its target; None where it is not said in words."""
    if not isinstance(given, str) or not given.strip():
        return None
    if len(given) > LONGEST_PHRASE:
        place.problem(field, f"has {len(given)} characters; at most {LONGEST_PHRASE} are possible")
        return None
    return given
