"""The comment tree, built from rows in Python: no database, no recursion limits to fear (depth is small)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol


class Row(Protocol):
    """What a tree needs to know of a comment."""

    pk: int
    parent_id: int | None
    position: int


@dataclass
class Node:
    """A comment with its replies in order. In a focused tree `on_path` marks root .. target."""

    comment: Row
    replies: list[Node] = field(default_factory=list)
    on_path: bool = False
    is_target: bool = False

    @property
    def next(self) -> Node | None:
        """The reply that leads to the target."""
        return next((reply for reply in self.replies if reply.on_path), None)

    @property
    def folded(self) -> list[Node]:
        """The replies beside the path."""
        return [reply for reply in self.replies if not reply.on_path]

    def walk(self) -> Iterator[Node]:
        yield self
        for reply in self.replies:
            yield from reply.walk()


def build(rows: Iterable[Row]) -> list[Node]:
    """The roots of the forest that `rows` are. A row whose parent is not among them is a root."""
    nodes = {row.pk: Node(row) for row in rows}
    roots: list[Node] = []
    for node in nodes.values():
        parent = nodes.get(node.comment.parent_id) if node.comment.parent_id is not None else None
        (parent.replies if parent else roots).append(node)
    for node in nodes.values():
        node.replies.sort(key=lambda reply: reply.comment.position)
    return roots


def focus(roots: list[Node], target: int) -> Node | None:
    """Marks the path to the comment with key `target`; the root of its tree, or None if it is not there."""
    for root in roots:
        if _mark(root, target):
            return root
    return None


def _mark(node: Node, target: int) -> bool:
    node.is_target = node.comment.pk == target
    below = [_mark(reply, target) for reply in node.replies]  # all of them: an old mark must go
    node.on_path = node.is_target or any(below)
    return node.on_path
