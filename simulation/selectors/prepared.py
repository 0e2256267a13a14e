"""Cursors whose statements the server plans once a connection, for the few statements of every call.

Planning one of them takes the server longer than doing it. A pooler between us and the server must know
prepared statements (PgBouncer does since 1.21).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


class _Preparing(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> _Preparing:
        return super().execute(query, params, prepare=True, **options)


@contextmanager
def prepared() -> Iterator[CursorWrapper]:
    """A cursor of the current connection, within its transaction, counted and logged as any other.

    Its parameters travel beside the statement, so it must tell their types where nothing else does.
    """
    connection.ensure_connection()
    cursor = _Preparing(connection.connection)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(cursor) as wrapped:  # type: ignore[arg-type] # psycopg's own cursor, as Django's is
        yield wrapped


def at_once(statements: Iterable[tuple[str, Mapping[str, Any]]]) -> list[list[Any]]:
    """The rows that each statement gave: one transaction, sent whole.

    Its locks last as long as the server works, not as long as this process takes between two statements. So
    each statement must say itself under which conditions it does anything.
    """
    connection.ensure_connection()
    raw: Any = connection.connection
    cursors = []
    with connection.wrap_database_errors, raw.pipeline(), raw.transaction():
        for statement, values in statements:
            cursors.append(_Preparing(raw))
            cursors[-1].execute(statement, values)
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]
