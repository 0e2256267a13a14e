"""Who replies to whom in a file of rows: found out before the first row is written.

Rows may come before their parents. The outline holds ids and places only, in a database of its own on the
disk (SQLite's private temporary file, gone with the connection): a file of any length can be read twice and
takes the same memory, and checking it needs no other database.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation.exchange.problems import Place, Problems
from annotation.exchange.reading import Unreadable
from annotation.exchange.records import CommentRecord, ThreadRecord

DEEPEST = 32_767
AT_ONCE = 2000
CACHE = 16 << 10
"""KiB of the outline that stay in memory."""
VISITED = -1
CHANGED = "the file has changed while it was read; import it again"
TABLES = """
CREATE TABLE thread (n INTEGER PRIMARY KEY, name TEXT UNIQUE, phrase TEXT, key INTEGER);
CREATE TABLE comment (
    n INTEGER PRIMARY KEY, id TEXT UNIQUE, thread TEXT, parent TEXT, line INTEGER, replies INTEGER,
    up INTEGER, depth INTEGER, key INTEGER, stored INTEGER
);
CREATE TABLE claim (child TEXT, parent TEXT, place INTEGER, PRIMARY KEY (child, parent)) WITHOUT ROWID;
CREATE TABLE loose (thread TEXT, parent TEXT, replies INTEGER, PRIMARY KEY (thread, parent)) WITHOUT ROWID;
CREATE TABLE level (n INTEGER PRIMARY KEY, depth INTEGER);
"""
DEPTHS = """
INSERT INTO level WITH RECURSIVE down (n, depth) AS (
    SELECT n, 0 FROM comment WHERE up IS NULL
  UNION ALL
    SELECT c.n, down.depth + 1 FROM down JOIN comment c ON c.up = down.n
) SELECT n, depth FROM down
"""
PLACED = """
SELECT c.n, c.id, p.id, c.depth, claim.place, c.key, c.stored, p.key, t.key
FROM comment c
    LEFT JOIN comment p ON p.n = c.up
    LEFT JOIN claim ON claim.child = c.id AND claim.parent = p.id
    JOIN thread t ON t.name = c.thread
WHERE c.n > ? AND c.line IS NOT NULL ORDER BY c.n LIMIT ?
"""


class Stored(NamedTuple):
    """A comment of the corpus to which a row of the file replies, or one above such a comment."""

    external_id: str
    thread: str
    parent: str | None
    children: list[Any]
    key: int


@dataclass
class Known:
    """Of a batch of rows: keys by external id, those of them that are stored, and the threads' keys."""

    keys: dict[str, int] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)
    threads: dict[str, int] = field(default_factory=dict)


class Outline:
    """What `settle` and `place` say is complete once every row has been added."""

    def __init__(self) -> None:
        # used by one thread after the other at most: whoever drops the last reference closes it
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._db.close)
        for name, value in (("cache_size", -CACHE), ("journal_mode", "OFF"), ("temp_store", "FILE")):
            self._db.execute(f"PRAGMA {name} = {value}")
        self._db.executescript(TABLES)
        self._db.execute("BEGIN")  # never committed: nothing is to outlive the connection
        self._placed = 0

    def add(self, record: CommentRecord, children: Iterable[object]) -> None:
        """Takes a row in. Reports an id that has been seen before."""
        row = (record.external_id, record.thread, record.parent, record.place.line)
        insert = "INSERT OR IGNORE INTO comment (id, thread, parent, line) VALUES (?, ?, ?, ?)"
        added = self._db.execute(insert, row)
        if not added.rowcount:
            known = self._one("SELECT line FROM comment WHERE id = ?", record.external_id)
            message = f"“{record.external_id}” stands in line {known[0]} already; every comment has its own"
            record.place.problem("id", message)
            return
        if count := self._claim(record.external_id, children):
            self._db.execute("UPDATE comment SET replies = ? WHERE n = ?", (count, added.lastrowid))

    def _claim(self, parent: str, children: Iterable[object]) -> int:
        """Notes who lists whom, at its first place in the list; returns how many there are."""
        claims = [(child, parent, place) for place, child in enumerate(children)]
        named = [claim for claim in claims if isinstance(claim[0], str)]
        self._db.executemany("INSERT OR IGNORE INTO claim VALUES (?, ?, ?)", named)
        return len(claims)

    def add_thread(self, name: str, phrase: str | None) -> None:
        """Notes a thread and, unless a row before has said it, the phrase by which it asks for its target."""
        self._db.execute("INSERT OR IGNORE INTO thread (name) VALUES (?)", (name,))
        if phrase is not None:
            said = "UPDATE thread SET phrase = ? WHERE name = ? AND phrase IS NULL"
            self._db.execute(said, (phrase, name))

    def threads(self) -> Iterator[list[ThreadRecord]]:
        """The threads of the file as they came, some at a time."""
        for rows in self._pages("SELECT n, name, phrase FROM thread WHERE n > ? ORDER BY n LIMIT ?"):
            yield [ThreadRecord(name, "flat", phrase) for _, name, phrase in rows]

    def keep_threads(self, keys: Mapping[str, int]) -> None:
        """The keys of threads in the corpus."""
        pairs = [(key, name) for name, key in keys.items()]
        self._db.executemany("UPDATE thread SET key = ? WHERE name = ?", pairs)

    def ids(self) -> Iterator[list[str]]:
        """The external ids of the file as they came, some at a time."""
        for rows in self._pages("SELECT n, id FROM comment WHERE n > ? ORDER BY n LIMIT ?"):
            yield [name for _, name in rows]

    def keep_keys(self, keys: Mapping[str, int], stored: set[int]) -> None:
        """The keys of comments, and which of them are in the corpus already."""
        rows = [(key, key in stored, name) for name, key in keys.items()]
        self._db.executemany("UPDATE comment SET key = ?, stored = ? WHERE id = ?", rows)

    def strangers(self) -> Iterator[list[str]]:
        """Parents that are no rows of the file, some at a time."""
        self._db.execute(
            "CREATE TABLE stranger AS SELECT DISTINCT parent FROM comment c WHERE parent IS NOT NULL"
            " AND NOT EXISTS (SELECT 1 FROM comment p WHERE p.id = c.parent) ORDER BY parent"
        )
        for rows in self._pages("SELECT rowid, parent FROM stranger WHERE rowid > ? ORDER BY rowid LIMIT ?"):
            yield [parent for _, parent in rows]

    def take_in(self, stored: Iterable[Stored]) -> None:
        """Comments of the corpus above rows of the file."""
        insert = "INSERT OR IGNORE INTO comment (id, thread, parent, key, stored) VALUES (?, ?, ?, ?, 1)"
        for one in stored:
            added = self._db.execute(insert, (one.external_id, one.thread, one.parent, one.key))
            if added.rowcount:
                replies = self._claim(one.external_id, one.children)
                self._db.execute("UPDATE comment SET replies = ? WHERE n = ?", (replies, added.lastrowid))

    def settle(self, problems: Problems) -> None:
        """Finds every row's parent and depth. Reports circles and parents in other threads."""
        # a row whose parent is neither in the file nor in the corpus, or the word “root”, has none
        self._db.execute("UPDATE comment SET up = (SELECT p.n FROM comment p WHERE p.id = comment.parent)")
        self._refuse_other_threads(problems)
        self._db.execute("CREATE INDEX comment_up ON comment (up)")
        self._db.execute(DEPTHS)
        self._db.execute("UPDATE comment SET depth = (SELECT depth FROM level WHERE level.n = comment.n)")
        self._refuse_circles(problems)
        self._refuse_depths(problems)

    def _refuse_other_threads(self, problems: Problems) -> None:
        others = self._db.execute(
            "SELECT c.line, c.parent, p.thread, c.thread, c.n FROM comment c JOIN comment p ON p.n = c.up"
            " WHERE p.thread <> c.thread ORDER BY c.n"
        ).fetchall()
        for line, parent, above, thread, n in others:
            message = f"“{parent}” is in thread “{above}”, this comment in “{thread}”; correct one of them"
            Place(problems, line).problem("parent_id", message)
            problems.invalid["comments"] += 1
            self._db.execute("UPDATE comment SET up = NULL WHERE n = ?", (n,))

    def _refuse_circles(self, problems: Problems) -> None:
        """What no way down from a root has reached hangs on a circle, or in one."""
        after = 0
        while found := self._one(
            "SELECT n FROM comment WHERE n > ? AND depth IS NULL ORDER BY n LIMIT 1", after
        ):
            after = current = found[0]
            above: dict[int, int] = {}
            while (
                current not in above
                and self._one("SELECT depth FROM comment WHERE n = ?", current)[0] is None
            ):
                above[current] = len(above)
                current = self._one("SELECT up FROM comment WHERE n = ?", current)[0]
            if current in above:
                self._report_circle([*above][above[current] :], problems)
            self._db.executemany("UPDATE comment SET depth = ? WHERE n = ?", [(VISITED, n) for n in above])

    def _report_circle(self, circle: list[int], problems: Problems) -> None:
        rows = [self._one("SELECT line, id FROM comment WHERE n = ?", n) for n in circle]
        mine = [place for place, (line, _) in enumerate(rows) if line is not None]  # others are the corpus'
        turn = min(mine, key=lambda place: rows[place][0])
        turned = [*rows[turn:], *rows[:turn], rows[turn]]
        way = " → ".join(name for _, name in turned[:8])
        message = f"the comment is a reply to itself: {way}; correct one of these parents"
        Place(problems, rows[turn][0]).problem("parent_id", message)
        problems.invalid["comments"] += len(mine)

    def _refuse_depths(self, problems: Problems) -> None:
        deep = "SELECT line, depth FROM comment WHERE depth > ? AND line IS NOT NULL ORDER BY n"
        for line, depth in self._db.execute(deep, (DEEPEST,)):
            message = f"it is {depth} replies deep; at most {DEEPEST} are possible"
            Place(problems, line).problem("parent_id", message)
            problems.invalid["comments"] += 1

    def place(self, batch: list[CommentRecord]) -> Known:
        """Fills in parent, depth and, where the parent lists its children, the position of the next rows.

        They are given in the order in which they were added.
        """
        known = Known()
        rows = self._db.execute(PLACED, (self._placed, len(batch))).fetchall()
        if [row[1] for row in rows] != [record.external_id for record in batch]:
            raise Unreadable(None, "", CHANGED)
        for record, row in zip(batch, rows, strict=True):
            n, _, record.parent, record.depth, record.position, key, stored, above, thread = row
            known.keys[record.external_id] = key
            known.threads[record.thread] = thread
            if stored:
                known.stored.add(key)
            if record.parent is not None:
                known.keys[record.parent] = above
            self._placed = n
        return known

    def next_position(self, record: CommentRecord) -> int:
        """A place behind all known siblings, for a new comment that no list of children names."""
        if record.parent is not None:
            place = self._one("SELECT coalesce(replies, 0) FROM comment WHERE id = ?", record.parent)[0]
            self._db.execute("UPDATE comment SET replies = ? WHERE id = ?", (place + 1, record.parent))
            return int(place)
        whose = (record.thread, str(record.extra.get("parent_id")))
        found = self._one("SELECT replies FROM loose WHERE thread = ? AND parent = ?", *whose)
        place = found[0] if found else 0
        self._db.execute("INSERT OR REPLACE INTO loose VALUES (?, ?, ?)", (*whose, place + 1))
        return int(place)

    def _one(self, query: str, *given: Any) -> Any:
        return self._db.execute(query, given).fetchone()

    def _pages(self, query: str) -> Iterator[list[Any]]:
        """The rows of a query whose first column is a number that rises, which they may be changed under."""
        last = 0
        while rows := self._db.execute(query, (last, AT_ONCE)).fetchall():
            yield rows
            last = rows[-1][0]
