"""What becomes of an upload whose import stops, and of a name that cannot be kept."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError

from annotation.exchange import dataset, uploads
from annotation.models import DataImport
from simulation.models import Thread
from tests.annotation.exchange.samples import lines, row

pytestmark = pytest.mark.django_db


@pytest.fixture
def receive(researcher, corpus, settings, tmp_path):
    """`receive(name)` uploads one row under this name."""
    settings.MEDIA_ROOT = tmp_path

    def received(name):
        return uploads.receive(
            by=researcher, corpus=corpus, file=SimpleUploadedFile(name, lines(row()).encode())
        )

    return received


@pytest.fixture
def stopping(monkeypatch):
    """`stopping(error)` makes imports write something, then stop on the error."""

    def stops(error):
        def half_an_import(*, corpus_name, **_):
            corpus = dataset.Corpus.objects.get(name=corpus_name)
            Thread.objects.create(corpus=corpus, external_id="half", source="flat")
            raise error

        monkeypatch.setattr(dataset, "import_paths", half_an_import)

    return stops


def test_an_error_of_ours_ends_the_row_with_a_reason_and_takes_the_import_back(receive, stopping, caplog):
    stopping(RuntimeError("unforeseen"))
    one = receive("rows.jsonl")
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert (one.state, one.attempts) == (DataImport.FAILED, 1)
    assert one.reason.startswith("The import stopped on an error of ours; nothing was changed.")
    assert one.finished_at is not None
    assert not Thread.objects.exists()
    assert "unforeseen" in caplog.text


def test_a_lost_database_leaves_the_row_to_the_sweep(receive, stopping):
    stopping(OperationalError("server closed the connection"))
    one = receive("rows.jsonl")
    with pytest.raises(OperationalError):
        uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert (one.state, one.finished_at) == (DataImport.RUNNING, None)


def test_a_name_keeps_its_letters_up_to_200_bytes(receive):
    name = "é" * 97 + ".jsonl"
    one = receive(name)
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert (one.file_name, one.state) == (name, DataImport.DONE)


def test_a_longer_name_is_refused_before_anything_is_stored(receive, tmp_path):
    with pytest.raises(uploads.NameTooLong, match="The file's name has 206 bytes; at most 200 are possible"):
        receive("é" * 100 + ".jsonl")
    assert not DataImport.objects.exists()
    assert not list(tmp_path.iterdir())
