"""Who replies to whom in a file of rows: found out before the first row is written.

Rows may come before their parents. The outline holds ids and places only, so that a file of any length
can be read twice and kept nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern
from typing import Any, NamedTuple

from annotation.exchange.problems import Place, Problems
from annotation.exchange.records import CommentRecord, ThreadRecord

DEEPEST = 32_767


class Stored(NamedTuple):
    """A comment of the corpus to which a row of the file replies, or one above such a comment."""

    external_id: str
    thread: str
    parent: str | None
    children: list[Any]


@dataclass(slots=True)
class _Row:
    thread: str
    parent: str | None
    line: int | None
    replies: int = 0
    """How many children it has named, then how many places among them are taken."""
    depth: int | None = None


class _Claim(NamedTuple):
    parent: str
    place: int


@dataclass
class Outline:
    """What `settle` and `place` say is complete once every row has been added."""

    rows: dict[str, _Row] = field(default_factory=dict)
    threads: dict[str, ThreadRecord] = field(default_factory=dict)
    _named: dict[str, _Claim] = field(default_factory=dict)
    """Child -> the first parent that lists it, and where in the list."""
    _also: dict[tuple[str, str], int] = field(default_factory=dict)
    """The same by parent and child, for children that several rows list, as in some published files."""
    _loose: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, record: CommentRecord, children: Iterable[str]) -> None:
        """Takes a row in. Reports an id that has been seen before."""
        parent = None if record.parent is None else intern(record.parent)
        row = _Row(intern(record.thread), parent, record.place.line)
        known = self.rows.setdefault(intern(record.external_id), row)
        if known is not row:
            message = f"“{record.external_id}” stands in line {known.line} already; every comment has its own"
            record.place.problem("id", message)
            return
        row.replies = self._claim(record.external_id, children)

    def _claim(self, parent: str, children: Iterable[object]) -> int:
        """Notes who lists whom; returns how many there are."""
        index = -1
        for index, child in enumerate(children):
            if isinstance(child, str):
                claim = _Claim(parent, index)
                if self._named.setdefault(intern(child), claim) is not claim:
                    self._also.setdefault((parent, child), index)
        return index + 1

    def strangers(self) -> set[str]:
        """Parents that are no rows of the file."""
        return {
            row.parent for row in self.rows.values() if row.parent is not None and row.parent not in self.rows
        }

    def settle(self, stored: Iterable[Stored], problems: Problems) -> None:
        """Finds every row's parent and depth. Reports circles and parents in other threads."""
        for one in stored:
            if one.external_id not in self.rows:
                replies = self._claim(one.external_id, one.children)
                self.rows[one.external_id] = _Row(one.thread, one.parent, None, replies)
        for external_id, row in self.rows.items():
            self._settle_parent(external_id, row, problems)
        for external_id in self.rows:
            self._settle_depth(external_id, problems)

    def _settle_parent(self, external_id: str, row: _Row, problems: Problems) -> None:
        if row.parent is None:
            return
        parent = self.rows.get(row.parent)
        if parent is None:
            row.parent = None  # the row above is not in the file, or it is the word “root”
        elif parent.thread != row.thread:
            message = f"“{row.parent}” is in thread “{parent.thread}”, this comment in “{row.thread}”"
            Place(problems, row.line).problem("parent_id", f"{message}; correct one of them")
            problems.invalid["comments"] += 1
            row.parent = None

    def _settle_depth(self, external_id: str, problems: Problems) -> None:
        above: list[str] = []
        seen: set[str] = set()
        current: str | None = external_id
        while current is not None and self.rows[current].depth is None:
            if current in seen:
                self._report_circle(above[above.index(current) :], problems)
                break
            seen.add(current)
            above.append(current)
            current = self.rows[current].parent
        depth = -1 if current is None else self.rows[current].depth or 0
        for one in reversed(above):
            depth += 1
            self.rows[one].depth = depth
        if depth > DEEPEST and above:
            message = f"it is {depth} replies deep; at most {DEEPEST} are possible"
            Place(problems, self.rows[external_id].line).problem("parent_id", message)

    def _report_circle(self, circle: list[str], problems: Problems) -> None:
        mine = [one for one in circle if self.rows[one].line is not None]  # others are of the corpus
        first = min(mine, key=lambda one: self.rows[one].line or 0)
        turn = circle.index(first)
        way = " → ".join([*circle[turn:], *circle[:turn], first][:8])
        message = f"the comment is a reply to itself: {way}; correct one of these parents"
        Place(problems, self.rows[first].line).problem("parent_id", message)
        problems.invalid["comments"] += len(mine)

    def place(self, record: CommentRecord) -> None:
        """Fills in parent, depth and, where the parent lists its children, the position of a row."""
        row = self.rows[record.external_id]
        record.parent, record.depth, record.position = row.parent, row.depth or 0, None
        claim = self._named.get(record.external_id)
        if claim and row.parent is not None:
            listed = claim.place if claim.parent == row.parent else None
            record.position = self._also.get((row.parent, record.external_id), listed)

    def next_position(self, record: CommentRecord) -> int:
        """A place behind all known siblings, for a new comment that no list of children names."""
        if record.parent is not None:
            row = self.rows[record.parent]
            row.replies += 1
            return row.replies - 1
        key = (record.thread, str(record.extra.get("parent_id")))
        self._loose[key] = self._loose.get(key, -1) + 1
        return self._loose[key]
