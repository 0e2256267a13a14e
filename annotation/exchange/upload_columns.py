"""Uploads whose columns somebody has to explain before a worker may take them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.exchange import uploads
from annotation.exchange.describing import Described, describe
from annotation.exchange.reading import Unreadable
from annotation.models import ColumnMapping, DataImport
from annotation.services import column_mappings
from simulation.models import User


@dataclass(frozen=True)
class Question:
    """What a person sees who says what the columns stand for."""

    described: Described
    mapping: Mapping[str, Any]
    """What is filled in: what was said of this very file, else what is remembered, else what is proposed."""
    remembered: ColumnMapping | None


def question(one: DataImport) -> Question:
    """Raises uploads.NotPossible where the file is gone, or has no columns to explain."""
    if not uploads.has_file(one):
        raise uploads.NotPossible(uploads.GONE)
    try:
        described = describe(Path(one.path))
    except Unreadable as fault:
        raise uploads.NotPossible(fault.message) from None
    if not described.columns:
        raise uploads.NotPossible("This file has a layout of ours: its fields say themselves what they are.")
    remembered = column_mappings.find(corpus=one.corpus, columns=described.columns)
    known = remembered.mapping if remembered else described.proposal
    return Question(described, one.options.get("mapping", known), remembered)


@transaction.atomic
def explain(
    *,
    by: User,
    one: DataImport,
    columns: tuple[str, ...],
    mapping: Mapping[str, Any],
    dry_run: bool,
    name: str = "",
) -> DataImport:
    """The import by this mapping: `one` itself if it has been waiting for it, else another of the same file.

    With a `name` the mapping is remembered. Raises NotPossible.
    """
    if name:
        column_mappings.remember(by=by, corpus=one.corpus, name=name, columns=columns, mapping=mapping)
    waiting = DataImport.objects.select_for_update().filter(pk=one.pk, state=DataImport.QUEUED).first()
    if waiting is not None and uploads.ASKS in waiting.options:
        waiting.options, waiting.dry_run = {"mapping": dict(mapping)}, dry_run
        waiting.save(update_fields=["options", "dry_run"])
        return waiting
    if one.state in DataImport.WAITING:
        raise uploads.NotPossible("This file is being imported; wait for the end, or cancel it first.")
    return uploads.once_more(by=by, one=one, dry_run=dry_run, options={"mapping": dict(mapping)})
