"""Files of labels or predictions that people upload: stored first, then imported by a worker, as data is.

A worker may be killed at any moment. The import is one transaction, during which the row is locked: what
was begun is rolled back with the connection, the lock goes, and the sweep finds the row free and unfinished.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.exchange.problems import SHOWN
from annotation.exchange.uploads import ATTEMPTS, LONGEST_NAME, STOPPED, UNHEARD, NameTooLong
from evaluation.exchange.importing import Imported, Refused, import_labels, import_predictions
from evaluation.exchange.importing_reading import refusal
from evaluation.models import LabelSet, Masking, ResultImport
from simulation.models import Corpus, User, new_public_id
from simulation.services import audit

__all__ = ["NameTooLong", "receive", "run", "stale"]

log = logging.getLogger(__name__)


def receive(
    *, by: User, corpus: Corpus, kind: str, file: UploadedFile, options: dict[str, Any]
) -> ResultImport:
    """Writes the upload below MEDIA_ROOT, chunk by chunk, and makes its row (state queued).

    `options`: `name` (of label sets), `model`, `labels` and `masking` (of predictions; public ids), `skip`,
    `replace`. Raises NameTooLong before anything is stored.
    """
    name = Path(file.name or "results.jsonl").name
    if (size := len(name.encode("utf-8", "replace"))) > LONGEST_NAME:
        raise NameTooLong(size)
    folder = Path(settings.MEDIA_ROOT) / "results" / new_public_id()
    folder.mkdir(parents=True, mode=0o700)
    with (folder / name).open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    with transaction.atomic():
        one = ResultImport.objects.create(
            corpus=corpus, by=by, kind=kind, options=options, file_name=name, path=str(folder / name)
        )
        audit.record(by=by, action="result_import.queued", target=one, corpus=corpus, details={"kind": kind})
    return one


def run(*, import_id: int) -> None:
    """Imports the file of a row that nobody else is importing; does nothing for a finished one."""
    taken = ResultImport.objects.filter(pk=import_id, state__in=[ResultImport.QUEUED, ResultImport.RUNNING])
    with transaction.atomic():
        one = taken.select_for_update(skip_locked=True).first()
        if one is None:
            return
        taken.update(state=ResultImport.RUNNING, started_at=timezone.now(), attempts=F("attempts") + 1)
    with transaction.atomic():
        one = taken.select_for_update(skip_locked=True, of=("self",)).select_related("corpus", "by").first()
        if one is None:
            return
        _finish(one)


def _finish(one: ResultImport) -> None:
    if one.attempts > ATTEMPTS:
        _fail(one, f"The worker was lost {ATTEMPTS} times while importing this file.")
    elif not Path(one.path).exists():
        _fail(one, "The uploaded file is gone from the server; upload it again.")
    else:
        _import(one)
    one.finished_at = timezone.now()
    one.save(update_fields=["state", "reason", "counts", "problems", "finished_at"])


def _import(one: ResultImport) -> None:
    try:
        with transaction.atomic():
            made = _made(one)
    except Refused as error:
        one.state = ResultImport.INVALID
        one.problems = [_problem(line) for line in error.problems[:SHOWN]]
        if error.total > len(one.problems):
            one.reason = f"The first {len(one.problems)} of {error.total} problems are listed."
        return
    except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
        raise
    except Exception:  # a fault of ours has no name yet; the row must end, whatever it is
        log.exception("import of results %s stopped", one.public_id)
        _fail(one, STOPPED)
        return
    one.state = ResultImport.DONE
    one.counts = [part.__dict__ for part in made.made]
    one.problems = [_problem(line) for line in made.skipped.problems]
    one.reason = _said(made)


def _made(one: ResultImport) -> Imported:
    said, path = one.options, Path(one.path)
    common: dict[str, Any] = {
        "by": one.by,
        "skip": bool(said.get("skip")),
        "replace": bool(said.get("replace")),
    }
    if one.kind == ResultImport.LABELS:
        return import_labels(one.corpus, path, name=said.get("name", ""), **common)
    labels = LabelSet.objects.filter(corpus=one.corpus, public_id=said.get("labels", "")).first()
    masking = Masking.objects.filter(corpus=one.corpus, public_id=said.get("masking", "")).first()
    if said.get("masking") and masking is None:
        raise refusal(path, "masking", "the masking is gone; choose another one, or none")
    return import_predictions(
        one.corpus, path, model=said.get("model", ""), labels=labels, masking=masking, **common
    )


def _said(made: Imported) -> str:
    """What a person has to know beside the counts."""
    same = "Everything in this file is here already, from the same bytes: nothing was changed."
    skipped = f"Skipped {made.skipped.total} line{'s' * (made.skipped.total != 1)} that cannot be read."
    notes = [f"{note[0].upper()}{note[1:]}." for note in made.notes]
    return " ".join([*([same] if made.is_same else []), *([skipped] if made.skipped.total else []), *notes])


def _problem(problem: Any) -> dict[str, Any]:
    return {"line": problem.line, "field": problem.field, "message": problem.message}


def _fail(one: ResultImport, reason: str) -> None:
    one.state, one.reason = ResultImport.FAILED, reason


def stale() -> list[int]:
    """Rows that nobody is working on although they are not finished: their message or worker was lost."""
    now = timezone.now()
    waiting = Q(state=ResultImport.QUEUED, created_at__lt=now - UNHEARD) | Q(
        state=ResultImport.RUNNING, started_at__lt=now - UNHEARD
    )
    with transaction.atomic():
        free = ResultImport.objects.select_for_update(skip_locked=True).filter(waiting)
        return list(free.values_list("pk", flat=True))
