"""The backup of every night: written, read back, and told about on the page Operations."""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from simulation.services import audit
from simulation.services.budget import Installation
from synthpai_web.backups import archive, dump
from synthpai_web.backups.archive import BadBackup, Manifest

PREFIX, ENDING = "synthpai-", ".zip"
RECORD = "last.json"
LATE = timedelta(hours=36)
"""A last good backup older than this is a reason to warn."""

log = logging.getLogger("synthpai.backup")


@dataclass(frozen=True)
class Night:
    """What became of the last backup that the clock asked for."""

    at: str
    ok: bool
    said: str
    seconds: float = 0.0
    file: str = ""

    @property
    def moment(self) -> datetime | None:
        return parse_datetime(self.at)


@dataclass(frozen=True)
class Stored:
    """One backup in the folder."""

    name: str
    size: int
    made_at: datetime | None
    rows: int
    files: int
    problem: str = ""


def folder() -> Path:
    return Path(settings.BACKUP_DIR)


def file_name(now: datetime) -> str:
    """Names in the order of time; the installation's key is in none of them."""
    return f"{PREFIX}{now:%Y%m%d-%H%M%S}{ENDING}"


def back_up(*, now: datetime) -> Night:
    """Writes tonight's backup, reads it back, and takes away those that are older than BACKUP_KEEP days.

    The old ones stay where tonight's did not come to be. Never raises for a backup that failed: the record
    says why, and the page warns.
    """
    begun, path = time.monotonic(), folder() / file_name(now)
    try:
        manifest = _written(path)
    except dump.Busy as busy:
        night = Night(now.isoformat(), ok=False, said=str(busy))
    except BadBackup as problem:
        log.exception("the backup of tonight failed")
        night = Night(now.isoformat(), ok=False, said=str(problem))
    else:
        removed = _forget(now)
        said = f"{manifest.rows} rows, {len(manifest.files)} files; read back and compared"
        said += f"; {removed} old ones removed" if removed else ""
        night = Night(now.isoformat(), True, said, round(time.monotonic() - begun, 1), path.name)
        audit_backup(path, manifest)
    _note(night)
    return night


def _written(path: Path) -> Manifest:
    """One that has been read back; where it is not what was written, it goes. Raises BadBackup, Busy."""
    _sweep()
    manifest = dump.write(path)
    try:
        archive.verify(path)
    except BadBackup:
        path.unlink(missing_ok=True)
        raise
    return manifest


def _sweep() -> None:
    """Takes away what a writer that was killed has left of its backup; one at work touches its own."""
    long_ago = time.time() - LATE.total_seconds()
    for one in folder().glob(f".{PREFIX}*{dump.GROWING}"):
        with suppress(OSError):
            if one.stat().st_mtime < long_ago:
                one.unlink()


def _forget(now: datetime) -> int:
    """Takes away backups of the clock that are older than BACKUP_KEEP days; how many."""
    oldest = file_name(now - timedelta(days=settings.BACKUP_KEEP))
    old = [one for one in folder().glob(f"{PREFIX}*{ENDING}") if one.name < oldest]
    gone = 0
    for one in old:
        try:
            one.unlink(missing_ok=True)
        except OSError:
            log.exception("an old backup could not be removed", extra={"file": one.name})
        else:
            gone += 1
    return gone


def _note(night: Night) -> None:
    growing = folder() / f".{RECORD}"
    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        growing.write_text(json.dumps(asdict(night), ensure_ascii=False))
        growing.replace(folder() / RECORD)
    except OSError:
        log.exception("what became of the backup could not be written down")


def last_night() -> Night | None:
    try:
        return Night(**json.loads((folder() / RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def stored(most: int = 20) -> list[Stored]:
    """The backups in the folder, newest first, by what their manifests say; none where it cannot be read."""
    try:
        names = [name for name in os.listdir(folder()) if name.startswith(PREFIX) and name.endswith(ENDING)]
    except OSError:
        return []
    return [_stored(folder() / name) for name in sorted(names, reverse=True)[:most]]


def _stored(path: Path) -> Stored:
    size = 0
    try:
        size = path.stat().st_size
        manifest = archive.read_manifest(path)
    except (BadBackup, OSError) as problem:  # it may be old, and have gone just now
        return Stored(path.name, size, None, 0, 0, str(problem))
    return Stored(path.name, size, parse_datetime(manifest.made_at), manifest.rows, len(manifest.files))


def warning(now: datetime) -> str:
    """What an admin has to know; empty where all is well."""
    if not settings.BACKUP:
        return "No backup is made at night (BACKUP=0): see that somebody else makes one."
    good = [one.made_at for one in stored() if one.made_at and not one.problem]
    if not good:
        return (
            "There is no backup yet. The clock makes one at night; “python manage.py backup” makes one now."
        )
    if now - max(good) > LATE:
        return f"The last good backup is of {timezone.localtime(max(good)):%Y-%m-%d %H:%M}: older than a day."
    return ""


def audit_backup(path: Path, manifest: Manifest) -> None:
    _record("backup.made", path, manifest)


def audit_restore(path: Path, manifest: Manifest) -> None:
    _record("backup.restored", path, manifest)


def _record(action: str, path: Path, manifest: Manifest) -> None:
    details: dict[str, Any] = {"file": path.name, "rows": manifest.rows, "digest": manifest.digest[:16]}
    audit.record(by=None, action=action, target=Installation("installation"), details=details)
