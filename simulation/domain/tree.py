"""The comment tree, built from rows in Python and drawn step by step: no database, no recursion.

A thread may be as deep as its source made it; nothing here grows the call stack with the depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

INDENTS = 12
"""Levels drawn one inside the other; deeper replies stand below each other and name whom they answer."""


class Row(Protocol):
    """What a tree needs to know of a comment."""

    @property
    def pk(self) -> int: ...
    @property
    def parent_id(self) -> int | None: ...
    @property
    def position(self) -> int: ...


@dataclass(eq=False)
class Node:
    """A comment with its replies in order. In a focused tree `on_path` marks root .. target."""

    comment: Row
    parent: Node | None = None
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
        """This node and all below it, each before its replies."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.replies))


def build(rows: Iterable[Row]) -> list[Node]:
    """The roots of the forest that `rows` are. A row whose parent is not among them is a root."""
    nodes = {row.pk: Node(row) for row in rows}
    roots: list[Node] = []
    for node in nodes.values():
        key = node.comment.parent_id
        node.parent = nodes.get(key) if key is not None else None
        (node.parent.replies if node.parent else roots).append(node)
    for node in nodes.values():
        node.replies.sort(key=lambda reply: reply.comment.position)
    return roots


def focus(roots: list[Node], target: int) -> Node | None:
    """Marks the path to the comment with key `target`; the root of its tree, or None if it is not there."""
    for root in roots:
        for node in root.walk():
            if node.comment.pk == target:
                node.is_target = True
                above: Node | None = node
                while above:
                    above.on_path = True
                    above = above.parent
                return root
    return None


@dataclass(frozen=True)
class Step:
    """One step of drawing: a kind of mark, and the node or the folded nodes it is about.

    Kinds: node, end_node, list, end_list, fold, end_fold. `flat` says that a node stands below the one it
    answers instead of inside of it.
    """

    kind: str
    node: Node | None = None
    folded: tuple[Node, ...] = ()
    flat: bool = False
    lazy: bool = False
    """What is folded is not drawn; it is fetched when somebody opens the fold."""


LIST, END_LIST, END_NODE, END_FOLD = (Step(kind) for kind in ("list", "end_list", "end_node", "end_fold"))


def steps(roots: Iterable[Node], *, level: int = 0) -> Iterator[Step]:
    """Draws whole trees. `level` is how many lists are open already."""
    waiting: list[Step | tuple[Node, int, bool]] = [(root, level, False) for root in reversed(list(roots))]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Step):
            yield one
            continue
        node, depth, flat = one
        yield Step("node", node, flat=flat)
        deeper = depth < INDENTS
        below = [(reply, depth + deeper, not deeper) for reply in reversed(node.replies)]
        if node.replies and deeper:
            yield LIST
            waiting += [END_NODE, END_LIST, *below]
        else:
            yield END_NODE
            waiting += below


def steps_to_target(root: Node, *, lazy: bool = False) -> Iterator[Step]:
    """Draws the path from `root` to the target open, and what stands beside it folded.

    `lazy` leaves out what is folded: only how many and who.
    """
    ends: list[Step] = []
    node: Node | None = root
    level, flat = 0, False
    while node:
        yield Step("node", node, flat=flat)
        flat = level >= INDENTS
        if node.replies and not flat:
            yield LIST
            ends += [END_NODE, END_LIST]
            level += 1
        else:
            yield END_NODE
        if node.folded:
            yield Step("fold", node, tuple(node.folded), lazy=lazy)
            if not lazy:
                yield from steps(node.folded, level=level + 1)
            yield END_FOLD
        node = node.next
    yield from reversed(ends)
