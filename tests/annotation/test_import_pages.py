"""The pages of an import: look first, import, cancel, every problem, undo."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.exchange import progress, undoing, uploads
from annotation.models import DataImport
from annotation.views import exchange, import_acts
from simulation.domain.roles import Role
from simulation.models import Comment
from simulation.selectors import workers
from tests.annotation.exchange.samples import guess, lines, row
from tests.factories.annotation import queue_over
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def told(settings, tmp_path, monkeypatch):
    """What workers were told to do: ("import" or "undo", key)."""
    settings.MEDIA_ROOT = tmp_path
    told = []
    monkeypatch.setattr(exchange.run_import, "delay_on_commit", lambda key: told.append(("import", key)))
    monkeypatch.setattr(import_acts.run_undo, "delay_on_commit", lambda key: told.append(("undo", key)))
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    return told


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


@pytest.fixture
def send(browser, corpus):
    """`send(rows, button)` uploads a file; the import as it is when a worker has been at it."""

    def sent(*rows, run=True, **button):
        file = SimpleUploadedFile("rows.jsonl", lines(*rows).encode())
        answer = browser.post(reverse("imports", args=[corpus.public_id]), {"file": file, **button})
        one = DataImport.objects.latest("pk")
        assert answer["Location"] == at("import_status", one)
        if run:
            uploads.run(import_id=one.pk)
            one.refresh_from_db()
        return one

    return sent


def at(name, one):
    return reverse(name, args=[one.public_id])


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_first_button_only_looks(browser, corpus):
    page = browser.get(reverse("imports", args=[corpus.public_id])).content.decode()
    first = re.search(r"<button[^>]*>", page[page.index('name="file"') :])[0]
    assert 'name="dry_run" value="on"' in first


def test_from_a_look_to_the_import_without_another_upload(browser, send, told):
    look = send(row(), dry_run="on")
    page = browser.get(at("import_status", look))
    assert "What would change" in words(page)
    assert "Import it now" in words(page)
    answer = browser.post(at("import_again", look))
    real = DataImport.objects.latest("pk")
    assert (answer["Location"], real.path) == (at("import_status", real), look.path)
    assert told == [("import", look.pk), ("import", real.pk)]
    uploads.run(import_id=real.pk)
    assert Comment.objects.count() == 1


def test_a_look_whose_file_was_forgotten_offers_nothing(browser, send):
    look = send(row(), dry_run="on")
    Path(look.path).unlink()
    assert "gone from the server" in words(browser.post(at("import_again", look), follow=True))
    DataImport.objects.update(path="")
    assert "Import it now" not in words(browser.get(at("import_status", look)))


def test_an_import_at_once_is_done_at_once(browser, send):
    one = send(row())
    page = words(browser.get(at("import_status", one)))
    assert "Imported" in page
    assert "Undo this import" in page
    assert Comment.objects.count() == 1


def test_how_far_it_is_stands_on_the_page(browser, send, monkeypatch):
    one = send(row(), run=False)
    monkeypatch.setattr(progress, "of", lambda one: progress.Progress("storing", 300, 1000, 12_345))
    DataImport.objects.update(state="running")
    page = browser.get(at("import_status", one))
    assert "30 % of the file stored 12,345 rows written" in words(page)
    assert "every 1500ms" in page.content.decode()
    part = browser.get(at("import_status", one), headers={"HX-Request": "true"})
    assert part.content.decode().strip().startswith("<section")
    assert "12,345" in words(part)


def test_cancelling_one_that_waits(browser, send):
    one = send(row(), run=False)
    assert "Cancel the import" in words(browser.get(at("import_status", one)))
    page = words(browser.post(at("import_cancel", one), follow=True))
    assert "Cancelled: nothing was changed" in page
    assert "over already" in words(browser.post(at("import_cancel", one), follow=True))


def test_one_that_a_worker_is_at_says_that_it_is_being_cancelled(browser, send):
    one = send(row(), run=False)
    DataImport.objects.update(state="running", cancel_asked_at=timezone.now())
    page = words(browser.get(at("import_status", one)))
    assert "Being cancelled" in page
    assert "Cancel the import" not in page


def test_all_problems_can_be_fetched(browser, send):
    one = send(*[row(number, text=None) for number in range(130)])
    page = words(browser.get(at("import_status", one)))
    assert "Not imported: 130 problems" in page
    assert "These are the first 100 of 130." in page
    answer = browser.get(at("import_problems", one))
    assert answer["Content-Disposition"] == 'attachment; filename="rows.jsonl.problems.csv"'
    table = b"".join(answer.streaming_content).decode().splitlines()
    assert (len(table), table[130]) == (131, "rows.jsonl,130,text,is missing")
    assert browser.get(at("import_problems", send(row()))).status_code == 404


def test_undoing_shows_what_goes_and_asks_for_the_name(browser, send, told, researcher):
    send(row(0))
    one = send(row(0, text="Another", guesses=[guess()]), row(1))
    page = words(browser.get(at("import_undo", one)))
    assert "1 comment that it made: removed for good" in page
    assert "1 comment that it changed or took away: what they were before" in page
    wrong = browser.post(at("import_undo", one), {"typed": "row"})
    assert (wrong.status_code, "is not the name" in words(wrong)) == (422, True)
    answer = browser.post(at("import_undo", one), {"typed": "rows.jsonl"})
    assert answer["Location"] == at("import_status", one)
    assert told[-1] == ("undo", one.pk)
    page = browser.get(at("import_status", one))
    assert "Being undone" in words(page)
    assert "every 1500ms" in page.content.decode()
    undoing.run(import_id=one.pk)
    page = words(browser.get(at("import_status", one)))
    assert "Undone: nothing of it is left" in page
    assert f"by {researcher.username}. The counts are those of the import." in page
    assert Comment.objects.get().text == row(0)["text"]


def test_what_stands_in_the_way_is_listed_instead_of_the_form(browser, send, corpus):
    one = send(row(0))
    page = browser.get(at("import_undo", one))
    assert 'name="typed"' in page.content.decode()
    queue_over(corpus)
    page = browser.get(at("import_undo", one))
    assert "1 item of a queue with its comments" in words(page)
    assert 'name="typed"' not in page.content.decode()
    late = browser.post(at("import_undo", one), {"typed": "rows.jsonl"})
    assert (late.status_code, "others built on it" in words(late)) == (422, True)


def test_a_refusal_that_came_in_between_is_said_on_the_page(browser, send, corpus):
    one = send(row(0))
    browser.post(at("import_undo", one), {"typed": "rows.jsonl"})
    queue_over(corpus)
    undoing.run(import_id=one.pk)
    page = words(browser.get(at("import_status", one)))
    assert "1 item of a queue with its comments" in page
    assert "Undo this import" in page


def test_what_cannot_be_undone_leads_back_with_the_reason(browser, send):
    look = send(row(), dry_run="on")
    assert "nothing to undo" in words(browser.get(at("import_undo", look), follow=True))


def test_imports_of_corpora_of_others_are_not_there(client_of, researcher, labeler, send):
    one = send(row())
    other = MembershipFactory(corpus=CorpusFactory(), role=Role.RESEARCHER.value).person
    for name in ("import_problems", "import_undo"):
        assert client_of(other).get(at(name, one)).status_code == 404
        assert client_of(labeler).get(at(name, one)).status_code == 403
    for name in ("import_cancel", "import_again", "import_undo"):
        assert client_of(other).post(at(name, one)).status_code == 404
        assert client_of(labeler).post(at(name, one)).status_code == 403


def test_older_imports_are_pages_away(browser, corpus, researcher, django_assert_max_num_queries):
    made = [
        DataImport(corpus=corpus, by=researcher, file_name=f"file{number}.json", state=DataImport.DONE)
        for number in range(45)
    ]
    DataImport.objects.bulk_create(made)
    address, seen = reverse("imports", args=[corpus.public_id]), []
    for size in (20, 20, 5):
        with django_assert_max_num_queries(14):
            page = browser.get(address).content.decode()
        found = re.findall(r"file(\d+)\.json", page)
        assert len(found) == size
        seen += found
        older = re.search(r'rel="next" href="([^"#]+)', page)
        address = reverse("imports", args=[corpus.public_id]) + older[1] if older else ""
    assert (seen, address) == ([str(number) for number in reversed(range(45))], "")


def test_a_place_that_is_none_is_the_first_page(browser, corpus, send):
    send(row())
    address = reverse("imports", args=[corpus.public_id])
    foreign = DataImport.objects.create(corpus=CorpusFactory(), by=DataImport.objects.get().by, file_name="x")
    for after in ("nothing", foreign.public_id):
        assert "rows.jsonl" in words(browser.get(address, {"after": after}))


def test_what_is_wrong_with_the_whole_file_is_said_without_a_place(browser, corpus):
    file = SimpleUploadedFile("table.xlsx", b"PK\x03\x04" + bytes(20))
    browser.post(reverse("imports", args=[corpus.public_id]), {"file": file})
    one = DataImport.objects.get()
    uploads.run(import_id=one.pk)
    page = words(browser.get(at("import_status", one)))
    assert "the file is a zip archive or a spreadsheet" in page
    assert ": the file is" not in page
