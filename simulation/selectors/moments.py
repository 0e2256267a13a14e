"""Pages of rows by the time at which they came about, newest first, without a database id in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.db.models import QuerySet

from simulation.models import AuditEntry, Happening

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


Row = TypeVar("Row", AuditEntry, Happening)
"""Rows with a moment `at`."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: Sequence[Row]
    before: str
    """Mark to continue behind; empty on the last page."""


def page(rows: QuerySet[Row], *, before: str, size: int) -> Page[Row]:
    """`size` rows behind the mark `before` (empty: the latest), in one query.

    A mark is a time and the number of rows of that very time that were shown, so that rows of one moment are
    neither lost nor doubled at a page's edge. A mark that nobody of ours wrote means the first page.
    """
    moment, shown = _read(before)
    ordered = rows.order_by("-at", "-id")
    if moment is not None:
        ordered = ordered.filter(at__lte=moment)
    found = list(ordered[shown : shown + size + 1])
    kept = found[:size]
    return Page(kept, _mark(kept, moment, shown) if len(found) > size else "")


def _mark(kept: Sequence[Row], moment: datetime | None, shown: int) -> str:
    last = kept[-1].at
    same = sum(1 for row in kept if row.at == last) + (shown if last == moment else 0)
    return f"{(last - _EPOCH) // timedelta(microseconds=1)}-{same}"


def _read(mark: str) -> tuple[datetime | None, int]:
    microseconds, _, shown = mark.partition("-")
    try:
        return _EPOCH + timedelta(microseconds=int(microseconds)), min(max(0, int(shown)), 10_000)
    except (ValueError, OverflowError):
        return None, 0
