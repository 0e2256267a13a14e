"""What the statements of an undo share: names of tables in them, ranges of keys, what goes with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

from annotation.models import AnnotationEvent, AttributeLabel, ImportChange
from simulation.models import Artefact

Keys = Mapping[str, list[list[int]]]
"""As DataImport.made."""

ALL = "true"
IMPLIED: Mapping[tuple[type[Model], str], str] = {
    (AttributeLabel, "annotation"): ALL,
    (AnnotationEvent, "annotation"): ALL,
    (Artefact, "comment"): "r.state = 'open'",
}
"""What goes with the row that it refers to: labels and events of an imported annotation, which nobody but an
import writes, and places in a comment that a rule found and nobody has decided on."""

RANGES = "unnest(%s::int8multirange) AS m(keys)"
WITHIN = "r.{column} >= lower(m.keys) AND r.{column} < upper(m.keys)"


def filled(statement: str, model: type[Model], **parts: str) -> str:
    """A statement with its `{table}`, that of the `{changes}` that imports made, and `{ranges}` put in."""
    names = {"table": table(model), "changes": table(ImportChange), "ranges": RANGES}
    return statement.format(**names, **parts)


def quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def table(model: type[Model]) -> str:
    return quoted(model._meta.db_table)


def column(name: str) -> str:
    """The condition that a column's value is within the ranges."""
    return WITHIN.format(column=quoted(name))


def execute(statement: str, values: Sequence[Any]) -> int:
    """How many rows it was about."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def count(query: str, values: Sequence[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return int(cursor.fetchone()[0])


def kinds(data_import: int) -> list[str]:
    """Of which models the import changed rows."""
    changes = ImportChange.objects.filter(data_import=data_import).order_by("model")
    return list(changes.values_list("model", flat=True).distinct())


def counted(count: int, model: type[Model]) -> str:
    """As "1 comment"."""
    name = model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural
    return f"{count:,} {name}"
