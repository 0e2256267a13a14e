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
from django.db import connection
from django.utils import timezone

from annotation.models import AnnotationEvent, Tally
from simulation.models import AuditEntry, Comment, User
from synthpai_web.backups import archive, dump, nightly
from synthpai_web.backups.restore import NotPossible, restore
from tests.factories.annotation import queue_over
from tests.factories.simulation import CommentFactory
from tests.integration.backups_scene import HOSTILE, back_up, digests, live_in
from tests.integration.conftest import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def lived_in(settings, tmp_path):
    return live_in(settings, tmp_path)


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
