"""Files that people upload: stored first, then imported by a worker, with the outcome on a row.

A worker may be killed at any moment. The import is one transaction, during which the row is locked: what
was begun is rolled back with the connection, the lock goes, and the sweep finds the row free and unfinished.
"""

import logging
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.exchange import dataset
from annotation.models import DataImport
from simulation.models import Corpus, User, new_public_id
from simulation.services import audit

ATTEMPTS = 3
UNHEARD = timedelta(seconds=60)
SHOWN = 100
LONGEST_NAME = 200
"""Bytes of a file's name. File systems take 255, and none is shortened: a tree's name is its thread's id."""
STOPPED = (
    "The import stopped on an error of ours; nothing was changed. The server's log has the details:"
    " tell whoever runs this installation. The same file would stop again."
)

log = logging.getLogger(__name__)


class NameTooLong(Exception):
    """An upload whose name cannot be kept as it is; the message says what to do."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"The file's name has {size} bytes; at most {LONGEST_NAME} are possible. Rename it and try again."
        )


def receive(*, by: User, corpus: Corpus, file: UploadedFile, dry_run: bool = False) -> DataImport:
    """Writes the upload below MEDIA_ROOT, chunk by chunk, and makes its row (state queued).

    Raises NameTooLong before anything is stored.
    """
    name = Path(file.name or "upload.json").name
    if (size := len(name.encode("utf-8", "replace"))) > LONGEST_NAME:
        raise NameTooLong(size)
    folder = Path(settings.MEDIA_ROOT) / "imports" / new_public_id()
    folder.mkdir(parents=True, mode=0o700)
    with (folder / name).open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    with transaction.atomic():
        one = DataImport.objects.create(
            corpus=corpus, by=by, file_name=name, path=str(folder / name), dry_run=dry_run
        )
        audit.record(by=by, action="import.queued", target=one, corpus=corpus, details={"dry_run": dry_run})
    return one


def run(*, import_id: int) -> None:
    """Imports the file of a row that nobody else is importing; does nothing for a finished one."""
    taken = DataImport.objects.filter(pk=import_id, state__in=[DataImport.QUEUED, DataImport.RUNNING])
    with transaction.atomic():
        one = taken.select_for_update(skip_locked=True).first()
        if one is None:
            return
        taken.update(state=DataImport.RUNNING, started_at=timezone.now(), attempts=F("attempts") + 1)
    with transaction.atomic():
        one = taken.select_for_update(skip_locked=True).select_related("corpus").first()
        if one is None:
            return
        _finish(one)


def _finish(one: DataImport) -> None:
    if one.attempts > ATTEMPTS:
        _fail(one, f"The worker was lost {ATTEMPTS} times while importing this file.")
    elif not Path(one.path).exists():
        _fail(one, "The uploaded file is gone from the server; upload it again.")
    else:
        _import(one)
    one.finished_at = timezone.now()
    one.save(update_fields=["state", "reason", "counts", "problems", "finished_at"])


def _import(one: DataImport) -> None:
    try:
        with transaction.atomic():
            report = dataset.import_paths(
                paths=[Path(one.path)], corpus_name=one.corpus.name, dry_run=one.dry_run
            )
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except Exception:  # a fault of ours has no name yet; the row must end, whatever it is
        log.exception("import %s stopped", one.public_id)
        _fail(one, STOPPED)
        return
    one.state = DataImport.INVALID if report.problem_count else DataImport.DONE
    rows = [{"kind": kind, **asdict(tally)} for kind, tally in report.tallies.items()]
    one.counts = {"rows": rows, "problems": report.problem_count, "warnings": report.warnings}
    one.problems = [asdict(problem) for problem in report.problems[:SHOWN]]


def _fail(one: DataImport, reason: str) -> None:
    one.state, one.reason = DataImport.FAILED, reason


def stale() -> list[int]:
    """Rows that nobody is working on although they are not finished: their message or worker was lost."""
    now = timezone.now()
    waiting = Q(state=DataImport.QUEUED, created_at__lt=now - UNHEARD) | Q(
        state=DataImport.RUNNING, started_at__lt=now - UNHEARD
    )
    with transaction.atomic():
        return list(
            DataImport.objects.select_for_update(skip_locked=True)
            .filter(waiting)
            .values_list("pk", flat=True)
        )
