"""What stands in the way of an undo: rows that people, runs or later imports built on those of an import.

Nothing here knows who refers to whom: the models say it, so that what is added tomorrow counts, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey, ManyToOneRel, Model

from annotation.exchange import undo_sql as sql
from annotation.exchange.journal import label_of
from annotation.exchange.keys import as_multirange
from annotation.models import DataImport
from simulation.models import Comment, Profile

DIFFERS = """
SELECT count(*) FROM {changes} c LEFT JOIN {table} t ON t.id = c.row
WHERE c.data_import_id = %s AND c.model = %s AND (
    (c.after = '{{}}' AND t.id IS NOT NULL) OR (c.after <> '{{}}' AND (t.id IS NULL OR EXISTS (
        SELECT 1 FROM jsonb_each(c.after) e WHERE e.value::text IS DISTINCT FROM (to_jsonb(t) -> e.key)::text
    )))
)
"""
CHANGED_AGAIN = """
SELECT d.file_name FROM {table} d JOIN {changes} k ON k.data_import_id = d.id
    JOIN {changes} c ON c.model = k.model AND c.row = k.row
WHERE c.data_import_id = %s AND c.model = %s AND d.corpus_id = %s AND d.state = 'done' AND d.finished_at > %s
GROUP BY d.id ORDER BY d.id DESC LIMIT 1
"""
"""The latest import that changed again what this one had changed."""
CHANGED_BY_OTHERS = """
SELECT d.file_name, count(*) FROM {changes} c JOIN {table} d ON d.id = c.data_import_id
WHERE d.corpus_id = %s AND d.id <> %s AND d.state = 'done' AND c.model = %s AND c.row <@ %s::int8multirange
GROUP BY d.id ORDER BY d.id
"""
REFERRING = "SELECT r.{key} AS id FROM {ranges}, {table} r WHERE {within}"
GIVEN_BACK = """
AND NOT EXISTS (
    SELECT 1 FROM {changes} c
    WHERE c.data_import_id = %s AND c.model = %s AND c.row = r.id AND c.before ? %s
)
"""
"""A row that refers to what was made only since the import changed it will not any more."""
HOW_MANY = "SELECT count(*) FROM ({rows}) x"
NOT_AMONG = " WHERE NOT x.id <@ %s::int8multirange"
TOUCHED: Mapping[type[Model], tuple[str, str]] = {
    Comment: ("r.state <> 'active'", "withdrawn since"),
    Profile: ("r.checked_at IS NOT NULL", "that somebody has checked"),
}
"""What people do to a row without leaving another one."""
WORDS = {
    "simulation.comment": "from elsewhere: a reply to its comments, in its threads or by its authors",
    "simulation.commentedit": "in its comments",
    "simulation.profileversion": "of its profiles",
    "simulation.artefact": "in its comments that somebody decided on",
    "annotation.item": "of a queue with its comments",
    "annotation.suggestion": "from elsewhere for its comments",
    "annotation.annotation": "from elsewhere of its comments",
    "annotation.attributelabel": "of people on its suggestions",
    "annotation.suggestioncheck": "of its suggestions",
}
"""What refers to the rows of an import, for people."""


class Obstacle(NamedTuple):
    """So many rows, and why they stand in the way."""

    counted: str
    why: str

    def __str__(self) -> str:
        return f"{self.counted} {self.why}"


def _rows(count: int, model: type[Model], why: str) -> Iterator[Obstacle]:
    if count:
        yield Obstacle(sql.counted(count, model), why)


def obstacles(one: DataImport) -> list[Obstacle]:
    """All of them; none: the import can be undone."""
    return [*_references(one), *_touched(one.made), *_of_other_imports(one), *_changed_since(one)]


class _Reference(NamedTuple):
    select: str
    values: list[str]


def _references(one: DataImport) -> Iterator[Obstacle]:
    """Rows that refer to what was made, and were not made with it nor go with it."""
    changed = sql.kinds(one.pk)
    found: dict[type[Model], list[_Reference]] = defaultdict(list)
    for label, pairs in one.made.items():
        for field in _referring(apps.get_model(label)):
            if sql.IMPLIED.get((field.model, field.name)) != sql.ALL:
                found[field.model].append(_reference(one, field, as_multirange(pairs), changed))
    for model, references in found.items():
        label = label_of(model)
        query = HOW_MANY.format(rows=" UNION ".join(part.select for part in references))
        values = [value for part in references for value in part.values]
        if label in one.made:
            query += NOT_AMONG
            values.append(as_multirange(one.made[label]))
        yield from _rows(sql.count(query, values), model, WORDS.get(label, "resting on its rows"))


def _reference(one: DataImport, field: ForeignKey[Any, Any], keys: str, changed: list[str]) -> _Reference:
    model, values = field.model, [keys]
    key, within = sql.quoted(str(model._meta.pk.column)), sql.column(field.column)
    select = sql.filled(REFERRING, model, key=key, within=within)
    if condition := sql.IMPLIED.get((model, field.name)):
        select += f" AND NOT ({condition})"
    if label_of(model) in changed:
        select += sql.filled(GIVEN_BACK, model)
        values += [str(one.pk), label_of(model), field.column]
    return _Reference(select, values)


def _referring(model: type[Model]) -> Iterator[ForeignKey[Any, Any]]:
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel):
            yield relation.field


def _touched(made: sql.Keys) -> Iterator[Obstacle]:
    for model, (condition, why) in TOUCHED.items():
        if pairs := made.get(label_of(model)):
            rows = sql.filled(REFERRING, model, key="id", within=f"{sql.column('id')} AND {condition}")
            count = sql.count(HOW_MANY.format(rows=rows), [as_multirange(pairs)])
            yield from _rows(count, model, why)


def _of_other_imports(one: DataImport) -> Iterator[Obstacle]:
    """Only later imports can have changed what this one made."""
    counts: Counter[str] = Counter()
    query = sql.filled(CHANGED_BY_OTHERS, DataImport)
    for label, pairs in one.made.items():
        with connection.cursor() as cursor:
            cursor.execute(query, [one.corpus_id, one.pk, label, as_multirange(pairs)])
            for name, count in cursor.fetchall():
                counts[name] += count
    for name, count in counts.items():
        yield _some(count, f"of it that the later import of {name} has changed; undo that one first")
    if count := one.counts.get("overwritten", 0):
        yield _some(count, "of it that a later import by command has changed")


def _some(count: int, why: str) -> Obstacle:
    return Obstacle(f"{count:,} row{'s' * (count != 1)}", why)


def _changed_since(one: DataImport) -> Iterator[Obstacle]:
    """Rows that it changed, and that are not any more as it left them."""
    for label in sql.kinds(one.pk):
        model = apps.get_model(label)
        if count := sql.count(sql.filled(DIFFERS, model), [one.pk, label]):
            yield from _rows(count, model, f"that it changed, changed again since{_by_whom(one, label)}")


def _by_whom(one: DataImport, label: str) -> str:
    """What is known of that, and can be undone first."""
    with connection.cursor() as cursor:
        query = sql.filled(CHANGED_AGAIN, DataImport)
        cursor.execute(query, [one.pk, label, one.corpus_id, one.finished_at])
        found = cursor.fetchone()
    return f", at last by the import of {found[0]}; undo that one first" if found else ""
