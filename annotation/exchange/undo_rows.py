"""Rows of an import taken away and given back, by the million and in the database.

Tables are emptied one by one without a look at what hangs on the rows: foreign keys are checked when all is
done, and whatever still refers to a row that is gone refuses the whole.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey, Model

from annotation.exchange import undo_sql as sql
from annotation.exchange.journal import label_of
from annotation.exchange.keys import as_multirange
from annotation.models import AnnotationEvent

GIVE_BACK = """
UPDATE {table} t SET ({columns}) = ROW({values})
FROM (
    SELECT c.row, jsonb_populate_record(o, c.before) AS old
    FROM {changes} c JOIN {table} o ON o.id = c.row
    WHERE c.data_import_id = %s AND c.model = %s AND c.after <> '{{}}'
) r WHERE t.id = r.row
"""
PUT_BACK = """
INSERT INTO {table} ({columns}) SELECT {values}
FROM (
    SELECT jsonb_populate_record(NULL::{table}, c.before) AS old
    FROM {changes} c WHERE c.data_import_id = %s AND c.model = %s AND c.after = '{{}}'
) r
"""
REMOVE = "DELETE FROM {table} r USING {ranges} WHERE {within}"
HOW_MANY = "SELECT count(*) FROM {table} r, {ranges} WHERE {within}"
TRIGGER = "ALTER TABLE {table} {what} TRIGGER event_append_only"
LOCK_PATIENCE = "5s"
"""How long to wait for those who are submitting; they wait behind us as long."""


class _Part(NamedTuple):
    """Rows of a model whose `column` has one of `keys`."""

    model: type[Model]
    column: str
    keys: str
    condition: str = sql.ALL


def give_back(data_import: int) -> Counter[type[Model]]:
    """Makes changed rows what they were, and puts removed ones back; how many of each kind."""
    found: Counter[type[Model]] = Counter()
    for label in sql.kinds(data_import):
        model = apps.get_model(label)
        for statement in (GIVE_BACK, PUT_BACK):
            columns = [sql.quoted(str(field.column)) for field in model._meta.concrete_fields]
            values = ", ".join(f"(r.old).{column}" for column in columns)
            text = sql.filled(statement, model, columns=", ".join(columns), values=values)
            found[model] += sql.execute(text, [data_import, label])
    return +found


def remove(made: sql.Keys) -> Counter[type[Model]]:
    """Takes away what was made, and what goes with it; how many of each kind. Raises IntegrityError."""
    parts = [_Part(apps.get_model(label), "id", as_multirange(pairs)) for label, pairs in made.items()]
    for (model, name), condition in sql.IMPLIED.items():
        field = cast("ForeignKey[Any, Any]", model._meta.get_field(name))
        if pairs := made.get(label_of(field.related_model)):
            parts.append(_Part(model, field.column, as_multirange(pairs), condition))
    parts.sort(key=lambda part: part.model is AnnotationEvent)
    found: Counter[type[Model]] = Counter()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what has been done so far is checked now
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for part in parts:
            done = _remove_events(part) if part.model is AnnotationEvent else _remove(part)
            found[part.model] += done
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return +found


def _remove(part: _Part) -> int:
    within = f"{sql.column(part.column)} AND {part.condition}"
    return sql.execute(sql.filled(REMOVE, part.model, within=within), [part.keys])


def _remove_events(part: _Part) -> int:
    """Events cannot be removed, and those of an import that never was must be: the trigger steps aside.

    For that the table is locked against everybody who submits, which is why events go last.
    """
    if not sql.count(sql.filled(HOW_MANY, part.model, within=sql.column(part.column)), [part.keys]):
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        usual = cursor.fetchone()[0]
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [LOCK_PATIENCE])
        cursor.execute(sql.filled(TRIGGER, part.model, what="DISABLE"))
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [usual])
        done = _remove(part)
        cursor.execute(sql.filled(TRIGGER, part.model, what="ENABLE"))
    return done
