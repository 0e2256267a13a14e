"""What was done by people with power over others' work, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from simulation.models import AuditEntry, Corpus, User
from simulation.selectors.people import managed_corpora, manages_installation

PAGE = 50
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible_to(person: User) -> QuerySet[AuditEntry]:
    """Everything to an admin of the installation; to one of a corpus what was done in it."""
    if manages_installation(person):
        return AuditEntry.objects.all()
    return AuditEntry.objects.filter(corpus_id_text__in=managed_corpora(person).values("public_id"))


@dataclass(frozen=True)
class AuditRow:
    at: datetime
    actor: str
    """Empty: the operator, by a command."""
    action: str
    object_type: str
    object_id: str
    object_name: str
    """The person's name where the object is a person."""
    corpus_name: str
    details: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class AuditPage:
    rows: Sequence[AuditRow]
    before: str
    """Mark to continue behind; empty on the last page."""


def page(*, person: User, before: str = "") -> AuditPage:
    """One page in three queries.

    A mark is a time and the number of entries of that very time that were shown, so that entries of one
    moment are neither lost nor doubled at a page's edge, and no database id is in it.
    """
    entries = visible_to(person).select_related("actor").order_by("-at", "-id")
    moment, shown = _read(before)
    if moment is not None:
        entries = entries.filter(at__lte=moment)
    found = list(entries[shown : shown + PAGE + 1])
    kept = found[:PAGE]
    names = dict(
        User.objects.filter(
            public_id__in={entry.object_id for entry in kept if entry.object_type == "user"}
        ).values_list("public_id", "username")
    )
    corpora = dict(
        Corpus.objects.filter(public_id__in={entry.corpus_id_text for entry in kept}).values_list(
            "public_id", "name"
        )
    )
    return AuditPage(
        rows=[_row(entry, names, corpora) for entry in kept],
        before=_mark(kept, moment, shown) if len(found) > PAGE else "",
    )


def _row(entry: AuditEntry, names: dict[str, str], corpora: dict[str, str]) -> AuditRow:
    return AuditRow(
        at=entry.at,
        actor=entry.actor.username if entry.actor else "",
        action=entry.action.replace(".", " ").capitalize(),
        object_type=entry.object_type,
        object_id=entry.object_id,
        object_name=names.get(entry.object_id, ""),
        corpus_name=corpora.get(entry.corpus_id_text, entry.corpus_id_text),
        details=[(key, _words(value)) for key, value in entry.details.items()],
    )


def _words(value: Any) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


def _mark(kept: Sequence[AuditEntry], moment: datetime | None, shown: int) -> str:
    last = kept[-1].at
    same = sum(1 for entry in kept if entry.at == last) + (shown if last == moment else 0)
    return f"{(last - _EPOCH) // timedelta(microseconds=1)}-{same}"


def _read(mark: str) -> tuple[datetime | None, int]:
    """A mark that nobody of ours wrote means the first page."""
    microseconds, _, shown = mark.partition("-")
    try:
        return _EPOCH + timedelta(microseconds=int(microseconds)), min(max(0, int(shown)), 10_000)
    except (ValueError, OverflowError):
        return None, 0
