"""A thread as a tree: one comment with its replies in `children`, and theirs in them.

A file holds one tree, and its stem is the thread's id; or it holds one a line, and each root has it. The ids
of comments are the thread's and the place in the tree: `thread_age_1/0.2.1` is the second reply to the third
reply to the root. So both ways of writing a thread mean the same comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exchange import decoding, reading
from annotation.exchange.comments import LONGEST_ID, PHRASE, CommentReader, phrase
from annotation.exchange.flat import values
from annotation.exchange.layouts import THREAD_NAMES, Layout
from annotation.exchange.problems import Place, Problems, brief
from annotation.exchange.reading import MAX_RECORD, TOO_LONG, Unreadable
from annotation.exchange.records import CommentRecord, ThreadRecord

LONGEST_NAME = 100


@dataclass
class Tree:
    thread: ThreadRecord
    comments: list[CommentRecord] = field(default_factory=list)
    """Parents before their replies, replies in their order."""


class _Waiting(NamedTuple):
    node: Any
    path: str
    parent: str | None
    depth: int
    position: int


def read_tree(path: Path, problems: Problems) -> Tree:
    """The tree of a file. Raises Unreadable where the file is no JSON at all."""
    name = reading.stem(path.name)
    if not name or len(name) > LONGEST_NAME:
        problems.add(None, "", f"the file's name is the thread's id; give it 1 to {LONGEST_NAME} characters")
    root = _load(path)
    if isinstance(root, dict) and "thread_id" in root:
        problems.add(
            1, "thread_id", "this is a row of the flat layout over several lines; write one row a line"
        )
        return Tree(ThreadRecord(name, "tree", ""))
    return _tree(root, name, None, _reader(), problems)


def read_trees(path: Path, problems: Problems) -> Iterator[Tree]:
    """The trees of a file with one a line, one at a time; those with a problem are left out."""
    reader, seen, count = _reader(), dict[str, int](), 0
    for count, given in enumerate(values(path, Layout.TREES, problems), start=1):  # noqa: B007
        before = problems.total
        root, name = given.value, ""
        if isinstance(root, dict):
            root = dict(root)
            name = _name_of(root, Place(problems, given.line))
            first = seen.setdefault(name, given.line)
            if name and first != given.line:
                message = f"“{name}” stands in line {first} already; every thread has its own"
                problems.add(given.line, "thread_id", message)
        tree = _tree(root, name, given.line, reader, problems)
        if problems.total == before:
            yield tree
    if not count and not problems.total:
        problems.add(None, "", "the file holds no trees")


def _name_of(root: dict[str, Any], place: Place) -> str:
    """Takes the thread's id out of its root."""
    field = next((field for field in THREAD_NAMES if root.get(field) is not None), THREAD_NAMES[0])
    name = place.text(root, field, LONGEST_NAME)
    root.pop(field, None)
    return name


def _reader() -> CommentReader:
    return CommentReader(fields=("children",), no_guesses=[], note_missing=False)


def _tree(root: Any, name: str, line: int | None, reader: CommentReader, problems: Problems) -> Tree:
    tree = Tree(ThreadRecord(name, "tree", ""))
    waiting = [_Waiting(root, "0", None, 0, 0)]
    while waiting:
        one = waiting.pop()
        before = problems.total
        record = _comment(one, name, line, reader, problems)
        if problems.total != before:
            problems.invalid["comments"] += 1
        if record is None:
            continue
        tree.comments.append(record)
        replies = _replies(one, record)
        waiting.extend(
            _Waiting(reply, f"{one.path}.{index}", record.external_id, one.depth + 1, index)
            for index, reply in reversed(list(enumerate(replies)))
        )
    _take_phrase(tree, root)
    return tree


def _load(path: Path) -> Any:
    pieces, size = [], 0
    for piece in reading.chunks(path):
        size += len(piece)
        if size > MAX_RECORD:
            raise Unreadable(None, "", f"the tree {TOO_LONG}")
        pieces.append(piece)
    try:
        return decoding.decode("".join(pieces))
    except ValueError as error:
        raise decoding.fault(error) from None


def _comment(
    one: _Waiting, name: str, line: int | None, reader: CommentReader, problems: Problems
) -> CommentRecord | None:
    place = Place(problems, line, f"node {one.path}, ")
    if not isinstance(one.node, dict):
        place.problem("", f"must be an object with a comment's fields, not {brief(one.node)}")
        return None
    external_id = f"{name}/{one.path}"
    if len(external_id) > LONGEST_ID:
        message = (
            f"its id “{name}/…” would have {len(external_id)} characters, at most {LONGEST_ID} are possible"
        )
        place.problem("", f"{message}: the tree is too deep; give the file a shorter name, or import rows")
    record = reader.read(one.node, external_id, name, place)
    record.parent, record.depth, record.position = one.parent, one.depth, one.position
    return record


def _replies(one: _Waiting, record: CommentRecord) -> list[Any]:
    replies = one.node.get("children")
    if replies is None or isinstance(replies, list):
        return replies or []
    record.place.problem("children", f"must be a list of comments, not {brief(replies)}")
    record.place.problems.invalid["comments"] += 1
    return []


def _take_phrase(tree: Tree, root: Any) -> None:
    """What the root's `guess_feature` says, or that of its profile. Elsewhere it is kept as it is."""
    if not tree.comments or not isinstance(root, dict):
        return
    record = tree.comments[0]
    said = phrase(root.get(PHRASE), record.place, PHRASE)
    if said is not None:
        del record.extra["fields"][PHRASE]
        if not record.extra["fields"]:
            del record.extra["fields"]
    else:
        said = phrase(record.extra.get(PHRASE), record.place, f"profile.{PHRASE}")
    tree.thread.target_phrase = said or ""
