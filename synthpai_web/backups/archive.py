"""The file of a backup: a zip with one entry a table, one a kept file, and a manifest that vouches for all.

`database/<table>.copy` is PostgreSQL's COPY text of the table's rows in the order of their keys, under fixed
formats of dates and numbers: equal rows are equal bytes on every server, so its SHA-256 is the digest of
the table. `files/...` is what lies below MEDIA_ROOT. `manifest.json` is written last.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE, FILES = "database/", "files/"
CHUNK = 1 << 20
LARGEST_MANIFEST = 64 << 20
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
"""What reading a zip raises that is cut, changed, encrypted or packed in a way that Python does not know."""


class BadBackup(Exception):
    """A file that cannot be trusted or used; the message says what is wrong with it and what to do."""


@dataclass(frozen=True)
class Table:
    name: str
    columns: list[str]
    rows: int
    sha256: str
    """Of its entry, and so of the rows themselves."""


@dataclass(frozen=True)
class Kept:
    """A file below MEDIA_ROOT; `path` is relative to it."""

    path: str
    size: int
    sha256: str


@dataclass
class Manifest:
    made_at: str
    code: str
    """Version of the program that wrote it."""
    server: str
    """Version of PostgreSQL that it was read from."""
    migrations: list[tuple[str, str]]
    """(app, name) of what was applied."""
    tables: list[Table] = field(default_factory=list)
    sequences: dict[str, int] = field(default_factory=dict)
    """Sequence -> its last value, of those that were used."""
    files: list[Kept] = field(default_factory=list)
    has_files: bool = True
    format: int = FORMAT

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def digest(self) -> str:
        """One number for all tables: equal for equal databases."""
        lines = "".join(f"{one.name} {one.sha256}\n" for one in sorted(self.tables, key=lambda one: one.name))
        return hashlib.sha256(lines.encode()).hexdigest()


def read_manifest(path: Path) -> Manifest:
    """What a backup says of itself; nothing else of it is read. Raises BadBackup."""
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(MANIFEST)
            if entry.file_size > LARGEST_MANIFEST:
                raise BadBackup(f"{path.name}: its manifest is too large to be one of ours.")
            return _manifest(path, json.loads(archive.read(entry)))
    except FileNotFoundError:
        raise BadBackup(f"{path}: there is no such file.") from None
    except KeyError:
        raise BadBackup(f"{path.name}: there is no manifest in it, so it is not a backup of ours.") from None
    except (*DAMAGE, ValueError) as error:
        raise BadBackup(f"{path.name} is damaged or not a backup ({error}); take another one.") from None


def _manifest(path: Path, said: Any) -> Manifest:
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise BadBackup(
            f"{path.name} is in format {said.get('format') if isinstance(said, dict) else '?'}, and this"
            f" program reads format {FORMAT}; restore it with the version that wrote it."
        )
    try:
        return Manifest(
            **said
            | {
                "migrations": [(str(app), str(name)) for app, name in said["migrations"]],
                "tables": [Table(**one) for one in said["tables"]],
                "files": [Kept(**one) for one in said["files"]],
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadBackup(f"{path.name}: its manifest is not one of ours ({error}).") from None


def verify(path: Path) -> Manifest:
    """Reads the whole backup and compares it with its manifest. Raises BadBackup at the first difference."""
    manifest = read_manifest(path)
    expected = {f"{DATABASE}{one.name}.copy": one.sha256 for one in manifest.tables}
    expected |= {f"{FILES}{one.path}": one.sha256 for one in manifest.files}
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name != MANIFEST]
            if sorted(names) != sorted(expected):
                odd = sorted(set(names) ^ set(expected))[:3]
                raise BadBackup(f"{path.name}: entries and manifest differ: {', '.join(odd)}.")
            for name, digest in expected.items():
                with archive.open(name) as entry:
                    if digest_of(entry) != digest:
                        raise BadBackup(f"{path.name}: {name} is not what was written; take another one.")
    except DAMAGE as error:
        raise BadBackup(f"{path.name} is damaged ({error}); take another one.") from None
    return manifest


def digest_of(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks(stream):
        digest.update(chunk)
    return digest.hexdigest()


def chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk
