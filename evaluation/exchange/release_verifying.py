"""Whether the files of a release are still those that its manifest names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = "manifest.json"
PIECE = 1 << 20


class BadManifest(ValueError):
    """A folder without a manifest that can be read; the message says what is wrong with it."""


def digest_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal, a piece at a time."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest()


def manifest_in(folder: Path) -> dict[str, Any]:
    """What manifest.json of the folder says. Raises BadManifest."""
    path = folder / MANIFEST
    try:
        said = json.loads(path.read_bytes())
    except OSError as error:
        raise BadManifest(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadManifest(f"{path}: is no JSON: {error}") from None
    if not isinstance(said, dict):
        raise BadManifest(f"{path}: is no object")
    for name, one in files_of(said).items():
        if not is_below(name) or "sha256" not in one:
            raise BadManifest(f"{path}: files: “{name[:80]}” is no file of a release")
    return said


def files_of(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> {sha256, bytes, rows}, as a manifest lists them; {} where it lists none."""
    listed = manifest.get("files")
    if isinstance(listed, dict):
        return {str(name): one for name, one in listed.items() if isinstance(one, dict)}
    if isinstance(listed, list):
        return {str(one["name"]): one for one in listed if isinstance(one, dict) and "name" in one}
    return {}


def is_below(name: str) -> bool:
    """Whether a file's name stays in its folder."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def problems(folder: Path, *, digest: str = "") -> Iterator[str]:
    """What is wrong with the files, a sentence each that begins with a file's name.

    `digest`: what manifest.json itself must have, where that is known. Raises BadManifest.
    """
    said = files_of(manifest_in(folder))
    if digest and (found := digest_of(folder / MANIFEST)) != digest:
        yield f"{MANIFEST}: has SHA-256 {found}, and the release {digest}"
    for name, one in said.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            yield f"{name}: is missing"
        elif (found := digest_of(path)) != one["sha256"]:
            yield f"{name}: has SHA-256 {found}, and the manifest says {one['sha256']}"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    for name in sorted(there - said.keys() - {MANIFEST}):
        yield f"{name}: is not in the manifest"
