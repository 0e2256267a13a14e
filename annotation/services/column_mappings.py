"""What the columns of foreign tables stand for, remembered for the next file of the same kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import ColumnMapping
from simulation.models import Corpus, User
from simulation.services import audit

LONGEST_NAME = 80


def key_of(columns: Sequence[str]) -> str:
    """The same for tables with the same columns, in whatever order."""
    return hashlib.sha256(json.dumps(sorted(columns)).encode()).hexdigest()


@transaction.atomic
def remember(
    *, by: User, corpus: Corpus, name: str, columns: Sequence[str], mapping: Mapping[str, Any]
) -> ColumnMapping:
    """Keeps a mapping under a name; the one that had this name in the corpus is replaced."""
    one, new = ColumnMapping.objects.update_or_create(
        corpus=corpus,
        name=name,
        defaults={"columns": list(columns), "key": key_of(columns), "mapping": dict(mapping), "by": by},
    )
    audit.record(by=by, action="mapping.added" if new else "mapping.changed", target=one, corpus=corpus)
    return one


def find(*, corpus: Corpus, columns: Sequence[str]) -> ColumnMapping | None:
    """The mapping last used for a table with these columns."""
    return ColumnMapping.objects.filter(corpus=corpus, key=key_of(columns)).first()


def named(*, corpus: Corpus, name: str) -> ColumnMapping | None:
    return ColumnMapping.objects.filter(corpus=corpus, name=name).first()


def used(*, one: ColumnMapping) -> None:
    """The one that was used last is proposed first."""
    ColumnMapping.objects.filter(pk=one.pk).update(used_at=timezone.now())
