"""Differences between two releases: asked for once, counted by a worker, read in pages. None changes."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from evaluation.exchange.release_comparing import Comparison, FileGone
from evaluation.exchange.release_making import UNHEARD, root
from evaluation.models import Release, ReleaseDifference
from evaluation.services.releases import Refused
from simulation.models import User
from simulation.services import audit

PAGE = 50
ATTEMPTS = 3
LOST = f"The worker was lost {ATTEMPTS} times while comparing; tell whoever runs this installation."
STOPPED = (
    "It stopped on an error of ours. The server's log has the details: tell whoever runs this installation."
)
log = logging.getLogger("synthpai.releases")


@transaction.atomic
def ask(*, by: User | None, old: Release, new: Release) -> ReleaseDifference:
    """The difference, to be counted by a worker unless it is there. Raises Refused."""
    if old.pk == new.pk:
        raise Refused("other", "Choose another release to compare with.")
    if old.corpus_id != new.corpus_id:
        raise Refused("other", "Only releases of one corpus can be compared.")
    if unready := [one for one in (old, new) if one.state != Release.READY]:
        raise Refused(
            "other", f"Release {unready[0].name} is {unready[0].state}: it has no files to compare."
        )
    one, is_new = ReleaseDifference.objects.get_or_create(old=old, new=new)
    if one.problem:
        one.problem, one.attempts, one.asked_at = "", 0, timezone.now()
        one.save(update_fields=["problem", "attempts", "asked_at"])
    if is_new:
        details = {"with": str(old.public_id)}
        audit.record(by=by, action="release.compared", target=new, corpus=new.corpus, details=details)
    return one


def make(difference_id: int) -> None:
    """Counts a difference that nobody else is counting; does nothing for one that is there, and gives up one
    that has cost three workers their lives."""
    asked = ReleaseDifference.objects.filter(pk=difference_id, counts__isnull=True, problem="")
    with transaction.atomic():
        if asked.select_for_update(skip_locked=True).exists():
            asked.update(attempts=F("attempts") + 1)  # kept whatever becomes of the worker
    with transaction.atomic():
        waiting = ReleaseDifference.objects.select_for_update(skip_locked=True, of=("self",))
        found = waiting.select_related("old__corpus", "new__corpus").filter(pk=difference_id)
        one = found.filter(counts__isnull=True, problem="").first()
        if one is None:
            return
        try:
            if one.attempts > ATTEMPTS:
                one.problem = LOST
            else:
                _count(one)
        except (OperationalError, InterfaceError):  # the database is away; the sweep tries again
            raise
        except FileGone as error:
            one.problem = str(error)
        except Exception:  # a fault of ours has no name yet; the row must end, whatever it is
            log.exception("difference %s stopped", one.pk)
            one.problem = STOPPED
        one.made_at = timezone.now()
        one.save(update_fields=["counts", "path", "problem", "made_at"])


def _count(one: ReleaseDifference) -> None:
    folder = root() / "differences"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as place:
        written = Path(place) / "written.jsonl"
        comparison = Comparison(one.old, one.new, Path(place))
        with written.open("w", encoding="utf-8", newline="\n") as out, transaction.atomic():
            comparison.write(out)
        path = folder / f"{one.old.public_id}-{one.new.public_id}.jsonl"
        written.replace(path)
    one.counts, one.path = comparison.counts, path.relative_to(settings.MEDIA_ROOT).as_posix()


def stale() -> list[int]:
    """Differences that nobody is counting although they were asked for."""
    before = timezone.now() - UNHEARD
    waiting = ReleaseDifference.objects.filter(counts__isnull=True, problem="", asked_at__lt=before)
    with transaction.atomic():
        free = waiting.filter(new__corpus__trashed_at=None).select_for_update(skip_locked=True, of=("self",))
        return list(free.values_list("pk", flat=True))


def sweep_folders() -> None:
    """Removes what workers that died long ago have left between the differences."""
    old = (timezone.now() - 60 * UNHEARD).timestamp()
    for place in (root() / "differences").glob(".*/"):
        if place.stat().st_mtime < old:
            shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class Wanted:
    """Which differences are asked for; empty: all."""

    table: str = ""
    change: str = ""
    attribute: str = ""
    why: str = ""

    @property
    def asked(self) -> dict[str, str]:
        """What an address has to say."""
        return {name: value for name, value in vars(self).items() if value}

    def matches(self, line: dict[str, Any]) -> bool:
        """Whether a line of the file is one of them."""
        return (
            (not self.table or line["table"] == self.table)
            and (not self.change or line["change"] == self.change)
            and (not self.attribute or line.get("attribute") == self.attribute)
            and (not self.why or self.why in line.get("why", ()))
        )


@dataclass(frozen=True)
class Page:
    """Some differences. `after`: where in the file the next page begins, 0 on the last."""

    rows: list[dict[str, Any]]
    after: int = 0


def path_of(one: ReleaseDifference) -> Path | None:
    """Where the lines lie; None where there are none."""
    path = Path(settings.MEDIA_ROOT) / one.path
    return path if one.path and path.is_file() else None


def page(one: ReleaseDifference, wanted: Wanted, *, after: int = 0) -> Page:
    """The first PAGE differences behind a place in the file that a page before gave."""
    path = path_of(one)
    if path is None:
        return Page([])
    rows: list[dict[str, Any]] = []
    with path.open("rb") as lines:
        at = lines.seek(min(max(after, 0), path.stat().st_size))
        for line in lines:
            row = _read(line)
            if row is not None and wanted.matches(row):
                if len(rows) == PAGE:
                    return Page(rows, at)
                rows.append(row)
            at += len(line)
    return Page(rows)


def _read(line: bytes) -> dict[str, Any] | None:
    """A line; None for the rest of one, which a place that no page gave begins with."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "table" in row else None


def lines(one: ReleaseDifference, wanted: Wanted) -> Iterator[bytes]:
    """The lines that are wanted, for a file."""
    path = path_of(one)
    if path is None:
        return
    with path.open("rb") as found:
        for line in found:
            if not wanted.asked or ((row := _read(line)) is not None and wanted.matches(row)):
                yield line
