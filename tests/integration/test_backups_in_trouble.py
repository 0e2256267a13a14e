"""Backups and restores where files, disks, databases and other people are in the way."""

import os
import zipfile
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from simulation.models import Comment
from synthpai_web.backups import archive, dump, nightly, tables
from synthpai_web.backups.restore import BY_MIGRATIONS, NotPossible, restore
from tests.integration.backups_scene import HOSTILE, back_up, digests, live_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def lived_in(settings, tmp_path):
    return live_in(settings, tmp_path)


def test_a_file_that_goes_while_the_backup_is_written_is_left_out(lived_in, monkeypatch):
    going = lived_in.MEDIA_ROOT / "imports" / "x" / "rows.jsonl"
    (lived_in.MEDIA_ROOT / "imports" / "y").mkdir()
    found = list(dump._files())
    monkeypatch.setattr(dump, "_files", lambda: iter(found))
    going.unlink()
    path, manifest = back_up(lived_in)
    assert manifest.files == []
    archive.verify(path)


def test_backups_that_lie_among_the_files_are_not_backed_up(lived_in):
    lived_in.BACKUP_DIR = lived_in.MEDIA_ROOT / "backups"
    back_up(lived_in)
    path, manifest = back_up(lived_in, "two.zip")
    assert [one.path for one in manifest.files] == ["imports/x/rows.jsonl"]
    restore(path, wipe=True, force=True)
    assert path.exists()


def test_a_file_whose_name_cannot_be_kept_is_named(lived_in):
    (lived_in.MEDIA_ROOT / os.fsdecode(b"\xff.json")).write_text("")
    with pytest.raises(archive.BadBackup, match=r"not UTF-8"):
        back_up(lived_in)


def test_two_writers_of_one_name_do_not_take_each_others_file_away(lived_in):
    path = Path(lived_in.BACKUP_DIR) / "one.zip"
    path.parent.mkdir()
    with dump._growing(path) as first, dump._growing(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_a_restore_into_a_database_that_is_only_migrated_needs_no_wipe(lived_in):
    path, _ = back_up(lived_in)
    with connection.cursor() as cursor:
        full = [name for name in tables.columns_of_all() if name not in BY_MIGRATIONS]
        cursor.execute(f"TRUNCATE {tables.quoted(full)}")
        cursor.execute(
            "INSERT INTO simulation_workspace (id, spent, held, counted_from) VALUES (1, 0, 0, now())"
            " ON CONFLICT DO NOTHING"
        )
    restore(path, force=True)
    assert Comment.objects.filter(text=HOSTILE).exists()


def test_a_restore_leaves_extensions_and_rights_of_the_schema_alone(lived_in):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements'")
        if cursor.fetchone() is None:
            pytest.skip("this server has no extension to try it with")
    path, _ = back_up(lived_in)
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        cursor.execute("SELECT nspacl FROM pg_namespace WHERE nspname = current_schema()")
        before = cursor.fetchall()
        restore(path, wipe=True, force=True)
        cursor.execute("SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'")
        assert cursor.fetchone()[0] == 1
        cursor.execute("SELECT nspacl FROM pg_namespace WHERE nspname = current_schema()")
        assert cursor.fetchall() == before
        cursor.execute("DROP EXTENSION pg_stat_statements")


def test_a_table_that_somebody_made_by_hand_is_left_out_and_named(lived_in, capsys):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE notes_by_hand (id serial PRIMARY KEY, said text)")
        cursor.execute("INSERT INTO notes_by_hand (said) VALUES ('mine')")
    path, _ = back_up(lived_in)
    call_command("restore", path, wipe=True, yes=True, force=True)
    assert "Left out, for they are no tables of this program: notes_by_hand." in capsys.readouterr().out
    assert Comment.objects.filter(text=HOSTILE).exists()


def test_rows_that_the_database_does_not_take_leave_everything_as_it_was(lived_in):
    """Refused by COPY itself, not at the end."""
    path, manifest = back_up(lived_in)
    before = digests()
    comments = next(one for one in manifest.tables if one.name == "simulation_comment")
    rows = b"no row\n"
    place = manifest.tables.index(comments)
    manifest.tables[place] = archive.Table(comments.name, comments.columns, 1, sha256(rows).hexdigest())
    broken = path.with_name("broken.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(broken, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith("/simulation_comment.copy"):
                content = rows
            if entry.filename == archive.MANIFEST:
                content = manifest.as_json().encode()
            target.writestr(entry.filename, content)
    with pytest.raises(NotPossible, match="as it was"):
        restore(broken, wipe=True, force=True)
    assert digests() == before


def test_files_come_back_into_a_folder_that_is_a_link_or_cannot_be_renamed(lived_in, tmp_path, monkeypatch):
    """As a mounted disk: what is in it may be renamed, the folder itself may not."""
    path, _ = back_up(lived_in)
    disk = tmp_path / "disk"
    lived_in.MEDIA_ROOT.rename(disk)
    lived_in.MEDIA_ROOT.symlink_to(disk)
    (disk / "imports" / "x" / "rows.jsonl").write_text("lost\n")
    (disk / "lost+found").mkdir()
    rename = Path.rename

    def refused(self, target):
        if self.resolve() == disk:
            raise OSError(16, "Device or resource busy", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    done = restore(path, wipe=True, force=True)
    assert lived_in.MEDIA_ROOT.is_symlink()
    assert (disk / "imports" / "x" / "rows.jsonl").read_text() == "kept\n"
    assert (Path(done.files_before) / "imports" / "x" / "rows.jsonl").read_text() == "lost\n"
    assert back_up(lived_in, "two.zip")[1].files == archive.read_manifest(path).files


def test_files_that_find_no_room_are_a_refusal_and_nothing_changes(lived_in, tmp_path):
    path, _ = back_up(lived_in)
    before = digests()
    lived_in.MEDIA_ROOT = tmp_path / "a file" / "files"
    (tmp_path / "a file").write_text("")
    with pytest.raises(NotPossible, match="could not be unpacked"):
        restore(path, wipe=True, force=True)
    assert digests() == before


@pytest.mark.parametrize("name", ["../../out.txt", "/tmp/out.txt", "a/../../../out.txt"])
def test_an_entry_that_leads_out_of_the_folder_of_files_is_refused(lived_in, name):
    path, manifest = back_up(lived_in)
    before = digests()
    manifest.files = [archive.Kept(name, 1, sha256(b"x").hexdigest())]
    broken = path.with_name("broken.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(broken, "w") as target:
        for entry in source.infolist():
            if entry.filename == archive.MANIFEST:
                target.writestr(archive.MANIFEST, manifest.as_json())
            elif not entry.filename.startswith(archive.FILES):
                target.writestr(entry.filename, source.read(entry))
        target.writestr(f"{archive.FILES}{name}", b"x")
    with pytest.raises(archive.BadBackup, match="leads out of"):
        restore(broken, wipe=True, force=True)
    assert digests() == before
    assert not list(lived_in.MEDIA_ROOT.glob(".restore-*"))


def test_the_night_takes_one_away_that_is_not_what_was_written(lived_in, monkeypatch):
    def damaged(path):
        raise archive.BadBackup(f"{path.name}: it is not what was written")

    monkeypatch.setattr(nightly.archive, "verify", damaged)
    night = nightly.back_up(now=timezone.now())
    assert (night.ok, nightly.stored()) == (False, [])


def test_the_night_takes_away_what_a_killed_writer_has_left(lived_in):
    nightly.folder().mkdir()
    old, young = (nightly.folder() / f".synthpai-2026.zip.{name}.part" for name in ("old", "young"))
    for one in (old, young):
        one.write_bytes(b"half")
    os.utime(old, (0, 0))
    nightly.back_up(now=timezone.now())
    assert [old.exists(), young.exists()] == [False, True]


def test_a_newest_backup_that_is_damaged_hides_no_good_one(lived_in):
    now = timezone.now()
    nightly.back_up(now=now)
    (nightly.folder() / nightly.file_name(now + timedelta(seconds=5))).write_bytes(b"half")
    assert nightly.warning(timezone.now()) == ""


def test_a_database_that_breaks_off_is_said_and_noted(lived_in):
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 1")
    try:
        night = nightly.back_up(now=timezone.now())
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")
    assert not night.ok
    assert "database could not be read" in night.said
    assert nightly.last_night() == night
