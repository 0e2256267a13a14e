"""The files of a release that is ready, for those who look at it or take it: one by one, or all in one."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.text import slugify

from evaluation.domain.release_schema import TABLES
from evaluation.exchange.release_verifying import MANIFEST, files_of, is_below
from evaluation.models import Release

PIECE = 1 << 18
"""Bytes that are read and sent at once."""
LONGEST_CARD = 400_000
"""Bytes of README.md, or of manifest.json, that are shown on a page."""
CARD, METRICS = "README.md", "metrics.json"
NOTICE = "WITHDRAWN.txt"
PACKED = (".parquet", ".gz")
"""Endings of files that are compressed in themselves."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can say: equal files give equal bytes."""


@dataclass(frozen=True)
class File:
    """One file, as the manifest has it."""

    name: str
    size: int
    rows: int | None
    sha256: str

    @property
    def kind(self) -> str:
        """What stands behind the last full stop."""
        return self.name.rpartition(".")[2]


def place_of(release: Release) -> Path:
    """The folder of a release that is ready."""
    return Path(settings.MEDIA_ROOT) / release.folder


def files(release: Release) -> list[File]:
    """Every file by name, manifest.json last; [] for a release that is not ready."""
    if release.state != Release.READY or release.manifest is None:
        return []
    found = [
        File(name, int(one.get("bytes", 0)), one.get("rows"), str(one.get("sha256", "")))
        for name, one in files_of(release.manifest).items()
        if is_below(name)
    ]
    size = max(0, release.size - sum(one.size for one in found))
    return [*sorted(found, key=lambda one: one.name), File(MANIFEST, size, None, release.digest)]


def path_of(release: Release, name: str) -> Path | None:
    """Where a file of the release lies; None for a name that is none of them, or a file that is gone."""
    if name not in {one.name for one in files(release)}:
        return None
    path = place_of(release) / name
    return path if path.is_file() else None


def pieces(path: Path) -> Iterator[bytes]:
    """A file, some of it at a time."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def base_name(release: Release) -> str:
    """What a download of the release is called, without an ending."""
    name = f"{slugify(release.corpus.name) or release.corpus.public_id}-{release.name}"
    return f"withdrawn-{name}" if release.withdrawn_at else name


class _Pipe(io.RawIOBase):
    """Keeps what is written until it is taken. There is no way back in it."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waiting.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        found, self._waiting = b"".join(self._waiting), []
        return found


def as_zip(release: Release) -> Iterator[bytes]:
    """All files in one, made while it is sent: memory holds a piece, whatever the size.

    A withdrawn release has its notice beside the files; they themselves are as they were.
    """
    pipe = _Pipe()
    base = base_name(release)
    with zipfile.ZipFile(pipe, "w") as packed:
        if release.withdrawn_at:
            packed.writestr(_entry(f"{base}/{NOTICE}"), notice(release))
            yield pipe.taken()
        for one in files(release):
            path = path_of(release, one.name)
            if path is None:
                raise FileNotFoundError(f"{one.name} of release {release.public_id} is gone")
            with packed.open(_entry(f"{base}/{one.name}"), "w", force_zip64=True) as inside:
                for piece in pieces(path):
                    inside.write(piece)
                    if ready := pipe.taken():
                        yield ready
            yield pipe.taken()
    yield pipe.taken()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def notice(release: Release) -> str:
    """What stands beside the files of a withdrawn release."""
    on = f"{release.withdrawn_at:%Y-%m-%d}" if release.withdrawn_at else ""
    return f"Release {release.name} of {release.corpus.name} was withdrawn on {on}.\n\n{release.notice}\n"


def card(release: Release) -> str:
    """README.md without the head that machines read; "" where there is none."""
    path = path_of(release, CARD)
    if path is None:
        return ""
    with path.open("rb") as file:
        text = file.read(LONGEST_CARD).decode("utf-8", "replace")
    if text.startswith("---\n"):
        _, _, text = text[4:].partition("\n---\n")
    return text.strip()


def counts(release: Release) -> list[tuple[str, int]]:
    """Rows of each table, in the order of the schema."""
    said = (release.manifest or {}).get("counts", {})
    return [(one.name.replace("_", " "), said[one.name]) for one in TABLES if one.name in said]


def manifest(release: Release) -> str:
    """The beginning of manifest.json, as it is written."""
    path = path_of(release, MANIFEST)
    if path is None:
        return ""
    with path.open("rb") as file:
        return file.read(LONGEST_CARD).decode("utf-8", "replace")


def metrics(release: Release) -> dict[str, Any]:
    """What metrics.json says; {} where there is none."""
    path = path_of(release, METRICS)
    if path is None:
        return {}
    said = json.loads(path.read_bytes())
    return said if isinstance(said, dict) else {}
