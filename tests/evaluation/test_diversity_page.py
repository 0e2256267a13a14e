"""The pages of diversity and realism: who sees them, what they say before and after counting, their files."""

import csv
import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.exchange import diversity_tables
from evaluation.forms import diversity as forms
from evaluation.models import Report
from evaluation.selectors import diversity_figures as figures
from evaluation.services import diversity_realism as comparing
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from evaluation.views import diversity as views
from simulation.domain.roles import Role
from simulation.models import AuditEntry, Profile, Thread
from simulation.selectors import workers
from tests.evaluation.diversity_scene import chatter, fill, goats_in, lines
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    RunFactory,
    RunThreadFactory,
)

pytestmark = pytest.mark.django_db
HOSTILE = "<b>sly & “long”</b>"


@pytest.fixture(autouse=True)
def told(monkeypatch, settings, tmp_path):
    """How often a worker was told; none is running unless a test says so."""
    calls = []
    monkeypatch.setattr(views.make_reports, "delay_on_commit", lambda: calls.append(1))
    monkeypatch.setattr(workers, "alive", dict)
    settings.MEDIA_ROOT = tmp_path
    return calls


@pytest.fixture
def goats(corpus):
    return goats_in(corpus)


def address(corpus, name="diversity", *more):
    return reverse(name, args=[corpus.public_id, *more])


def words(answered):
    return " ".join(re.sub(r"<[^>]+>", " ", answered.content.decode()).split())


def count(corpus, run=""):
    return reports.make(corpus, Report.DIVERSITY, {"run": run})


def rows(answered):
    return list(csv.DictReader(io.StringIO(answered.content.decode())))


def test_the_first_look_asks_a_worker_to_count(client_of, researcher, goats, told):
    page = client_of(researcher).get(address(goats))
    assert page.status_code == 200
    assert "counted for the first time" in words(page)
    assert "No worker is running." in words(page)
    assert 'hx-trigger="every 3s"' in page.content.decode()
    report = Report.objects.get(corpus=goats, kind=Report.DIVERSITY)
    assert (report.parameters, report.asked_at is not None) == ({"run": ""}, True)
    client_of(researcher).get(address(goats))
    assert len(told) == 1


def test_while_it_waits_only_the_state_is_asked_for_then_the_whole_page(client_of, researcher, goats):
    browser = client_of(researcher)
    waiting = browser.get(address(goats), headers={"HX-Request": "true"})
    assert "counted for the first time" in words(waiting)
    assert "<html" not in waiting.content.decode()
    count(goats)
    assert browser.get(address(goats), headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


def test_what_was_counted_is_shown(client_of, researcher, goats, told):
    count(goats)
    page = client_of(researcher).get(address(goats))
    said = words(page)
    assert "Up to date." in said
    assert "every 3s" not in page.content.decode()
    assert f"{goats.name} : 5 comments, 2 threads, 3 profiles." in said
    size = {line.name: line.values[0].text for line in page.context["size"]}
    assert (size["Words"], size["Different words"], size["Profiles that wrote a comment"]) == ("9", "7", "2")
    (like,) = [line.values[0] for line in page.context["words"] if line.name.startswith("Likeness")]
    assert (like.of, like.few) == ("5 of 5 comments by 2 authors", True)
    assert like.interval
    sex = next(part for part in page.context["attributes"] if part.figure == "sex")
    assert (sex.lines[0].name, sex.lines[0].values[0].text) == ("female", "66.7 %")
    assert (sex.lines[0].values[0].of, sex.lines[0].values[0].few) == ("2 of 3 profiles", True)
    assert "2 of 3 profiles, few" in said
    assert "Of 1 thread nothing says it." in said
    assert not told


def test_an_old_report_is_shown_and_counted_anew(client_of, researcher, goats, told):
    count(goats)
    CommentFactory(thread__corpus=goats)
    page = client_of(researcher).get(address(goats))
    assert "counted anew" in words(page)
    assert page.context["size"]
    assert len(told) == 1


def test_a_failure_is_said_and_can_be_tried_again(client_of, researcher, goats, told):
    Report.objects.filter(pk=count(goats).pk).update(problem=reports.STOPPED, stamp="")
    browser = client_of(researcher)
    page = browser.get(address(goats))
    assert "Not counted. It could not be counted" in words(page)
    assert not told
    again = browser.post(address(goats) + "?beside=nothere")
    assert again.headers["Location"] == address(goats)
    assert (len(told), Report.objects.get().asked_at is not None) == (1, True)


def test_an_empty_corpus_says_what_to_do(client_of, researcher, corpus):
    count(corpus)
    assert "This corpus is empty" in words(client_of(researcher).get(address(corpus)))


def test_one_author_is_shown_without_interval(client_of, researcher, corpus):
    CommentFactory(thread__corpus=corpus)
    CommentFactory(thread__corpus=corpus, username="Someone")
    count(corpus)
    said = words(client_of(researcher).get(address(corpus)))
    assert "All texts are of one author: no interval can be given." in said
    assert "There are no approved profiles" in said


def run_in(corpus):
    run = RunFactory(corpus=corpus, name=HOSTILE)
    thread = Thread.objects.get(external_id="odd")
    author = Profile.objects.filter(corpus=corpus).first()
    RunThreadFactory(run=run, thread=thread, target="sex", author=author)
    return run


def test_a_run_beside_its_corpus(client_of, researcher, goats, told):
    run = run_in(goats)
    where = address(goats) + f"?run={run.public_id}&beside={goats.public_id}"
    browser = client_of(researcher)
    browser.get(where)
    assert {one.parameters["run"] for one in Report.objects.all()} == {"", run.public_id}
    reports.make_asked()
    page = browser.get(where)
    comments = next(line for line in page.context["size"] if line.name == "Comments")
    assert [one.text for one in comments.values] == ["1", "5"]
    assert HOSTILE not in page.content.decode()
    assert {row.of for row in page.context["lengths"]} == {f"{HOSTILE} ({goats.name})", goats.name}
    assert f"run={run.public_id}&amp;beside={goats.public_id}" in page.content.decode()


def test_another_corpus_beside_it(client_of, researcher, goats):
    other = CorpusFactory()
    fill(other, 3)
    count(goats), count(other)
    browser = client_of(researcher)
    page = browser.get(address(goats), {"beside": other.public_id})
    comments = next(line for line in page.context["size"] if line.name == "Comments")
    assert [one.text for one in comments.values] == ["5", "6"]
    listed = rows(browser.get(address(goats, "diversity_table", "size"), {"beside": other.public_id}))
    assert [row["value"] for row in listed if row["measure"] == "comments"] == ["5", "6"]
    assert [row["corpus"] for row in listed if row["measure"] == "words"] == [goats.name, other.name]


def test_what_is_beside_and_not_counted_yet_leaves_the_rest_readable(client_of, researcher, goats):
    other = CorpusFactory()
    count(goats)
    page = client_of(researcher).get(address(goats), {"beside": other.public_id})
    assert "counted for the first time" in words(page)
    assert next(line for line in page.context["size"] if line.name == "Comments").values[1].text == ""


def test_a_strangers_corpus_is_not_shown_beside(client_of, goats):
    other = CorpusFactory()
    count(goats), count(other)
    person = MembershipFactory(role=Role.RESEARCHER.value, corpus=goats).person
    browser = client_of(person)
    page = browser.get(address(goats), {"beside": other.public_id})
    assert (page.context["beside"], other.name in page.content.decode()) == (None, False)
    assert browser.get(address(other)).status_code == 404
    table = browser.get(address(goats, "diversity_table", "size"), {"beside": other.public_id})
    assert {row["corpus"] for row in rows(table)} == {goats.name}


def test_who_may_not_see_profiles_gets_nothing(client_of, labeler, adjudicator, stranger, goats):
    count(goats)
    for person in (labeler, adjudicator, stranger):
        browser = client_of(person)
        for where in (
            address(goats),
            address(goats, "diversity_table", "size"),
            address(goats, "diversity_figure", "age"),
            address(goats, "realism"),
            address(goats, "realism_table", "0" * 16),
        ):
            assert browser.get(where).status_code == 403
        assert browser.post(address(goats)).status_code == 403
        assert browser.post(address(goats, "realism")).status_code == 403


def test_every_table_is_a_file_with_the_numbers_of_the_report(client_of, researcher, goats):
    browser = client_of(researcher)
    assert browser.get(address(goats, "diversity_table", "size")).status_code == 404, "not counted yet"
    count(goats)
    for name in diversity_tables.TABLES:
        answered = browser.get(address(goats, "diversity_table", name))
        assert (answered.status_code, answered["Content-Type"]) == (200, "text/csv; charset=utf-8")
        assert rows(answered), name
    lengths = {row["measure"]: row for row in rows(browser.get(address(goats, "diversity_table", "lengths")))}
    assert (lengths["characters"]["mean"], lengths["characters"]["q50"]) == ("7.4", "5.0")
    assert list(lengths["age"])[6:12] == ["q05", "q25", "q50", "q75", "q95", "max"]
    shared = rows(browser.get(address(goats, "diversity_table", "overlap")))
    assert [(row["attributes_shared"], row["pairs"]) for row in shared] == [("1", "2"), ("3", "1")]
    topics = rows(browser.get(address(goats, "diversity_table", "topics")))
    assert {row["topic"] for row in topics} == {"/r/goats", "/r/keys"}
    assert browser.get(address(goats, "diversity_table", "other")).status_code == 404


def test_queries_do_not_grow(client_of, researcher, corpus):
    browser = client_of(researcher)
    counts = []
    for _ in range(2):
        fill(corpus, 5)
        RunFactory(corpus=corpus)
        CorpusFactory()
        count(corpus)
        browser.get(address(corpus))
        with CaptureQueriesContext(connection) as made:
            page = browser.get(address(corpus))
        assert page.context["looked"][0].is_current
        counts.append(len(made))
    assert counts[0] == counts[1] < 20


def test_queries_of_the_list_of_comparisons_do_not_grow(client_of, researcher, corpus):
    chatter(corpus, authors=2)
    browser = client_of(researcher)
    counts = []
    for _ in range(2):
        for _ in range(2):
            reports.make(corpus, Report.DIVERSITY, comparing.parameters_of(other=CorpusFactory()))
        browser.get(address(corpus, "realism"))
        with CaptureQueriesContext(connection) as made:
            browser.get(address(corpus, "realism"))
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_figures_are_drawn_once_for_the_same_numbers(client_of, researcher, goats):
    browser = client_of(researcher)
    assert browser.get(address(goats, "diversity_figure", "age")).status_code == 404, "not counted yet"
    count(goats)
    for key in figures.KEYS:
        for query in ({}, {"theme": "dark", "width": "narrow"}):
            answered = browser.get(address(goats, "diversity_figure", key), query)
            assert (answered.status_code, answered["Content-Type"]) == (200, "image/svg+xml"), key
            again = browser.get(
                address(goats, "diversity_figure", key), query, headers={"If-None-Match": answered["ETag"]}
            )
            assert again.status_code == 304
    for query in ({"theme": "sepia"}, {"width": "huge"}):
        assert browser.get(address(goats, "diversity_figure", "age"), query).status_code == 404
    assert browser.get(address(goats, "diversity_figure", "other")).status_code == 404


# --- told apart by a machine


def send(browser, corpus, **given):
    return browser.post(address(corpus, "realism"), {"seed": 0, **given})


def test_nothing_compared_yet(client_of, researcher, corpus):
    page = client_of(researcher).get(address(corpus, "realism"))
    assert "Nothing was compared yet" in words(page)


def test_a_file_is_compared_by_a_worker(
    client_of, researcher, corpus, told, django_capture_on_commit_callbacks
):
    chatter(corpus, mark="moreover")
    browser = client_of(researcher)
    file = SimpleUploadedFile("heard.jsonl", b"\n".join(lines(mark="<q>")))
    asked = send(browser, corpus, file=file)
    assert asked.status_code == 302
    where = asked.headers["Location"]
    assert "counted for the first time" in words(browser.get(where))
    assert len(told) == 1
    with django_capture_on_commit_callbacks(execute=True):
        reports.make_asked()
    assert browser.get(where, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
    page = browser.get(where)
    said = words(page)
    assert "A difference was shown" in said
    assert "n 36 and 36 texts of 12 and 12 authors, few" in said
    assert "moreover" in said
    assert "&lt;q&gt;" in page.content.decode()
    assert "<q>" not in page.content.decode()
    assert "This corpus is as it was then." in said
    CommentFactory(thread__corpus=corpus)
    assert "This corpus has changed since." in words(browser.get(where))
    key = where.rpartition("=")[2]
    listed = rows(browser.get(address(corpus, "realism_table", key)))
    assert {row["side"] for row in listed} == {"this corpus", "other"}
    assert browser.get(address(corpus, "realism_table", "0" * 16)).status_code == 404
    assert AuditEntry.objects.filter(action="realism.asked").count() == 1


def test_a_wrong_file_says_where_and_nothing_is_asked_for(client_of, researcher, corpus, told, tmp_path):
    file = SimpleUploadedFile("heard.jsonl", b'{"text": "x"}\n{"text": 3}\n')
    answered = send(client_of(researcher), corpus, file=file)
    assert answered.status_code == 422
    assert "Line 2, text: must be there, as text in quotes." in words(answered)
    assert (Report.objects.count(), told, list(tmp_path.rglob("*.*"))) == (0, [], [])


@pytest.mark.parametrize("given", [{}, {"both": True}, {"seed": -1}, {"seed": ""}])
def test_one_of_both_and_a_seed(client_of, researcher, corpus, given):
    other = CorpusFactory()
    sent = dict(given)
    if sent.pop("both", False):
        sent |= {"other": other.public_id, "file": SimpleUploadedFile("a.txt", b"goat")}
    answered = send(client_of(researcher), corpus, **sent)
    assert answered.status_code == 422
    assert Report.objects.count() == 0


def test_a_file_that_is_too_large(client_of, researcher, corpus, monkeypatch):
    monkeypatch.setattr(forms, "MOST_BYTES", 10)
    answered = send(client_of(researcher), corpus, file=SimpleUploadedFile("a.txt", b"goats and keys"))
    assert (answered.status_code, "Bring a sample of it." in words(answered)) == (422, True)


def test_another_corpus_and_only_one_that_is_seen(client_of, corpus):
    other = CorpusFactory()
    for one in (corpus, other):
        chatter(one, authors=3)
    person = MembershipFactory(role=Role.RESEARCHER.value, corpus=corpus).person
    browser = client_of(person)
    assert send(browser, corpus, other=other.public_id).status_code == 422
    assert send(browser, corpus, other=corpus.public_id).status_code == 422
    MembershipFactory(role=Role.RESEARCHER.value, corpus=other, person=person)
    asked = send(browser, corpus, other=other.public_id)
    reports.make_asked()
    said = words(browser.get(asked.headers["Location"]))
    assert "Nothing was measured. Only 3 authors of the other texts" in said


def test_words_of_a_corpus_that_is_not_seen_stay_hidden(client_of, researcher, corpus):
    chatter(corpus)
    other = CorpusFactory(name="sealed")
    chatter(other, mark="secretword")
    parameters = comparing.parameters_of(other=other)
    reports.make(corpus, Report.DIVERSITY, parameters)
    key = reports.key_of(parameters)[:16]
    where = address(corpus, "realism") + f"?result={key}"
    assert "secretword" in words(client_of(researcher).get(where))
    person = MembershipFactory(role=Role.RESEARCHER.value, corpus=corpus).person
    page = client_of(person).get(where)
    assert (page.status_code, "secretword" in words(page), "sealed" in words(page)) == (200, False, False)
    assert client_of(person).get(address(corpus, "realism_table", key)).status_code == 404


def test_texts_without_authors_are_said_to_make_the_interval_narrow(client_of, researcher, corpus):
    chatter(corpus)
    received = texts.receive(corpus, [f"word{n} word{n + 1} x".encode() for n in range(40)], "plain.txt")
    reports.make(corpus, Report.DIVERSITY, comparing.parameters_of(received=received))
    assert "The file names no authors" in words(client_of(researcher).get(address(corpus, "realism")))


def test_the_same_texts_on_both_sides_show_no_difference(client_of, researcher, corpus):
    other = CorpusFactory()
    chatter(corpus), chatter(other)
    reports.make(corpus, Report.DIVERSITY, comparing.parameters_of(other=other))
    said = words(client_of(researcher).get(address(corpus, "realism")))
    assert "No difference was shown" in said
    assert "as where both sides have the same texts" in said
