"""What was done by people with power over others' work, newest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from simulation.models import AuditEntry, Corpus, User
from simulation.selectors import moments
from simulation.selectors.people import managed_corpora, manages_installation

PAGE = 50
AT_ONCE = 500


@dataclass(frozen=True)
class Narrowed:
    """Which entries are wanted; empty: all."""

    who: str = ""
    """Public id of a person, or `COMMAND`."""
    action: str = ""
    corpus: str = ""
    """Public id."""
    since: date | None = None
    until: date | None = None
    """Days in the installation's time zone, both included."""


COMMAND = "command"
"""Stands for the operator of the machine, who has no account."""


@dataclass(frozen=True)
class Choices:
    """What the entries that a person may see can be narrowed to."""

    actors: Sequence[tuple[str, str]]
    actions: Sequence[str]
    corpora: Sequence[tuple[str, str]]


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


def entries(person: User, wanted: Narrowed) -> QuerySet[AuditEntry]:
    """Those that `person` may see and that are wanted."""
    found = visible_to(person).select_related("actor")
    if wanted.who:
        mine = Q(actor=None) if wanted.who == COMMAND else Q(actor__public_id=wanted.who)
        found = found.filter(mine)
    if wanted.action:
        found = found.filter(action=wanted.action)
    if wanted.corpus:
        found = found.filter(corpus_id_text=wanted.corpus)
    if wanted.since:
        found = found.filter(at__gte=_at(wanted.since, time.min))
    if wanted.until:
        found = found.filter(at__lte=_at(wanted.until, time.max))
    return found


def _at(day: date, moment: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, moment))


def choices(person: User) -> Choices:
    """Three queries."""
    mine = visible_to(person).order_by()
    actors = User.objects.filter(pk__in=mine.values("actor")).order_by("username")
    corpora = Corpus.objects.filter(public_id__in=mine.values("corpus_id_text")).order_by("name")
    return Choices(
        list(actors.values_list("public_id", "username")),
        sorted(mine.values_list("action", flat=True).distinct()),
        list(corpora.values_list("public_id", "name")),
    )


def page(*, person: User, before: str = "", wanted: Narrowed | None = None) -> AuditPage:
    """One page in three queries."""
    found = moments.page(entries(person, wanted or Narrowed()), before=before, size=PAGE)
    return AuditPage(rows=_rows(found.rows), before=found.before)


def stream(person: User, wanted: Narrowed) -> Iterator[AuditRow]:
    """All rows that are wanted, newest first, some hundred at a time."""
    before = ""
    while True:
        found = moments.page(entries(person, wanted), before=before, size=AT_ONCE)
        yield from _rows(found.rows)
        before = found.before
        if not before:
            return


def _rows(kept: Sequence[AuditEntry]) -> list[AuditRow]:
    """With the names of what they speak of; two queries."""
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
    return [_row(entry, names, corpora) for entry in kept]


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
    """As a person would write it: no brackets and quotes of a programming language."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_words(part) for part in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
