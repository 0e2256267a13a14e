"""The door for data on their way out: layouts, streaming, and the record of who took what."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.db import connection, transaction
from django.utils.text import slugify

from annotation.exchange.chunks import Item, Pseudonyms, items
from annotation.exchange.plain import COLUMNS, plain_row, table_rows
from annotation.exchange.published import published_row
from simulation.models import Corpus, User
from simulation.services import audit


@dataclass(frozen=True)
class Layout:
    content_type: str
    ending: str
    write: Callable[[list[Item], Pseudonyms], str]
    head: str = ""
    withdrawn: bool = False
    """Whether withdrawn comments are in it (their state is then said)."""


def _json_lines(row: Callable[[Item, Pseudonyms], dict[str, Any]]) -> Callable[[list[Item], Pseudonyms], str]:
    def write(chunk: list[Item], names: Pseudonyms) -> str:
        return "".join(
            json.dumps(row(item, names), ensure_ascii=False, separators=(",", ":")) + "\n" for item in chunk
        )

    return write


def _csv(rows: list[list[Any]]) -> str:
    out = StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def _table(chunk: list[Item], names: Pseudonyms) -> str:
    return _csv([row for item in chunk for row in table_rows(item, names)])


LAYOUTS = {
    "synthpai": Layout("application/x-ndjson; charset=utf-8", "jsonl", _json_lines(published_row)),
    "jsonl": Layout("application/x-ndjson; charset=utf-8", "jsonl", _json_lines(plain_row), withdrawn=True),
    "csv": Layout("text/csv; charset=utf-8", "csv", _table, head=_csv([list(COLUMNS)])),
}
CONTENT_TYPES = {name: layout.content_type for name, layout in LAYOUTS.items()}


def stream(*, corpus: Corpus, layout: str, reviewed_only: bool = False) -> Iterator[str]:
    """The file in pieces of some hundred comments. Equal data give equal bytes.

    People appear under pseudonyms; no name, address or id of an account is in any layout. Within
    `snapshot()` all pieces show one moment.
    """
    chosen = LAYOUTS[layout]
    names = Pseudonyms.of(corpus)
    if chosen.head:
        yield chosen.head
    for chunk in items(corpus, reviewed_only=reviewed_only, withdrawn=chosen.withdrawn):
        yield chosen.write(chunk, names)


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read inside is the database of one moment, whatever others write meanwhile."""
    with transaction.atomic():
        if len(connection.savepoint_ids) == 0:  # else a transaction is open, and its level is settled
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def file_name(corpus: Corpus, layout: str) -> str:
    """What a download is called."""
    return f"{slugify(corpus.name) or corpus.public_id}-{layout}.{LAYOUTS[layout].ending}"


def record(*, by: User | None, corpus: Corpus, layout: str, reviewed_only: bool = False) -> None:
    """Writes down that somebody takes the data, the authors' true attributes among them."""
    details = {"layout": layout, "reviewed_only": reviewed_only}
    audit.record(by=by, action="corpus.exported", target=corpus, corpus=corpus, details=details)
