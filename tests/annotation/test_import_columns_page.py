"""Saying on a page what the columns of an uploaded table stand for."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.exchange import uploads
from annotation.models import ColumnMapping, DataImport
from annotation.views import exchange
from simulation.models import AuditEntry, Comment
from simulation.selectors import workers
from tests.annotation.exchange.samples import lines, row
from tests.annotation.exchange.tables import COLUMNS, MAPPING, ROWS, table

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_uploads(settings, tmp_path, monkeypatch):
    """Uploads go into a folder of the test; no worker is told."""
    settings.MEDIA_ROOT = tmp_path
    told = []
    monkeypatch.setattr(exchange.run_import, "delay_on_commit", told.append)
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    return told


@pytest.fixture
def send(client_of, researcher, corpus):
    """`send(name, content)` uploads a file and is the browser and where it was led."""

    def sent(name="table.csv", content=None):
        browser = client_of(researcher)
        file = SimpleUploadedFile(name, (table() if content is None else content).encode())
        answer = browser.post(reverse("imports", args=[corpus.public_id]), {"file": file})
        assert answer.status_code == 302
        return browser, answer["Location"]

    return sent


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def filled(page, **changes):
    """What a browser would send of the form as it opened."""
    held = {field.html_name: field.value() or "" for field in page.context["form"]}
    return held | changes


def chosen(page):
    return {name: value for name, value in filled(page).items() if value}


def test_a_table_leads_to_a_page_with_its_first_rows_and_a_proposal(send, own_uploads):
    browser, where = send()
    one = DataImport.objects.get()
    assert where == reverse("import_columns", args=[one.public_id])
    page = browser.get(where)
    assert "table (CSV) with 8 columns" in words(page)
    assert "The harbour is wet again." in words(page)
    proposed = {name: value.removeprefix("column:") for name, value in chosen(page).items()}
    assert proposed == MAPPING
    assert own_uploads == []


def test_what_is_filled_in_is_shown_at_once(send):
    browser, where = send()
    form = browser.get(where).context["form"]
    assert (form.says_profiles(), form.says_guesses()) == (True, False)


def test_files_of_known_layouts_are_not_asked_about(send, own_uploads):
    _, where = send("rows.jsonl", lines(row()))
    one = DataImport.objects.get()
    assert where == reverse("import_status", args=[one.public_id])
    assert own_uploads == [one.pk]


def test_looking_first_is_the_first_button_and_changes_nothing(send, own_uploads):
    browser, where = send()
    answer = browser.post(where, filled(browser.get(where), act="look"))
    one = DataImport.objects.get()
    assert answer["Location"] == reverse("import_status", args=[one.public_id])
    assert (one.dry_run, one.options, own_uploads) == (True, {"mapping": MAPPING}, [one.pk])
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert one.state == DataImport.DONE
    assert not Comment.objects.exists()
    uploads.run(import_id=uploads.again(by=one.by, one=one).pk)
    assert Comment.objects.count() == 3


def test_the_import_follows_what_was_said(send):
    browser, where = send()
    said = filled(browser.get(where), act="import", thread_id="", **{"same:thread_id": "all of them"})
    browser.post(where, said)
    one = DataImport.objects.get()
    uploads.run(import_id=one.pk)
    assert set(Comment.objects.values_list("thread__external_id", flat=True)) == {"all of them"}


def test_what_is_said_is_remembered_for_the_next_file_with_these_columns(send, researcher):
    browser, where = send()
    said = filled(browser.get(where), act="look", name="the forum", created_at="column:Mood")
    browser.post(where, said)
    assert ColumnMapping.objects.get().mapping == MAPPING | {"created_at": "Mood"}
    assert AuditEntry.objects.get(action="mapping.added").actor == researcher
    browser, where = send(content=table([one[::-1] for one in ROWS], COLUMNS[::-1]))
    page = browser.get(where)
    assert "as in “the forum”" in words(page)
    assert chosen(page)["created_at"] == "column:Mood"
    browser.post(where, filled(page, act="look", created_at=""))
    assert ColumnMapping.objects.get().mapping == MAPPING


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": ""}, "Say which column holds the text"),
        ({"username": ""}, "Say which column names the author"),
        ({"thread_id": ""}, "Say which column names the thread"),
        ({"same:thread_id": "t"}, "not both"),
        ({"text": "column:gone"}, "Select a valid choice"),
        ({"name": "x" * 81}, "at most 80 characters"),
    ],
)
def test_what_cannot_be_meant_is_said_beside_the_field(send, own_uploads, changes, message):
    browser, where = send()
    answer = browser.post(where, filled(browser.get(where), **changes))
    assert answer.status_code == 422
    assert message in words(answer)
    assert own_uploads == []
    assert uploads.ASKS in DataImport.objects.get().options


def test_no_worker_takes_up_a_file_that_waits_for_its_columns(send):
    send()
    one = DataImport.objects.get()
    DataImport.objects.update(created_at="2020-01-01T00:00Z")
    assert uploads.stale() == []
    uploads.run(import_id=one.pk)
    one.refresh_from_db()
    assert one.state == DataImport.QUEUED


def test_the_status_of_a_file_that_waits_is_the_question(send):
    browser, where = send()
    status = reverse("import_status", args=[DataImport.objects.get().public_id])
    assert browser.get(status)["Location"] == where


def test_a_file_that_waits_may_be_discarded(send):
    browser, where = send()
    answer = browser.post(where, {"act": "discard"})
    assert answer.status_code == 302
    assert DataImport.objects.get().state == DataImport.CANCELLED


def test_after_a_look_the_columns_can_be_said_anew(send):
    browser, where = send()
    browser.post(where, filled(browser.get(where), act="look", created_at="column:Mood"))
    first = DataImport.objects.get()
    uploads.run(import_id=first.pk)
    first.refresh_from_db()
    assert first.state == DataImport.INVALID
    assert where in browser.get(reverse("import_status", args=[first.public_id])).content.decode()
    page = browser.get(where)
    assert chosen(page)["created_at"] == "column:Mood"
    browser.post(where, filled(page, act="import", created_at=""))
    second = DataImport.objects.exclude(pk=first.pk).get()
    assert (second.path, second.options) == (first.path, {"mapping": MAPPING})
    uploads.run(import_id=second.pk)
    assert Comment.objects.count() == 3


def test_a_file_that_is_gone_is_said_to_be(send, tmp_path):
    browser, where = send()
    next((tmp_path / "imports").glob("*/table.csv")).unlink()
    answer = browser.get(where, follow=True)
    assert "gone from the server" in words(answer)
    one = DataImport.objects.get()
    page = browser.get(reverse("import_status", args=[one.public_id]))
    assert "gone from the server" in words(page)
    assert "Cancel the import" in words(page)
    browser.post(reverse("import_cancel", args=[one.public_id]))
    one.refresh_from_db()
    assert one.state == DataImport.CANCELLED


def test_the_list_says_that_a_file_waits_for_a_word(send, corpus):
    browser, _ = send()
    page = words(browser.get(reverse("imports", args=[corpus.public_id])))
    assert "asks for its columns" in page


@pytest.mark.parametrize("who", ["stranger", "labeler", "adjudicator"])
def test_others_do_not_find_it(send, client_of, request, who):
    _, where = send()
    assert client_of(request.getfixturevalue(who)).get(where).status_code in (403, 404)
