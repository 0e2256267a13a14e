"""A whole import taken back: what it made goes, what it changed is again what it was; or nothing happens.

A person asks for it, a worker does it. The row says that it was asked for (`undone_by` without `undone_at`),
so that the sweep finds it again where the message or the worker was lost.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from django.apps import apps
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import Count, F, Model
from django.utils import timezone
from psycopg.errors import DeadlockDetected, LockNotAvailable

from annotation.exchange.undo_obstacles import Obstacle, obstacles
from annotation.exchange.undo_rows import give_back, remove
from annotation.exchange.undo_sql import counted
from annotation.exchange.uploads import ATTEMPTS, NotPossible, claim, free
from annotation.exchange.upsert import lock
from annotation.models import DataImport
from simulation.domain.typed import require_typed
from simulation.models import User
from simulation.services import audit

BUILT_ON = "Something was built on this import just now, or stands where a row would go back to."
IN_USE = "Others are writing what this would remove or lock just now; nothing was changed. Try again."
STOPPED = "The undo stopped on an error of ours; nothing was changed. The server's log has the details."

log = logging.getLogger(__name__)


class BuiltOn(NotPossible):
    """The import cannot be undone, because of what stands on it."""

    def __init__(self, found: list[Obstacle]) -> None:
        listed = "; ".join(str(one) for one in found)
        super().__init__(f"It cannot be undone, because others built on it: {listed}. Nothing was changed.")
        self.obstacles = found


class Busy(NotPossible):
    """A worker is at it."""


@dataclass(frozen=True)
class Undone:
    """Rows by kind."""

    removed: Mapping[type[Model], int]
    given_back: Mapping[type[Model], int]

    @property
    def removed_words(self) -> list[str]:
        """As "2 comments"."""
        return [counted(count, model) for model, count in self.removed.items()]

    @property
    def given_back_words(self) -> list[str]:
        return [counted(count, model) for model, count in self.given_back.items()]


def refusal(one: DataImport) -> str:
    """Why an import of this kind and state cannot be undone, whatever stands on it; empty: it can."""
    if one.state == DataImport.UNDONE:
        return "This import is undone already."
    if one.dry_run:
        return "This only looked at the file: there is nothing to undo."
    if one.state != DataImport.DONE:
        return "Only an import that is done can be undone; this one changed nothing."
    if one.made or one.changes.exists():
        return ""
    rows = one.counts.get("rows", ())
    if any(row["new"] or row["changed"] for row in rows):
        return "This import was made before imports kept what an undo needs."
    return "This import changed nothing: there is nothing to undo."


def extent(one: DataImport) -> Undone:
    """What would go and what would be given back, without what hangs on it (labels of an annotation)."""
    removed = {
        apps.get_model(label): sum(last - first + 1 for first, last in pairs)
        for label, pairs in one.made.items()
    }
    changes = one.changes.order_by("model").values_list("model").annotate(count=Count("pk"))
    return Undone(removed, {apps.get_model(label): count for label, count in changes})


def ask(*, by: User, one: DataImport, typed: str) -> None:
    """Has an import undone by a worker; `typed` is the file's name. Raises NotPossible, NotConfirmed."""
    if said := refusal(one):
        raise NotPossible(said)
    if found := obstacles(one):
        raise BuiltOn(found)
    require_typed(typed, one.file_name)
    with transaction.atomic():
        mine = DataImport.objects.filter(pk=one.pk, state=DataImport.DONE, undone_by=None)
        if not mine.update(undone_by=by, attempts=0, reason=""):
            raise NotPossible("Somebody has asked for this already.")
    one.refresh_from_db()


def undo(*, by: User | None, one: DataImport) -> Undone:
    """Undoes an import, in one transaction; `by` is None for a command of the machine's operator.

    Raises NotPossible, as BuiltOn where rows stand in the way. Nothing is skipped: all of it, or none.
    """
    try:
        with transaction.atomic():
            return _undo(by, one)
    except IntegrityError as error:  # foreign keys see what came while we worked
        log.info("undo refused by the database", extra={"import": one.public_id, "error": str(error)})
        raise NotPossible(f"{BUILT_ON} Nothing was changed; look again.") from None
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
            raise NotPossible(IN_USE) from None
        raise


def _undo(by: User | None, one: DataImport) -> Undone:
    if not claim(one.pk):
        raise Busy("A worker is at work on this import.")
    lock(one.corpus)
    one.refresh_from_db()
    if said := refusal(one):
        raise NotPossible(said)
    if found := obstacles(one):
        raise BuiltOn(found)
    done = Undone(given_back=give_back(one.pk), removed=remove(one.made))
    one.changes.all().delete()
    one.state, one.made, one.reason = DataImport.UNDONE, {}, ""
    one.undone_at, one.undone_by = timezone.now(), by
    one.save(update_fields=["state", "made", "reason", "undone_at", "undone_by"])
    details = {"removed": sum(done.removed.values()), "given_back": sum(done.given_back.values())}
    audit.record(by=by, action="import.undone", target=one, corpus=one.corpus, details=details)
    return done


def run(*, import_id: int) -> None:
    """Undoes what somebody asked to be undone; does nothing for any other import."""
    asked = DataImport.objects.filter(
        pk=import_id, state=DataImport.DONE, undone_by__isnull=False, undone_at=None
    )
    with transaction.atomic():
        if not claim(import_id) or not asked.update(attempts=F("attempts") + 1):
            return
    one = asked.select_related("corpus", "undone_by").first()
    if one is None:
        return
    if one.attempts > ATTEMPTS:
        _give_up(one, f"The worker was lost {ATTEMPTS} times while undoing this import; nothing was changed.")
        return
    try:
        undo(by=one.undone_by, one=one)
    except Busy:
        return
    except NotPossible as refused:
        _give_up(one, str(refused))
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except Exception:  # as in uploads: whatever it is, the row must say that it is over
        log.exception("undo of import %s stopped", one.public_id)
        _give_up(one, STOPPED)


def _give_up(one: DataImport, reason: str) -> None:
    mine = DataImport.objects.filter(pk=one.pk, state=DataImport.DONE)
    mine.update(undone_by=None, reason=reason)


def stale() -> list[int]:
    """Imports that are to be undone and that nobody is at work on."""
    asked = DataImport.objects.filter(state=DataImport.DONE, undone_by__isnull=False, undone_at=None)
    return free(asked.values_list("pk", flat=True))
