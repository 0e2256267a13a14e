"""Finds the rows of one file again in another, whatever their order, without either in memory.

Both files may hold some hundred thousand rows, and a comment that was put between others moves all behind it:
so the old file is indexed by its keys in a small database of its own, which holds where a row stands and a
digest of it, and the new file is read against that.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from evaluation.domain.release_changes import key_of

BETWEEN = "\x1f"
BATCH = 1000


@dataclass(frozen=True)
class Pair:
    """A row of the old file, of the new file, or of both where they are not the same bytes."""

    key: tuple[str, ...]
    old: dict[str, Any] | None
    new: dict[str, Any] | None


class Paired:
    """Iterates over pairs that differ: those of the new file in its order, then what is only in the old one.

    `same` counts the others as it goes.
    """

    def __init__(self, table: str, old: Path, new: Path, place: Path) -> None:
        self.same = 0
        self._table, self._old, self._new = table, old, new
        self._place = place / f"{table}.sqlite3"

    def __iter__(self) -> Iterator[Pair]:
        with closing(sqlite3.connect(self._place)) as kept, self._old.open("rb") as old:
            kept.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "CREATE TABLE old (key TEXT, digest BLOB, start INTEGER, seen INTEGER DEFAULT 0)"
            )
            self._index(kept, old)
            yield from self._read(kept, old)
            unseen = kept.execute("SELECT start FROM old WHERE seen = 0 ORDER BY start")
            for (start,) in unseen:
                row = _row(old, start)
                yield Pair(key_of(self._table, row), row, None)
        self._place.unlink()

    def _index(self, kept: sqlite3.Connection, old: BinaryIO) -> None:
        rows = []
        start = 0
        for line in old:
            rows.append((self._key(json.loads(line)), _digest(line), start))
            start += len(line)
            if len(rows) == BATCH:
                kept.executemany("INSERT INTO old (key, digest, start) VALUES (?, ?, ?)", rows)
                rows = []
        kept.executemany("INSERT INTO old (key, digest, start) VALUES (?, ?, ?)", rows)
        kept.execute("CREATE INDEX by_key ON old (key, seen)")

    def _read(self, kept: sqlite3.Connection, old: BinaryIO) -> Iterator[Pair]:
        with self._new.open("rb") as lines:
            for line in lines:
                row = json.loads(line)
                found = kept.execute(
                    "SELECT rowid, digest, start FROM old WHERE key = ? AND seen = 0 ORDER BY rowid LIMIT 1",
                    [self._key(row)],
                ).fetchone()
                key = key_of(self._table, row)
                if found is None:
                    yield Pair(key, None, row)
                    continue
                number, digest, start = found
                kept.execute("UPDATE old SET seen = 1 WHERE rowid = ?", [number])
                if digest == _digest(line):
                    self.same += 1
                else:
                    yield Pair(key, _row(old, start), row)

    def _key(self, row: dict[str, Any]) -> str:
        return BETWEEN.join(key_of(self._table, row))


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line.rstrip(b"\n"), digest_size=16).digest()


def _row(file: BinaryIO, start: int) -> dict[str, Any]:
    file.seek(start)
    row: dict[str, Any] = json.loads(file.readline())
    return row
