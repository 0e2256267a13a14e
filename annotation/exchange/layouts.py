"""Which of the known layouts a file has: by what stands in it, not by its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Any

from annotation.exchange import decoding, reading
from annotation.exchange.parquet_rows import ENCRYPTED, MAGIC
from annotation.exchange.reading import Unreadable
from simulation.domain.attributes import CATALOGUE

NODE_FIELDS = frozenset({"author", "username", "profile", "text", "guesses", "children", "reviews"})
ROW_FIELDS = frozenset({"id", "thread_id", "parent_id"})
ROW_SIGNS = ROW_FIELDS | {"external_id", "text", "children", "guesses", "reviews"}
TABLE_ENDING = re.compile(r"\.(csv|tsv|tab)(\.gz)?$", re.IGNORECASE)
THREAD_NAMES = ("thread_id", "name", "external_id")
"""Fields of a tree's root that may name its thread, where many trees stand in one file."""
LINES_ENDING = re.compile(r"\.(jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:\s*(["\\\s]*\{)?')
KNOWN = (
    "The layouts that can be imported: profiles ({“pers1”: {…}, …}); a thread tree (one comment with "
    "“text”, “username” and “children”), or many, one a line; rows (one comment a line with “id”, "
    "“thread_id” and “text”); tables (.csv, .tsv, .parquet, or .jsonl with fields of its own) by a "
    "mapping of their columns."
)


class Layout(Enum):
    PROFILES = "profiles"
    PROFILE_LINES = "profiles, one a line"
    TREE = "thread tree"
    TREES = "thread trees, one a line"
    LINES = "rows, one a line"
    ARRAY = "rows in an array"
    FOREIGN = "rows with fields of their own, one a line"
    CSV = "table (CSV)"
    PARQUET = "table (Parquet)"

    @property
    def foreign(self) -> bool:
        """Whether somebody has to say what the columns stand for."""
        return self in (Layout.FOREIGN, Layout.CSV, Layout.PARQUET)


def layout_of(path: Path) -> Layout:
    """Looks at the beginning of the file. Raises Unreadable with what was found and what is possible."""
    data = reading.first_bytes(path)
    if data.startswith(MAGIC):
        if data[:2] != _raw_start(path):
            raise Unreadable(None, "", "a Parquet file inside .gz cannot be read; unpack it")
        return Layout.PARQUET
    reading.refuse_other_encodings(data)
    reading.refuse_packed(data)
    head = data.decode("utf-8-sig", "replace").lstrip()
    if not head:
        next(reading.chunks(path), "")  # a damaged file says so itself
        raise Unreadable(None, "", "the file is empty")
    if TABLE_ENDING.search(path.name) and head[0] not in "{[":
        return Layout.CSV
    if path.name.lower().endswith(".parquet"):
        if data.startswith(ENCRYPTED):
            raise Unreadable(None, "", "the Parquet file is encrypted; write it without encryption")
        raise Unreadable(None, "", "this is no Parquet file: it does not begin with PAR1; copy it again")
    if LINES_ENDING.search(path.name):
        return _of_lines(_whole_line(path, head), ends_in_lines=True)
    if head[0] == "[":
        return Layout.ARRAY
    if head[0] != "{":
        raise Unreadable(1, "", f"this is not JSON: it begins with {head[:1]!r}. {KNOWN}")
    could_be_rows = head.partition("\n")[2].strip() or '"thread_id"' in head
    if could_be_rows and _first_line(head) is not None:
        return _of_lines(head, ends_in_lines=False)
    return _of_document(head)


def _raw_start(path: Path) -> bytes:
    with path.open("rb") as raw:
        return raw.read(2)


def _whole_line(path: Path, head: str) -> str:
    """The beginning of a file of lines, with the whole of its first line."""
    if "\n" in head or len(head) < reading.CHUNK // 4:
        return head
    first = next(reading.lines(path), None)
    return head if first is None else f"{first.data.decode('utf-8', 'replace').rstrip()}\n"


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
    several = bool(head.partition("\n")[2].strip())
    if _is_tree(first):
        named = any(isinstance(first.get(name), str) for name in THREAD_NAMES)
        if several and not named:
            message = "more than one tree: a file holds one, whose name is the thread's id"
            raise Unreadable(1, "", f"{message}; give each root a “thread_id”, or split the file")
        return Layout.TREES if named else Layout.TREE
    if _is_row(first, ends_in_lines=ends_in_lines):
        return Layout.LINES
    if _is_profile(first):
        return Layout.PROFILE_LINES
    if (
        first
        and not NODE_FIELDS & first.keys()
        and (not several or not ends_in_lines)
        and all(isinstance(one, dict) or _is_packed(one) for one in first.values())
    ):
        return Layout.PROFILES
    if ends_in_lines and first:
        return Layout.FOREIGN
    raise Unreadable(1, "", f"these fields belong to no layout: {', '.join(list(first)[:8])}. {KNOWN}")


def _is_tree(first: dict[str, Any]) -> bool:
    """Whether the first line is a thread: its replies are comments, or it could be no row of any layout."""
    children = first.get("children")
    if isinstance(children, list) and any(isinstance(one, dict) for one in children):
        return True
    if "thread_id" in first:
        return "children" in first and not {"id", "external_id", "parent_id"} & first.keys()
    alone = "children" in first or first.keys() <= NODE_FIELDS
    return alone and not ROW_FIELDS & first.keys() and _is_node(first)


def _is_row(first: dict[str, Any], *, ends_in_lines: bool) -> bool:
    """Whether the first line is a comment in the flat or the plain layout, or nearly so."""
    signs = ROW_SIGNS if ends_in_lines else ROW_FIELDS | {"external_id"}
    return len(signs & first.keys()) >= (3 if ends_in_lines else 1)


def _is_profile(first: dict[str, Any]) -> bool:
    if not {"id", "external_id"} & first.keys() or {"text", "thread_id"} & first.keys():
        return False
    return bool({"facts", "style", *CATALOGUE} & first.keys())


def _is_packed(value: Any) -> bool:
    """Whether it may be an object written as text, or that written as text again."""
    return isinstance(value, str) and value.lstrip().startswith(("{", '"'))


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
