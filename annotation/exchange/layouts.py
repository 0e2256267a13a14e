"""Which of the known layouts a file has: by what stands in it, not by its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Any

from annotation.exchange import decoding, reading
from annotation.exchange.reading import Unreadable

NODE_FIELDS = frozenset({"author", "username", "profile", "text", "guesses", "children", "reviews"})
ROW_FIELDS = frozenset({"id", "thread_id", "parent_id"})
LINES_ENDING = re.compile(r"\.(jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:\s*(["\\\s]*\{)?')
KNOWN = (
    "The layouts that can be imported: profiles ({“pers1”: {…}, …}); a thread tree (one comment with "
    "“text”, “username” and “children”); rows (one comment a line with “id”, “thread_id” and “text”)."
)


class Layout(Enum):
    PROFILES = "profiles"
    TREE = "thread tree"
    LINES = "rows, one a line"
    ARRAY = "rows in an array"


def layout_of(path: Path) -> Layout:
    """Looks at the beginning of the file. Raises Unreadable with what was found and what is possible."""
    head = reading.head(path).lstrip()
    if not head:
        next(reading.chunks(path), "")  # a damaged file says so itself
        raise Unreadable(None, "", "the file is empty")
    if LINES_ENDING.search(path.name):
        return _of_lines(head, ends_in_lines=True)
    if head[0] == "[":
        return Layout.ARRAY
    if head[0] != "{":
        raise Unreadable(1, "", f"this is not JSON: it begins with {head[:1]!r}. {KNOWN}")
    could_be_rows = head.partition("\n")[2].strip() or '"thread_id"' in head
    if could_be_rows and _first_line(head) is not None:
        return _of_lines(head, ends_in_lines=False)
    return _of_document(head)


def _first_line(head: str) -> Any:
    """The value that the first line is; None where it is only a part of one."""
    try:
        return decoding.decode(head.partition("\n")[0])
    except ValueError:
        return None


def _of_lines(head: str, *, ends_in_lines: bool) -> Layout:
    first = _first_line(head)
    if not isinstance(first, dict):
        if ends_in_lines:
            return Layout.LINES  # the reader of rows then names the fault of this line and the next ones
        raise Unreadable(1, "", KNOWN)
    if ROW_FIELDS & first.keys():
        return Layout.LINES
    if _is_node(first):
        if head.partition("\n")[2].strip():
            message = "more than one tree: a file holds one, because its name is the thread's id; split it"
            raise Unreadable(1, "", message)
        return Layout.TREE
    if (
        first
        and not NODE_FIELDS & first.keys()
        and all(isinstance(one, dict | str) for one in first.values())
    ):
        return Layout.PROFILES
    raise Unreadable(1, "", f"these fields belong to no layout: {', '.join(list(first)[:8])}. {KNOWN}")


def _is_node(first: dict[str, Any]) -> bool:
    return "text" in first or ("children" in first and "comments" not in first)


def _of_document(head: str) -> Layout:
    """The layout of an object that goes over many lines, or is longer than what has been read."""
    found = FIRST_KEY.match(head)
    if not found:
        return Layout.TREE  # its reader reports what is wrong with the JSON, with line and column
    try:
        key = decoding.decode(found[1])
    except ValueError:  # as above; profiles are read piece by piece, so a large file has its fault named, too
        return Layout.PROFILES if found[2] else Layout.TREE
    if key in NODE_FIELDS | ROW_FIELDS | {"guess_feature"}:
        return Layout.TREE
    if found[2]:  # an object, perhaps within a string
        return Layout.PROFILES
    raise Unreadable(1, "", f"the first field, {found[1]}, belongs to no layout. {KNOWN}")
