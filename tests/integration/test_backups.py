"""Everything in one file, and the way back: dump, wipe, restore, the same digests."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from datetime import timedelta
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import AnnotationEvent, Tally
from simulation.models import AuditEntry, Comment, User
from synthpai_web.backups import archive, dump, nightly, tables
from synthpai_web.backups.restore import BY_MIGRATIONS, NotPossible, restore
from tests.factories.annotation import queue_over
from tests.factories.overview import worked_in
from tests.factories.simulation import CommentFactory, MembershipFactory, ModelCallFactory
from tests.integration.conftest import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

HOSTILE = "tab\there, back\\slash, \\N, “quotes”, nul-free \x01, 🙂 and a\nnew line\r"


@pytest.fixture
def lived_in(settings, tmp_path):
    """An installation in which people have worked: answers, events, counts, calls, files."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.BACKUP_DIR = tmp_path / "backups"
    (settings.MEDIA_ROOT / "imports" / "x").mkdir(parents=True)
    (settings.MEDIA_ROOT / "imports" / "x" / "rows.jsonl").write_text("kept\n")
    people = [MembershipFactory(role="labeler").person for _ in range(2)]
    queue = queue_over(comments=6, people=2)
    worked_in(queue, *people)
    root = CommentFactory(thread__corpus=queue.corpus, text=HOSTILE)
    CommentFactory(thread=root.thread, parent=root, extra={"time": 1.10, "deep": [None, {"a": "\\"}]})
    ModelCallFactory()
    return settings


def digests():
    """Table -> rows and digest, as they are now."""
    with transaction.atomic():
        tables.fix_formats()
        keys = tables.keys_of_all()
        return {
            name: tables.digest(name, columns, keys.get(name, []))
            for name, columns in tables.columns_of_all().items()
        }


def back_up(settings, name="one.zip"):
    path = Path(settings.BACKUP_DIR) / name
    return path, dump.write(path)


def test_dump_wipe_restore_gives_the_same_digests(lived_in):
    before = digests()
    path, manifest = back_up(lived_in)
    assert {one.name: (one.rows, one.sha256) for one in manifest.tables} == before
    User.objects.update(first_name="gone wrong")
    Comment.objects.update(text="lost")
    (lived_in.MEDIA_ROOT / "imports" / "x" / "rows.jsonl").write_text("lost\n")
    done = restore(path, wipe=True, force=True)
    assert digests() == before
    assert (lived_in.MEDIA_ROOT / "imports" / "x" / "rows.jsonl").read_text() == "kept\n"
    assert (Path(done.files_before) / "imports" / "x" / "rows.jsonl").read_text() == "lost\n"
    assert Comment.objects.filter(text=HOSTILE).count() == 1


def test_after_a_restore_numbers_triggers_and_constraints_are_there(lived_in, labeler):
    path, _ = back_up(lived_in)
    restore(path, wipe=True, force=True)
    CommentFactory()  # a number that nobody has yet
    with pytest.raises(Exception, match="append-only"):
        AnnotationEvent.objects.update(source="human")
    slots = {one.pk: one.slots for one in Tally.objects.filter(person=None)}
    queue_over(comments=3)
    new = Tally.objects.filter(person=None).exclude(pk__in=slots)
    assert [one.slots for one in new] == [3]
    call_command("check_events", stdout=StringIO())
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'O'")
        assert cursor.fetchone()[0] == 0
        cursor.execute("SELECT count(*) FROM pg_constraint WHERE NOT convalidated")
        assert cursor.fetchone()[0] == 0


def test_equal_databases_have_equal_digests_and_another_row_another_one(lived_in):
    _, one = back_up(lived_in, "one.zip")
    _, other = back_up(lived_in, "two.zip")
    assert one.digest == other.digest
    CommentFactory()
    assert back_up(lived_in, "three.zip")[1].digest != one.digest


def test_a_database_with_rows_is_not_overwritten_without_a_word(lived_in):
    path, _ = back_up(lived_in)
    before = digests()
    with pytest.raises(NotPossible, match="not empty"):
        restore(path, force=True)
    assert digests() == before


def test_others_that_are_connected_are_in_the_way(lived_in):
    path, _ = back_up(lived_in)
    waiting = (
        "import psycopg, sys, time; c = psycopg.connect(sys.argv[1]); print('in', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", waiting, database_url()], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline().strip() == b"in"
        with pytest.raises(NotPossible, match="other connection"):
            restore(path, wipe=True)
    finally:
        other.kill()
        other.communicate()


def damaged(path, how):
    """The backup with something wrong in it."""
    broken = path.with_name("broken.zip")
    if how == "cut short":
        broken.write_bytes(path.read_bytes()[:-2000])
    elif how == "no zip":
        broken.write_bytes(b"this is text")
    else:
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(broken, "w") as target:
            for entry in source.infolist():
                content = source.read(entry)
                if how == "a row changed" and entry.filename.endswith("simulation_comment.copy"):
                    content = content.replace(b"night bus", b"night tram")
                if how == "a table missing" and entry.filename.endswith("simulation_comment.copy"):
                    continue
                if how == "from the future" and entry.filename == archive.MANIFEST:
                    said = json.loads(content)
                    said["migrations"].append(["simulation", "9999_from_the_future"])
                    content = json.dumps(said).encode()
                target.writestr(entry.filename, content)
    return broken


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("cut short", "damaged or not a backup"),
        ("no zip", "damaged or not a backup"),
        ("a row changed", "is not what was written"),
        ("a table missing", "entries and manifest differ"),
        ("from the future", "newer than this program"),
    ],
)
def test_a_damaged_backup_is_refused_and_nothing_changes(lived_in, how, said):
    path, _ = back_up(lived_in)
    before = digests()
    with pytest.raises((archive.BadBackup, NotPossible), match=said):
        restore(damaged(path, how), wipe=True, force=True)
    assert digests() == before


def test_a_backup_that_lies_about_a_reference_leaves_everything_as_it_was(lived_in):
    """Vouched for, and yet no database of ours: a comment whose thread is not there."""
    path, manifest = back_up(lived_in)
    before = digests()
    threads = next(one for one in manifest.tables if one.name == "simulation_thread")
    empty = archive.Table(threads.name, threads.columns, 0, sha256(b"").hexdigest())
    manifest.tables[manifest.tables.index(threads)] = empty
    broken = path.with_name("broken.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(broken, "w") as target:
        for entry in source.infolist():
            if entry.filename == archive.MANIFEST:
                target.writestr(archive.MANIFEST, manifest.as_json())
            else:
                is_empty = entry.filename.endswith("/simulation_thread.copy")
                target.writestr(entry.filename, b"" if is_empty else source.read(entry))
    with pytest.raises(NotPossible, match="as it was"):
        restore(broken, wipe=True, force=True)
    assert digests() == before


def test_a_writer_that_is_killed_leaves_no_backup(lived_in):
    target = Path(lived_in.BACKUP_DIR) / "killed.zip"
    environment = {**os.environ, "DATABASE_URL": database_url(), "MEDIA_ROOT": str(lived_in.MEDIA_ROOT)}
    (lived_in.MEDIA_ROOT / "large").write_bytes(os.urandom(1 << 20) * 200)
    writer = subprocess.Popen(
        [sys.executable, "manage.py", "backup", "--to", str(target)],
        env=environment,
        cwd=lived_in.BASE_DIR,
        stdout=subprocess.DEVNULL,
    )
    while writer.poll() is None and not list(target.parent.glob(".killed.zip.*.part")):
        time.sleep(0.01)
    assert writer.poll() is None, "it was done before it could be killed"
    writer.kill()
    writer.wait()
    assert not target.exists()


def test_a_place_that_cannot_be_written_to_is_named(lived_in, tmp_path):
    (tmp_path / "a file").write_text("")
    with pytest.raises(archive.BadBackup, match="could not be written"):
        dump.write(tmp_path / "a file" / "one.zip")


def test_the_night_keeps_a_record_reads_back_and_forgets_what_is_old(lived_in):
    now = timezone.now()
    nightly.folder().mkdir(parents=True)
    old = nightly.folder() / nightly.file_name(now - timedelta(days=lived_in.BACKUP_KEEP + 1))
    young = nightly.folder() / nightly.file_name(now - timedelta(days=1))
    for one in (old, young):
        one.write_bytes(b"")
    assert "There is no backup" in nightly.warning(now)
    night = nightly.back_up(now=now)
    assert (night.ok, nightly.last_night()) == (True, night)
    assert [old.exists(), young.exists()] == [False, True]
    assert nightly.stored()[0].name == night.file
    assert nightly.warning(timezone.now()) == ""
    assert "older than a day" in nightly.warning(now + timedelta(hours=40))
    assert AuditEntry.objects.filter(action="backup.made").count() == 1


def test_a_night_that_fails_says_why_and_forgets_nothing(lived_in, monkeypatch):
    now = timezone.now()
    good = nightly.back_up(now=now)
    lived_in.BACKUP_KEEP = 1
    shutil.rmtree(lived_in.MEDIA_ROOT)
    lived_in.MEDIA_ROOT.write_text("")

    def no_room(*_: object, **__: object) -> None:
        raise archive.BadBackup("no room is left")

    monkeypatch.setattr(nightly.dump, "write", no_room)
    night = nightly.back_up(now=now + timedelta(days=9))
    assert (night.ok, night.said) == (False, "no room is left")
    assert (nightly.folder() / good.file).exists()


def test_the_commands_say_what_they_did(lived_in, capsys):
    call_command("backup", to=lived_in.BACKUP_DIR / "c.zip")
    call_command("verify_backup", lived_in.BACKUP_DIR / "c.zip")
    call_command("restore", lived_in.BACKUP_DIR / "c.zip", wipe=True, yes=True, force=True)
    said = capsys.readouterr().out
    assert said.count("Digest of the database") == 2
    assert "Restored" in said
    with pytest.raises(CommandError, match="no such file"):
        call_command("verify_backup", lived_in.BACKUP_DIR / "none.zip")


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
