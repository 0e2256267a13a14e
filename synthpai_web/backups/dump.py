"""Writing a backup: every table in one snapshot, then the files that its rows speak of."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from simulation.domain.version import VERSION
from synthpai_web.backups import archive, tables
from synthpai_web.backups.archive import BadBackup, Kept, Manifest, Table

LOCK = 0x5EED_BAC0
"""Advisory lock that whoever writes a backup holds."""
GROWING = ".part"
"""The end of the names of files that are being written, backups and uploads alike."""
PUT_ASIDE = ".restore-"
"""The beginning of the names of folders in MEDIA_ROOT in which a restore works, or has put aside what was
there: they are in no backup."""


class Busy(Exception):
    """Somebody else is writing a backup."""


def write(path: Path, *, with_files: bool = True) -> Manifest:
    """Writes the backup and gives its manifest.

    It grows beside `path` under another name and takes its place when it is whole and on the disk: a file
    under the name of a backup is a backup. Raises BadBackup where it cannot be written, Busy while another
    is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _growing(path) as stream:
            return _fill(stream, with_files=with_files)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise BadBackup(
            f"The backup could not be written to {path}: {error.strerror or error}{where}. Nothing is left of"
            " it; choose another place, or make room."
        ) from error
    except DatabaseError as error:
        raise BadBackup(f"The database could not be read, and no backup was made: {error}") from error


@contextmanager
def _growing(path: Path) -> Iterator[IO[bytes]]:
    """A file of our own beside `path`, whoever else writes one there. It becomes `path` if all goes well."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=GROWING, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    finally:
        with suppress(OSError):
            Path(name).unlink()


def _fill(stream: IO[bytes], *, with_files: bool) -> Manifest:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as whole:
        with _one_moment():
            manifest = Manifest(
                made_at=timezone.now().isoformat(),
                code=VERSION,
                server=_server(),
                migrations=sorted(MigrationRecorder(connection).applied_migrations()),
                has_files=with_files,
            )
            keys = tables.keys_of_all()
            for name, columns in tables.columns_of_all().items():
                manifest.tables.append(_table(whole, name, columns, keys.get(name, [])))
            # Read last: whoever takes a number after the snapshot only makes it larger.
            manifest.sequences = tables.sequences()
        if with_files:
            kept = (_kept(whole, one, root) for one, root in _files())
            manifest.files = [one for one in kept if one]
        whole.writestr(archive.MANIFEST, manifest.as_json())
    return manifest


def _server() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])


@contextmanager
def _one_moment() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            if len(connection.savepoint_ids) == 0:  # else a transaction is open, as in tests
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
            if not cursor.fetchone()[0]:
                raise Busy("Another backup is being written; wait for it.")
        tables.fix_formats()
        yield


def _table(whole: zipfile.ZipFile, name: str, columns: list[str], key: list[str]) -> Table:
    rows, digest = 0, hashlib.sha256()
    with whole.open(f"{archive.DATABASE}{name}.copy", "w", force_zip64=True) as entry:
        for block in tables.rows_out(name, columns, key):
            rows += block.count(b"\n")
            digest.update(block)
            entry.write(block)
    return Table(name, columns, rows, digest.hexdigest())


def _files() -> Iterator[tuple[Path, Path]]:
    """The files below MEDIA_ROOT, those left out that are just being written, and backups and restores.

    Raises OSError for a folder that cannot be read: a backup without it would be none.
    """
    root, backups = Path(settings.MEDIA_ROOT), Path(settings.BACKUP_DIR).resolve()
    for folder, inner, names in os.walk(root, onerror=_unless_gone):
        here = Path(folder)
        inner[:] = sorted(
            one for one in inner if not one.startswith(PUT_ASIDE) and (here / one).resolve() != backups
        )
        for path in (here / name for name in sorted(names) if not name.endswith(GROWING)):
            if path.is_file() and not path.is_symlink():
                yield path, root


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _kept(whole: zipfile.ZipFile, path: Path, root: Path) -> Kept | None:
    """None for a file that has been taken away since it was found, as an import's may be."""
    name, size, digest = path.relative_to(root).as_posix(), 0, hashlib.sha256()
    try:
        name.encode()
        source = path.open("rb")
    except UnicodeEncodeError:
        raise BadBackup(
            f"The file {name!a} has a name that is not UTF-8: rename it, or take it away."
        ) from None
    except FileNotFoundError:
        return None
    with source, whole.open(f"{archive.FILES}{name}", "w", force_zip64=True) as entry:
        for chunk in archive.chunks(source):
            size += len(chunk)
            digest.update(chunk)
            entry.write(chunk)
    return Kept(name, size, digest.hexdigest())
