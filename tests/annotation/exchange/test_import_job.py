"""An import as a job: how far it is, cancelled at any point, every problem listed, looked at first."""

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from redis.exceptions import ConnectionError as NoBroker

from annotation.exchange import problem_list, progress, uploads
from annotation.exchange.journal import Journal
from annotation.exchange.upsert import BATCH
from annotation.models import DataImport
from simulation.models import AuditEntry, Comment, Corpus
from tests.annotation.exchange.digests import digests
from tests.annotation.exchange.samples import lines, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def receive(researcher, corpus, settings, tmp_path):
    """`receive(rows)` uploads rows of the flat layout, or a text as it is."""
    settings.MEDIA_ROOT = tmp_path

    def received(rows=None, name="rows.jsonl", **fields):
        text = rows if isinstance(rows, str) else lines(*(rows or [row()]))
        file = SimpleUploadedFile(name, text.encode())
        return uploads.receive(by=researcher, corpus=corpus, file=file, **fields)

    return received


def ran(one):
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    return one


@pytest.fixture
def heard(monkeypatch):
    """What the broker was told, every time; `heard.ask(n)` asks to cancel at the nth word."""

    class Broker(list):
        at, one = None, None

        def set(self, key, value, ex):
            assert ex <= 60
            self.append(progress.Progress(**progress.json.loads(value)))
            if len(self) == self.at:
                DataImport.objects.filter(pk=self.one.pk).update(cancel_asked_at=timezone.now())

    broker = Broker()
    monkeypatch.setattr(progress, "broker", lambda: broker)
    monkeypatch.setattr(progress, "EVERY", 0)
    return broker


def test_it_tells_how_much_is_checked_and_how_many_rows_are_stored(receive, heard):
    one = receive([row(number) for number in range(2 * BATCH)])
    assert one.size == Path(one.path).stat().st_size
    assert ran(one).state == "done"
    checked = [word for word in heard if word.stage == "checking"]
    stored = [word for word in heard if word.stage == "storing"]
    assert checked[-1].percent == stored[-1].percent == 100
    assert 0 < checked[len(checked) // 2].percent < 100
    written = [word.rows for word in stored]
    assert written == sorted(written)
    assert written[-1] > 2 * 2 * BATCH


def test_a_silent_broker_is_asked_once_and_stops_nothing(receive, monkeypatch):
    asked = []

    def broker():
        asked.append(1)
        raise NoBroker("away")

    monkeypatch.setattr(progress, "broker", broker)
    monkeypatch.setattr(progress, "EVERY", 0)
    one = receive([row(number) for number in range(200)])
    assert progress.of(one) is None
    assert ran(one).state == "done"
    assert len(asked) == 2


@pytest.mark.parametrize("at", [1, 2, 5, 8, 11, 14])
def test_cancelled_at_any_point_nothing_is_left(receive, heard, at):
    empty = digests()
    one = receive([row(number) for number in range(100)])
    heard.at, heard.one = at, one
    assert ran(one).state == "cancelled"
    assert len(heard) == at
    assert one.finished_at is not None
    assert (one.counts, one.made) == ({}, {})
    assert digests() == empty


def test_a_wish_to_cancel_at_the_very_end_is_heard(receive, monkeypatch):
    empty = digests()
    one = receive([row(number) for number in range(10)])
    close = Journal.close

    def closed(journal):
        DataImport.objects.filter(pk=one.pk).update(cancel_asked_at=timezone.now())
        return close(journal)

    monkeypatch.setattr(Journal, "close", closed)
    assert ran(one).state == "cancelled"
    assert (one.counts, one.made, digests()) == ({}, {}, empty)


def test_a_wish_to_cancel_a_look_at_the_very_end_is_heard(receive, monkeypatch):
    one = receive(dry_run=True)
    usual = progress.Reporter.last_look

    def looked(reporter):
        DataImport.objects.filter(pk=one.pk).update(cancel_asked_at=timezone.now())
        usual(reporter)

    monkeypatch.setattr(progress.Reporter, "last_look", looked)
    assert ran(one).state == "cancelled"
    assert one.counts == {}


def test_what_is_removed_while_a_file_refers_to_it_ends_the_import_with_a_word(receive, monkeypatch):
    empty = digests()
    one = receive([row(number) for number in range(10)])
    close = Journal.close

    def closed(journal):
        with connection.cursor() as cursor:  # as a transaction that commits meanwhile
            cursor.execute("UPDATE simulation_comment SET profile_id = 0")
        return close(journal)

    monkeypatch.setattr(Journal, "close", closed)
    assert ran(one).state == "failed"
    assert "was removed while it was imported" in one.reason
    assert (one.counts, one.made, digests()) == ({}, {}, empty)


def test_one_that_waits_is_cancelled_at_once(receive, researcher):
    one = receive()
    uploads.cancel(by=researcher, one=one)
    assert (one.state, one.finished_at is not None) == ("cancelled", True)
    assert AuditEntry.objects.filter(action="import.cancelled").count() == 1
    assert ran(one).state == "cancelled"
    assert not Comment.objects.exists()


def test_one_that_is_over_cannot_be_cancelled(receive, researcher):
    one = ran(receive())
    with pytest.raises(uploads.NotPossible, match="over already"):
        uploads.cancel(by=researcher, one=one)
    assert ran(one).state == "done"


def test_a_wish_to_cancel_that_a_dead_worker_did_not_hear_is_heard_by_the_next(receive):
    one = receive()
    DataImport.objects.update(state="running", cancel_asked_at=timezone.now())
    assert ran(one).state == "cancelled"


def bad_rows(count):
    return [row(number, text=None, username=f"=Name{number}") for number in range(count)]


def listed(one):
    with uploads.problem_file(one).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_every_problem_is_in_the_list_with_file_line_and_field(receive):
    one = ran(receive(bad_rows(250)))
    assert (one.state, len(one.problems), one.counts["problems"]) == ("invalid", 100, 250)
    table = listed(one)
    assert table[0] == ["file", "line", "field", "message"]
    assert len(table) == 251
    assert table[250] == ["rows.jsonl", "250", "text", "is missing"]


def test_a_cell_that_begins_like_a_formula_is_guarded(receive):
    one = ran(receive(bad_rows(1), name="=cmd.jsonl"))
    assert listed(one)[1][0] == "'=cmd.jsonl"


def test_the_longest_list_says_how_many_it_leaves_out(receive, monkeypatch):
    monkeypatch.setattr(problem_list, "LONGEST", 10)
    table = listed(ran(receive(bad_rows(25))))
    assert len(table) == 12
    assert table[-1][-1] == "15 more problems, not listed"


def test_a_valid_file_has_no_list_and_a_stopped_import_leaves_no_piece_of_one(receive, heard):
    assert not uploads.has_problem_file(ran(receive()))
    one = receive(bad_rows(100))
    heard.clear()
    heard.at, heard.one = 3, one
    assert ran(one).state == "cancelled"
    assert [path.name for path in Path(one.path).parent.iterdir()] == ["rows.jsonl"]


def test_the_command_writes_the_list_where_it_is_told(tmp_path):
    (tmp_path / "bad.jsonl").write_text(lines(*bad_rows(120)))
    (tmp_path / "good.jsonl").write_text(lines(row()))
    found = tmp_path / "found.csv"
    said = {"corpus": "harbour", "problems": found, "dry_run": True}
    with pytest.raises(CommandError, match="120 problems"):
        call_command("import_synthpai", tmp_path / "bad.jsonl", **said)
    assert len(found.read_text().splitlines()) == 121
    call_command("import_synthpai", tmp_path / "good.jsonl", **said)
    assert found.read_text().splitlines() == ["file,line,field,message"]
    with pytest.raises(CommandError, match="cannot be written"):
        call_command(
            "import_synthpai",
            tmp_path / "good.jsonl",
            corpus="harbour",
            problems=tmp_path / "none" / "found.csv",
        )


def test_what_was_looked_at_is_imported_without_another_upload(receive, researcher):
    look = ran(receive(dry_run=True))
    assert not Comment.objects.exists()
    assert look.made == {}
    real = uploads.again(by=researcher, one=look)
    assert (real.path, real.dry_run, real.size) == (look.path, False, look.size)
    assert ran(real).state == "done"
    assert Comment.objects.count() == 1
    assert AuditEntry.objects.filter(action="import.queued").count() == 2


def test_only_a_valid_look_whose_file_is_there_can_be_imported(receive, researcher):
    with pytest.raises(uploads.NotPossible, match="looked at and found valid"):
        uploads.again(by=researcher, one=ran(receive()))
    with pytest.raises(uploads.NotPossible, match="looked at and found valid"):
        uploads.again(by=researcher, one=ran(receive(bad_rows(1), dry_run=True)))
    look = ran(receive(dry_run=True))
    Path(look.path).unlink()
    with pytest.raises(uploads.NotPossible, match="gone from the server"):
        uploads.again(by=researcher, one=look)


def test_a_corpus_that_went_into_the_trash_meanwhile_is_named(receive, corpus):
    one = receive()
    Corpus.objects.update(trashed_at=timezone.now())
    assert ran(one).state == "failed"
    assert "in the trash" in one.reason


def test_files_go_thirty_days_after_the_end_and_rows_stay(receive, researcher):
    now = timezone.now()
    old, look, waiting = ran(receive()), ran(receive(dry_run=True)), receive()
    again = uploads.again(by=researcher, one=look)
    DataImport.objects.filter(pk__in=[old.pk, look.pk]).update(finished_at=now - timedelta(days=31))
    orphan = Path(old.path).parent.with_name("orphan")
    orphan.mkdir()
    assert uploads.forget_files(now=now) == 0  # the folders are of today: something may be going on in them
    later = now + timedelta(days=31)
    DataImport.objects.filter(pk=again.pk).update(finished_at=later)
    assert uploads.forget_files(now=later) == 2
    assert uploads.forget_files(now=later) == 0
    assert not Path(old.path).parent.exists()
    assert not orphan.exists()
    assert Path(look.path).exists()
    assert Path(waiting.path).exists()
    assert dict(DataImport.objects.values_list("pk", "path")) == {
        old.pk: "",
        look.pk: look.path,
        waiting.pk: waiting.path,
        again.pk: again.path,
    }


def test_tables_that_nobody_explained_end_with_their_files(receive):
    one = receive("colour,shape\nred,round\n", name="table.csv")
    assert uploads.ASKS in one.options
    later = timezone.now() + timedelta(days=31)
    assert uploads.forget_files(now=later) == 1
    one.refresh_from_db()
    assert (one.state, one.path) == ("cancelled", "")
