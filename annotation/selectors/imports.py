"""The files that came into a corpus, the latest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import DataImport
from simulation.models import Corpus

SHOWN = 20


@dataclass(frozen=True)
class ImportsPage:
    rows: Sequence[DataImport]
    after: str
    """Public id to continue behind; empty on the last page."""


def page(corpus: Corpus, *, after: str) -> ImportsPage:
    """Those before the import with the public id `after`. An unknown `after` is the first page."""
    found = DataImport.objects.filter(corpus=corpus).order_by("-pk")
    last = found.filter(public_id=after).first() if after else None
    if last:
        found = found.filter(pk__lt=last.pk)
    rows = list(found.defer("made", "problems", "counts")[: SHOWN + 1])
    return ImportsPage(rows[:SHOWN], rows[SHOWN - 1].public_id if len(rows) > SHOWN else "")
