"""The way back: the schema by its migrations, the rows by COPY, all in one transaction.

No right of a superuser is needed: foreign keys of ours are checked at the end of a transaction, so tables
may come in any order; our own triggers are switched off by the owner of the tables while rows come in.
A restore that fails leaves the database as it was.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader

from synthpai_web.backups import archive, tables
from synthpai_web.backups.archive import BadBackup, Kept, Manifest
from synthpai_web.backups.dump import PUT_ASIDE

OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
    AND coalesce(backend_type, 'client backend') = 'client backend'
"""
"""Of other roles' connections nobody but a superuser sees more than that they are there."""
NOT_OURS = (PUT_ASIDE, "lost+found")
"""Beginnings of names in MEDIA_ROOT that are not put aside; the second belongs to the file system."""
BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission", "simulation_workspace"}
"""Tables that have rows as soon as `migrate` has made them."""


class NotPossible(Exception):
    """Why this backup is not restored here; the message says what to do. Nothing was changed."""


@dataclass(frozen=True)
class Restored:
    manifest: Manifest
    migrated: int
    """Migrations that were applied on top, because the backup is older than the program."""
    files_before: str
    """Where the files lie that were here; empty where there were none."""
    left_out: list[str]
    """Tables of the backup that are none of ours: somebody made them by hand."""


def restore(
    path: Path, *, wipe: bool = False, force: bool = False, say: Callable[[str], None] = lambda _: None
) -> Restored:
    """Puts the backup in the place of what is here.

    `wipe`: what the database holds goes; without it the database has to be empty. `force`: although others
    are connected. Raises BadBackup, NotPossible.
    """
    say("Reading the backup through, and comparing it with its manifest …")
    manifest = archive.verify(path)
    with ExitStack() as stack:
        try:
            missing = _refuse_unfit(manifest, wipe=wipe, force=force)
            beside = _unpack_files(path, manifest, stack) if manifest.has_files else None
            with transaction.atomic():
                left_out = _fill(path, manifest, say)
                if missing:
                    say(f"Applying {missing} migrations that are newer than the backup …")
                    call_command("migrate", verbosity=0, interactive=False)
        except DatabaseError as error:
            raise NotPossible(f"The database refused it, and is as it was: {error}".strip()) from error
        before = _swap_files(beside) if beside else ""
    return Restored(manifest, missing, before, left_out)


def _refuse_unfit(manifest: Manifest, *, wipe: bool, force: bool) -> int:
    """How many migrations of ours the backup does not have yet. Raises NotPossible."""
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    if strange := [one for one in manifest.migrations if one not in known]:
        app, name = strange[0]
        raise NotPossible(
            f"The backup is newer than this program: it has the migration {app} {name}. Restore it with"
            f" version {manifest.code} or a newer one."
        )
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        others = cursor.fetchone()[0]
        held = [name for name in tables.columns_of_all() if _holds_rows(name)]
    if others and not force:
        raise NotPossible(
            f"{others} other connection{'s are' if others != 1 else ' is'} open to this database. Stop the"
            " site, the workers and the clock first (or --force, if they are idle)."
        )
    if held and not wipe:
        raise NotPossible(
            f"The database is not empty ({len(held)} tables have rows, {held[0]} among them). Restore into"
            " an empty one, or say --wipe to lose what is here."
        )
    return len(known) - len(manifest.migrations)


def _holds_rows(table: str) -> bool:
    if table in BY_MIGRATIONS:
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {tables.quoted([table])})")  # noqa: S608
        return bool(cursor.fetchone()[0])


def _fill(path: Path, manifest: Manifest, say: Callable[[str], None]) -> list[str]:
    """Names of the tables that were left out; the manifest loses them too."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '30s'")
        tables.drop_all()
        # Whatever a migration inserts is checked at once, so that the next one may alter the table.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    say("Making the tables …")
    _migrate_to(manifest.migrations)
    there = tables.columns_of_all()
    left_out = [table.name for table in manifest.tables if table.name not in there]
    manifest.tables = [table for table in manifest.tables if table.name in there]
    for table in manifest.tables:
        if there[table.name] != table.columns:
            raise NotPossible(f"The table {table.name} has other columns here than in the backup.")
    names = [table.name for table in manifest.tables]
    tables.fix_formats()
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables.quoted(names)}")
        for name in names:
            cursor.execute(f"ALTER TABLE {tables.quoted([name])} DISABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    say(f"Bringing in {manifest.rows:,} rows …")
    with zipfile.ZipFile(path) as whole:
        for table in manifest.tables:
            _copy_in(whole, table)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # here a reference to nothing would show
        for name in names:
            cursor.execute(f"ALTER TABLE {tables.quoted([name])} ENABLE TRIGGER USER")
        for sequence, value in manifest.sequences.items():
            cursor.execute(
                "SELECT setval(found, %s) FROM to_regclass(%s) AS found WHERE found IS NOT NULL",
                [value, tables.quoted([sequence])],
            )
    say("Comparing what arrived with the manifest …")
    _compare(manifest)
    return left_out


def _migrate_to(migrations: list[tuple[str, str]]) -> None:
    """The schema as it was: the newest migration of each app that the backup knows."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    newest = {app for app, _ in migrations}
    for app in sorted(newest):
        had = {name for one, name in migrations if one == app}
        leaf = [
            name
            for name in had
            if not any(
                child[0] == app and child[1] in had for child in loader.graph.node_map[(app, name)].children
            )
        ]
        call_command("migrate", app, leaf[0], verbosity=0, interactive=False)


def _copy_in(whole: zipfile.ZipFile, table: archive.Table) -> None:
    statement = f"COPY {tables.quoted([table.name])} ({tables.quoted(table.columns)}) FROM STDIN"
    name = f"{archive.DATABASE}{table.name}.copy"
    with (
        connection.wrap_database_errors,
        whole.open(name) as entry,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for chunk in archive.chunks(entry):
            copy.write(chunk)


def _compare(manifest: Manifest) -> None:
    keys = tables.keys_of_all()
    for table in manifest.tables:
        found = tables.digest(table.name, table.columns, keys.get(table.name, []))
        if found != (table.rows, table.sha256):
            raise NotPossible(
                f"The table {table.name} did not arrive as it was ({found[0]} rows of {table.rows}); nothing"
                " was changed."
            )


def _unpack_files(path: Path, manifest: Manifest, stack: ExitStack) -> Path:
    """The kept files, in a folder of their own in MEDIA_ROOT, gone again unless they take their place.

    In it and not beside it: it may be a mounted disk, a link to one, or all that we may write to.
    """
    root = Path(settings.MEDIA_ROOT)
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = Path(tempfile.mkdtemp(prefix=PUT_ASIDE, dir=root))
        stack.callback(shutil.rmtree, beside, ignore_errors=True)
        with zipfile.ZipFile(path) as whole:
            for one in manifest.files:
                _unpack(whole, one, beside)
    except ValueError as error:
        raise BadBackup(f"{path.name}: {error}") from None
    except OSError as error:
        raise NotPossible(
            f"The files could not be unpacked in {root}: {error.strerror or error}; nothing was changed. See"
            " that it can be written to and has room."
        ) from error
    return beside


def _unpack(whole: zipfile.ZipFile, one: Kept, beside: Path) -> None:
    target = (beside / one.path).resolve()
    if not target.is_relative_to(beside.resolve()):
        raise ValueError(f"the entry {one.path} leads out of the folder of files.")
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with whole.open(f"{archive.FILES}{one.path}") as entry, target.open("wb") as stored:
        shutil.copyfileobj(entry, stored, archive.CHUNK)
    target.chmod(0o600)


def _swap_files(beside: Path) -> str:
    """Puts the unpacked files in the place of those that are in MEDIA_ROOT, which go into a folder in it."""
    root, backups = beside.parent, Path(settings.BACKUP_DIR).resolve()
    ours = [
        one
        for one in sorted(root.iterdir())
        if not one.name.startswith(NOT_OURS) and not backups.is_relative_to(one.resolve())
    ]
    before = Path(f"{beside}-before")
    try:
        for one in ours:
            before.mkdir(exist_ok=True, mode=0o700)
            one.rename(before / one.name)
        for one in sorted(beside.iterdir()):
            one.rename(root / one.name)
    except OSError as error:
        stays = Path(f"{beside}-new")
        beside.rename(stays)
        raise NotPossible(
            f"The database is restored, but not all files could take their place in {root}"
            f" ({error.strerror}: {error.filename}). The others lie in {stays}, and what was there before in"
            f" {before}: move them by hand."
        ) from error
    return str(before) if ours else ""
