"""Rows of the flat layout, the one that SynthPAI is published in: one comment a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotation.exchange import decoding, reading, scanning
from annotation.exchange.comments import LONGEST_ID, LONGEST_NAME, PHRASE, CommentReader, phrase
from annotation.exchange.layouts import Layout
from annotation.exchange.outline import Outline
from annotation.exchange.plain_rows import as_flat
from annotation.exchange.problems import Place, Problems, brief
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import CommentRecord, Given

FIELDS = ("id", "thread_id", "parent_id", "children")


def read_rows(
    rows: Iterable[Given], problems: Problems, outline: Outline | None = None
) -> Iterator[CommentRecord]:
    """The comments of a file, one at a time, those with a problem left out.

    An `outline` takes in who replies to whom on the way, and the threads.
    """
    published = CommentReader(fields=FIELDS, no_guesses=None, note_missing=True)
    others = CommentReader(fields=FIELDS, no_guesses=None, note_missing=False)
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007
        before = problems.total
        given = as_flat(row, problems)
        record = _comment(given, others if given.names else published, given.place(problems))
        if record and outline is not None:
            outline.add(record, _children(given.value, record))
            outline.add_thread(record.thread, _phrase(record))
        if problems.total != before:
            problems.invalid["comments"] += 1
        elif record:
            yield record
    if not count and not problems.total:
        problems.add(None, "", "the file holds no rows")


def values(path: Path, layout: Layout, problems: Problems, most: int | None = None) -> Iterator[Given]:
    """What stands in a file of rows, `most`: in the first so many bytes of one with lines."""
    if layout is Layout.ARRAY:
        for entry in scanning.Scanner(reading.chunks(path)).entries():
            yield Given(entry.line, entry.value)
        return
    for line in reading.lines(path, most):
        try:
            yield Given(line.number, decoding.decode(line.data.decode("utf-8").rstrip()))
        except UnicodeDecodeError as error:
            fault = Unreadable(line.number, "", reading.not_utf8(error))
        except ValueError as error:
            fault = decoding.fault(error, line=line.number)
        else:
            continue
        problems.add(fault.line, fault.field, fault.message)
        problems.invalid["comments"] += 1


def _comment(given: Given, reader: CommentReader, place: Place) -> CommentRecord | None:
    source = given.value
    if not isinstance(source, dict):
        place.problem("", f"must be an object with a comment's fields, not {brief(source)}")
        return None
    external_id = place.text(source, "id", LONGEST_ID)
    thread = place.text(source, "thread_id", LONGEST_NAME)
    record = reader.read(source, external_id, thread, place)
    parent = source.get("parent_id")
    if parent is not None:
        record.extra["parent_id"] = parent
        if isinstance(parent, str):
            record.parent = parent
        else:
            place.problem("parent_id", f"must be null or the id of a comment in quotes, not {brief(parent)}")
    if "children" in source:
        record.extra["children"] = source["children"]
    return record if external_id and thread else None


def _children(source: dict[str, Any], record: CommentRecord) -> list[str]:
    children = source.get("children")
    if children is None:
        return []
    if not isinstance(children, list) or any(not isinstance(child, str) for child in children):
        record.place.problem("children", f"must be a list of ids in quotes, not {brief(children)}")
        return []
    return children


def _phrase(record: CommentRecord) -> str | None:
    """By what the thread of a first comment asks for its target, where its profile says so."""
    if record.parent is not None or PHRASE not in record.extra:
        return None
    return phrase(record.extra[PHRASE], record.place, f"profile.{PHRASE}")
