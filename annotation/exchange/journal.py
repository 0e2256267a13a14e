"""What an import made and changed, written down on the way, so that it can be taken back as a whole.

Keys of new rows come from the sequence and are kept as ranges. A row that was there before is copied by the
database itself before it is changed or removed (no number loses its digits on the way), and once the import
is through, only the fields that differ stay, with what the import made of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from django.db import connection
from django.db.models import Model

from annotation.exchange.keys import Ranges, as_multirange
from annotation.models import DataImport, ImportChange

KEPT = """
INSERT INTO {changes} (data_import_id, model, row, before, after)
SELECT %s, %s, t.id, to_jsonb(t), '{{}}' FROM {table} t
WHERE t.id = ANY(%s) AND NOT t.id <@ %s::int8multirange
ON CONFLICT (data_import_id, model, row) DO NOTHING
"""
# As text: 30 and 30.0 are equal in JSON of the database, and are not the same to us.
COMPARED = """
UPDATE {changes} c SET before = d.before, after = d.after
FROM (
    SELECT k.id, coalesce(jsonb_object_agg(b.key, b.value) FILTER (WHERE b.differs), '{{}}') AS before,
           coalesce(jsonb_object_agg(b.key, n.now -> b.key) FILTER (WHERE b.differs), '{{}}') AS after
    FROM {changes} k
        JOIN {table} t ON t.id = k.row
        CROSS JOIN LATERAL (SELECT to_jsonb(t) AS now) n
        CROSS JOIN LATERAL (
            SELECT e.key, e.value, e.value::text IS DISTINCT FROM (n.now -> e.key)::text AS differs
            FROM jsonb_each(k.before) e
        ) b
    WHERE k.data_import_id = %s AND k.model = %s
    GROUP BY k.id
) d WHERE c.id = d.id
"""
OVERWRITTEN = """
UPDATE {imports} d
SET counts = jsonb_set(
    d.counts, '{{overwritten}}', to_jsonb(coalesce((d.counts ->> 'overwritten')::int, 0) + n.rows)
)
FROM (
    SELECT i.id, count(DISTINCT k.key)::int AS rows
    FROM {imports} i
        CROSS JOIN LATERAL jsonb_array_elements(i.made -> %s) AS m(pair)
        JOIN unnest(%s::bigint[]) AS k(key) ON k.key BETWEEN (m.pair ->> 0)::bigint AND (m.pair ->> 1)::bigint
    WHERE i.corpus_id = %s AND i.state = 'done'
    GROUP BY i.id
) n WHERE n.id = d.id
"""


def label_of(model: type[Model]) -> str:
    """As "simulation.comment"."""
    return model._meta.label_lower


class Journal:
    """The record of one import, within its transaction: rolled back with it."""

    def __init__(self, data_import: DataImport) -> None:
        self._import = data_import.pk
        self._made: dict[str, Ranges] = defaultdict(Ranges)
        self._kept: dict[str, type[Model]] = {}

    def made(self, model: type[Model], keys: Iterable[int]) -> None:
        """New rows."""
        self._made[label_of(model)].add(keys)

    def keep(self, model: type[Model], keys: Collection[int]) -> None:
        """Rows that are about to be changed or removed, as they are; what was kept before stays.

        Those that this import has made are left out: taken back, they are gone.
        """
        if keys:
            label = label_of(model)
            self._kept[label] = model
            mine = as_multirange(self._made[label].pairs) if label in self._made else "{}"
            self._run(KEPT, model, self._import, label, list(keys), mine)

    def close(self) -> dict[str, list[list[int]]]:
        """Writes down what became of the rows that were kept; returns the keys of those that are new."""
        for label, model in self._kept.items():
            self._run(COMPARED, model, self._import, label)
        ImportChange.objects.filter(data_import=self._import, before={}).delete()
        return {label: ranges.settled() for label, ranges in self._made.items()}

    def _run(self, statement: str, model: type[Model], *values: Any) -> None:
        quote = connection.ops.quote_name
        names = {
            "changes": quote(ImportChange._meta.db_table),
            "table": quote(model._meta.db_table),
        }
        with connection.cursor() as cursor:
            cursor.execute(statement.format(**names), values)


def overwritten(corpus: int, model: type[Model], keys: Collection[int]) -> None:
    """Tells the imports which made these rows that somebody without a journal changes or removes them."""
    with connection.cursor() as cursor:
        imports = connection.ops.quote_name(DataImport._meta.db_table)
        cursor.execute(OVERWRITTEN.format(imports=imports), [label_of(model), list(keys), corpus])
