"""What was done by people with power over others' work, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from simulation.models import AuditEntry, Corpus, User
from simulation.selectors import moments
from simulation.selectors.people import managed_corpora, manages_installation

PAGE = 50


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
    """One page in three queries."""
    entries = visible_to(person).select_related("actor")
    found = moments.page(entries, before=before, size=PAGE)
    kept = found.rows
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
        before=found.before,
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
