"""Files that people upload: stored first, then imported by a worker, with the outcome on a row.

A worker may be killed at any moment. The import is one transaction, which holds a lock of the row's own that
is no row lock: readers and whoever cancels get at the row all the while, and a second delivery of the message
finds the lock taken. What was begun is rolled back with the connection, the lock goes with it, and the sweep
finds the lock free and the row unfinished.
"""

import logging
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.exchange import dataset
from annotation.exchange.describing import needs_columns
from annotation.exchange.journal import Journal
from annotation.exchange.problem_list import ProblemList
from annotation.exchange.progress import Reporter
from annotation.exchange.watching import Stopped
from annotation.models import DataImport
from simulation.models import Corpus, User, new_public_id
from simulation.services import audit

ATTEMPTS = 3
UNHEARD = timedelta(seconds=60)
FILES_KEPT = timedelta(days=30)
SHOWN = 100
ASKS = "asks"
"""Key in the options of an upload that waits for a person's word on its columns; no worker takes it up."""
LONGEST_NAME = 200
"""Bytes of a file's name. File systems take 255, and none is shortened: a tree's name is its thread's id."""
LOCK_OF_UPLOADS = 0x5351  # the first half of the advisory lock's key; the second is the row
STOPPED = (
    "The import stopped on an error of ours; nothing was changed. The server's log has the details:"
    " tell whoever runs this installation. The same file would stop again."
)
REMOVED = (
    "Something in this corpus that the file refers to was removed while it was imported; nothing was changed."
    " Import it again."
)
GONE = "The uploaded file is gone from the server; upload it again."

log = logging.getLogger(__name__)


class NameTooLong(Exception):
    """An upload whose name cannot be kept as it is; the message says what to do."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"The file's name has {size} bytes; at most {LONGEST_NAME} are possible. Rename it and try again."
        )


class NotPossible(Exception):
    """An act that comes too late, or for an import of another kind; the message says why."""


def receive(
    *,
    by: User,
    corpus: Corpus,
    file: UploadedFile,
    dry_run: bool = False,
    options: Mapping[str, Any] | None = None,
) -> DataImport:
    """Writes the upload below MEDIA_ROOT, chunk by chunk, and makes its row (state queued).

    Raises NameTooLong before anything is stored.
    """
    name = Path(file.name or "upload.json").name
    if (size := len(name.encode("utf-8", "replace"))) > LONGEST_NAME:
        raise NameTooLong(size)
    folder = _uploads() / new_public_id()
    folder.mkdir(parents=True, mode=0o700)
    with (folder / name).open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
        size = stored.tell()
    said = dict(options or {})
    if "mapping" not in said and needs_columns(folder / name):
        said[ASKS] = "columns"
    one = DataImport(
        corpus=corpus,
        by=by,
        file_name=name,
        path=str(folder / name),
        size=size,
        dry_run=dry_run,
        options=said,
    )
    return _queued(one)


def again(*, by: User, one: DataImport) -> DataImport:
    """The file of a look, imported in earnest: a row of its own, no second upload. Raises NotPossible."""
    if not one.dry_run or one.state != DataImport.DONE:
        raise NotPossible("Only a file that was looked at and found valid can be imported from here.")
    if not has_file(one):
        raise NotPossible(GONE)
    return once_more(by=by, one=one, dry_run=False, options=one.options)


def once_more(*, by: User, one: DataImport, dry_run: bool, options: Mapping[str, Any]) -> DataImport:
    """Another import of the file of `one`."""
    return _queued(
        DataImport(
            corpus=one.corpus,
            by=by,
            file_name=one.file_name,
            path=one.path,
            size=one.size,
            dry_run=dry_run,
            options=dict(options),
        )
    )


def _queued(one: DataImport) -> DataImport:
    with transaction.atomic():
        one.save()
        details = {"dry_run": one.dry_run}
        audit.record(by=one.by, action="import.queued", target=one, corpus=one.corpus, details=details)
    return one


def claim(import_id: int) -> bool:
    """Whether the row is ours until the end of the transaction; if not, somebody else is at work on it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK_OF_UPLOADS, import_id])
        return bool(cursor.fetchone()[0])


def run(*, import_id: int) -> None:
    """Imports the file of a row that nobody else is importing; does nothing for a finished one."""
    taken = DataImport.objects.filter(pk=import_id, state__in=DataImport.WAITING)
    taken = taken.exclude(options__has_key=ASKS)
    with transaction.atomic():
        begun = {"state": DataImport.RUNNING, "started_at": timezone.now(), "attempts": F("attempts") + 1}
        if not claim(import_id) or not taken.update(**begun):
            return
    with transaction.atomic():
        if not claim(import_id):
            return
        one = taken.select_related("corpus").first()
        if one is not None:
            _finish(one)


def _finish(one: DataImport) -> None:
    if one.cancel_asked_at:
        one.state = DataImport.CANCELLED
    elif one.attempts > ATTEMPTS:
        _fail(one, f"The worker was lost {ATTEMPTS} times while importing this file.")
    elif not has_file(one):
        _fail(one, GONE)
    else:
        _import(one)
    one.finished_at = timezone.now()
    one.save(update_fields=["state", "reason", "counts", "problems", "made", "finished_at"])


def _import(one: DataImport) -> None:
    journal, watch = Journal(one), Reporter(one)
    try:
        with ProblemList(problem_file(one)) as problems, transaction.atomic():
            report = dataset.import_paths(
                paths=[Path(one.path)],
                corpus_name=one.corpus.name,
                dry_run=one.dry_run,
                options=one.options,
                watch=watch,
                journal=journal,
                list_problem=problems.add,
            )
            if report.ok and not one.dry_run:
                one.made = journal.close()
                connection.check_constraints()  # else at the commit, which takes as long and says nothing
            watch.last_look()
    except IntegrityError:
        _fail(one, REMOVED)
        return
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except Stopped:
        one.state, one.made = DataImport.CANCELLED, {}
        return
    except dataset.BadPath as error:
        _fail(one, str(error))
        return
    except Exception:  # a fault of ours has no name yet; the row must end, whatever it is
        log.exception("import %s stopped", one.public_id)
        _fail(one, STOPPED)
        return
    one.state = DataImport.INVALID if report.problem_count else DataImport.DONE
    rows = [{"kind": kind, **asdict(tally)} for kind, tally in report.tallies.items()]
    one.counts = {"rows": rows, "problems": report.problem_count, "warnings": report.warnings}
    one.problems = [asdict(problem) for problem in report.problems[:SHOWN]]


def _fail(one: DataImport, reason: str) -> None:
    one.state, one.reason, one.made = DataImport.FAILED, reason, {}


def cancel(*, by: User, one: DataImport) -> None:
    """Ends an import at once if nobody is at work on it; else its worker takes everything back and ends it.

    Raises NotPossible for one that is over.
    """
    now = timezone.now()
    waiting = DataImport.objects.filter(pk=one.pk, state__in=DataImport.WAITING)
    with transaction.atomic():
        if claim(one.pk):
            done = waiting.update(state=DataImport.CANCELLED, cancel_asked_at=now, finished_at=now)
        else:
            done = waiting.filter(cancel_asked_at=None).update(cancel_asked_at=now)
        if done:
            audit.record(by=by, action="import.cancelled", target=one, corpus=one.corpus)
        elif not waiting.exists():
            raise NotPossible("This import is over already; there is nothing left to cancel.")
    one.refresh_from_db()


def stale() -> list[int]:
    """Rows that nobody is working on although they are not finished: their message or worker was lost."""
    now = timezone.now()
    waiting = Q(state=DataImport.QUEUED, created_at__lt=now - UNHEARD) | Q(
        state=DataImport.RUNNING, started_at__lt=now - UNHEARD
    )
    asked = DataImport.objects.filter(waiting).exclude(options__has_key=ASKS)
    return free(asked.values_list("pk", flat=True))


def free(import_ids: Any) -> list[int]:
    """Those of the rows that nobody is at work on."""
    with transaction.atomic():
        return [key for key in import_ids if claim(key)]


def has_file(one: DataImport) -> bool:
    """Whether the upload is still there."""
    return bool(one.path) and Path(one.path).is_file()


def problem_file(one: DataImport) -> Path:
    """Where the list of all its problems lies, if it has any: beside the upload."""
    return Path(one.path).with_name(f"{one.public_id}.problems.csv")


def has_problem_file(one: DataImport) -> bool:
    return bool(one.path) and problem_file(one).exists()


def _uploads() -> Path:
    return Path(settings.MEDIA_ROOT) / "imports"


def forget_files(*, now: datetime) -> int:
    """Removes the files of imports that ended 30 days ago, and uploads that never became one; how many.

    Tables of which nobody has said for as long what their columns are end here. Rows, counts and what an undo
    needs stay, and so does a file that another import still needs.
    """
    before = now - FILES_KEPT
    unexplained = DataImport.objects.filter(state=DataImport.QUEUED, options__has_key=ASKS)
    unexplained.filter(created_at__lt=before).update(state=DataImport.CANCELLED, finished_at=F("created_at"))
    ended = DataImport.objects.filter(finished_at__lt=before).exclude(path="")
    needed = DataImport.objects.exclude(finished_at__lt=before).values_list("path", flat=True)
    kept = {Path(path).parent.name for path in needed}
    forgotten = 0
    for folder in _uploads().glob("*/"):
        if folder.name not in kept and folder.stat().st_mtime < before.timestamp():
            shutil.rmtree(folder)
            forgotten += 1
    ended.exclude(path__in=needed).update(path="")
    return forgotten
