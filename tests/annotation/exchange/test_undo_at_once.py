"""An undo while others write: it waits for nobody long, and nobody's work is lost to it."""

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotation.exchange import undo_rows, undoing, uploads
from annotation.models import Annotation, Suggestion
from simulation.models import Comment
from tests.annotation.exchange.digests import digests
from tests.annotation.exchange.samples import guess, label, lines, review, row
from tests.integration.conftest import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def imported(researcher, corpus, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    rows = [row(0, guesses=[guess()], reviews={"human": review(age=label("30", 1, 5))})]
    one = uploads.receive(
        by=researcher, corpus=corpus, file=SimpleUploadedFile("rows.jsonl", lines(*rows).encode())
    )
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    return one


@pytest.fixture
def other():
    with psycopg.connect(database_url()) as another:
        yield another


SUGGESTION = """
INSERT INTO annotation_suggestion
    (comment_id, tagger, batch, attribute, position, guesses, hardness_word, extra, created_at)
VALUES (%s, 'another', '', 'age', 0, '[]', '', '{}', now())
"""


def test_whoever_is_submitting_is_not_made_to_wait_for_long(imported, researcher, other, monkeypatch):
    monkeypatch.setattr(undo_rows, "LOCK_PATIENCE", "50ms")
    before = digests()
    other.execute("LOCK TABLE annotation_annotationevent IN ROW EXCLUSIVE MODE")  # as an insert does
    with pytest.raises(undoing.NotPossible, match="Others are writing"):
        undoing.undo(by=researcher, one=imported)
    other.rollback()
    assert digests() == before
    undoing.undo(by=researcher, one=imported)
    assert not Annotation.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_what_somebody_writes_after_the_look_and_before_the_end_refuses_it(
    imported, researcher, other, monkeypatch
):
    before = digests()
    comment = Comment.objects.get().pk

    def looked(one):
        found = look(one)
        other.execute(SUGGESTION, [comment])
        other.commit()
        return found

    look = undoing.obstacles
    monkeypatch.setattr(undoing, "obstacles", looked)
    with pytest.raises(undoing.NotPossible, match="built on this import just now"):
        undoing.undo(by=researcher, one=imported)
    Suggestion.objects.filter(tagger="another").delete()
    assert digests() == before


def test_what_comes_too_late_is_refused_by_the_database(imported, researcher, other):
    comment = Comment.objects.get().pk
    undoing.undo(by=researcher, one=imported)
    other.execute(SUGGESTION, [comment])
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        other.commit()


def test_two_workers_at_one_undo_do_it_once(imported, researcher, other):
    undoing.ask(by=researcher, one=imported, typed="rows.jsonl")
    other.execute("SELECT pg_advisory_xact_lock(%s, %s)", [uploads.LOCK_OF_UPLOADS, imported.pk])
    undoing.run(import_id=imported.pk)
    imported.refresh_from_db()
    assert imported.is_being_undone
    assert undoing.stale() == []
    with pytest.raises(undoing.Busy):
        undoing.undo(by=researcher, one=imported)
    other.rollback()
    assert undoing.stale() == [imported.pk]
