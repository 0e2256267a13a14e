"""A thread as a tree: one comment with its replies in `children`, and theirs in them.

The ids of its comments are the file's stem and the place in the tree: `thread_age_1/0.2.1` is the second
reply to the third reply to the root.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from annotation.exchange import decoding, reading
from annotation.exchange.comments import LONGEST_ID, PHRASE, CommentReader, phrase
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
    tree = Tree(ThreadRecord(name, "tree", ""))
    if isinstance(root, dict) and "thread_id" in root:
        problems.add(
            1, "thread_id", "this is a row of the flat layout over several lines; write one row a line"
        )
        return tree
    reader = CommentReader(fields=("children",), no_guesses=[], note_missing=False)
    waiting = [_Waiting(root, "0", None, 0, 0)]
    while waiting:
        one = waiting.pop()
        before = problems.total
        record = _comment(one, name, reader, problems)
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


def _comment(one: _Waiting, name: str, reader: CommentReader, problems: Problems) -> CommentRecord | None:
    place = Place(problems, None, f"node {one.path}, ")
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
