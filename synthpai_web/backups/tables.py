"""The tables of the database as a backup sees them: columns, rows in a fixed order, sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from django.db import connection

FIXED = (
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'postgres'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL bytea_output = 'hex'",
    "SET LOCAL client_encoding = 'UTF8'",
)
"""Formats in which every server writes the same bytes for the same values."""
COLUMNS = """
SELECT c.relname, a.attname
FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = current_schema() AND c.relkind = 'r' AND a.attgenerated = '' AND NOT EXISTS (
    SELECT 1 FROM pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
)
ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"
"""
KEYS = """
SELECT c.relname, a.attname
FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN unnest(k.conkey) WITH ORDINALITY AS key(attnum, place) ON true
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = key.attnum
WHERE k.contype = 'p' AND n.nspname = current_schema()
ORDER BY c.relname, key.place
"""
SEQUENCES = """
SELECT sequencename, last_value FROM pg_sequences
WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY sequencename
"""
DROPS = """
SELECT c.relkind NOT IN ('r', 'p') AS later, 'DROP ' || CASE c.relkind
    WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
    WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END || format(' IF EXISTS %I.%I CASCADE', n.nspname, c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND NOT EXISTS (
    SELECT 1 FROM pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
)
UNION ALL
SELECT true, format('DROP ROUTINE IF EXISTS %I.%I(%s) CASCADE', n.nspname, p.proname,
    pg_get_function_identity_arguments(p.oid))
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = current_schema() AND NOT EXISTS (
    SELECT 1 FROM pg_depend d
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
)
ORDER BY later
"""
"""Tables first: sequences and triggers of theirs go with them, and cannot go before."""


def fix_formats() -> None:
    """For the rest of the transaction."""
    with connection.cursor() as cursor:
        for statement in FIXED:
            cursor.execute(statement)


def columns_of_all() -> dict[str, list[str]]:
    """Table -> its columns by name, without those of extensions. The order in which migrations added the
    columns is no part of the data."""
    found: dict[str, list[str]] = {}
    for table, column in _asked(COLUMNS):
        found.setdefault(table, []).append(column)
    return found


def keys_of_all() -> dict[str, list[str]]:
    """Table -> the columns of its primary key."""
    found: dict[str, list[str]] = {}
    for table, column in _asked(KEYS):
        found.setdefault(table, []).append(column)
    return found


def sequences() -> dict[str, int]:
    return {str(name): int(value) for name, value in _asked(SEQUENCES)}


def drop_all() -> None:
    """Takes away all tables, views, sequences and functions. The schema stays, with who may use it, and so
    does what belongs to an extension: whoever installed that may be the only one who can."""
    drops = [statement for _, statement in _asked(DROPS)]
    with connection.cursor() as cursor:
        for statement in drops:
            cursor.execute(statement)


def _asked(question: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchall()


def quoted(names: list[str]) -> str:
    return ", ".join(connection.ops.quote_name(name) for name in names)


def rows_out(table: str, columns: list[str], key: list[str]) -> Iterator[bytes]:
    """The rows as COPY text, some at a time, ordered by `key` (by all columns where there is none)."""
    order = quoted(key or columns)
    question = f"SELECT {quoted(columns)} FROM {quoted([table])} ORDER BY {order}"  # noqa: S608
    statement = f"COPY ({question}) TO STDOUT"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for block in copy:
            yield bytes(block)


def digest(table: str, columns: list[str], key: list[str]) -> tuple[int, str]:
    """Rows and SHA-256 of a table as it is now."""
    rows, counted = 0, hashlib.sha256()
    for block in rows_out(table, columns, key):
        rows += block.count(b"\n")
        counted.update(block)
    return rows, counted.hexdigest()
