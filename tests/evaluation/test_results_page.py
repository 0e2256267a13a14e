"""The pages of labels and guesses: the list, the way in, one run; who may see and who may change."""

import json
import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation import tasks
from evaluation.models import LabelSet, PredictionRun, ResultImport
from evaluation.selectors import results as selectors
from simulation.models import AuditEntry
from simulation.selectors import workers
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ScoringFactory,
)
from tests.factories.simulation import CorpusFactory, MembershipFactory, ProfileFactory

pytestmark = pytest.mark.django_db
SECRET = "glassblower"


@pytest.fixture(autouse=True)
def one_worker(monkeypatch, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})


@pytest.fixture
def told(monkeypatch):
    """Imports of which a worker was told."""
    found = []
    monkeypatch.setattr(tasks.run_result_import, "delay_on_commit", found.append)
    return found


@pytest.fixture
def browser(client_of, researcher):
    return client_of(researcher)


@pytest.fixture
def run(corpus):
    """A run with a guess in full, one without an answer, and a skipped line."""
    one = PredictionRunFactory(
        corpus=corpus,
        name="m / evaluated",
        model="m",
        digest="ab" * 32,
        predictions=2,
        profiles=1,
        skipped=[{"line": 7, "field": "username", "message": "there is no profile"}],
        recipe={"model_id": "vendor/m-1", "left_out": {"education_category": 4}},
    )
    author = ProfileFactory(corpus=corpus, username="Ann")
    PredictionFactory(
        prediction_run=one, profile=author, attribute="occupation", guesses=[SECRET, "nurse", "cook"]
    )
    PredictionFactory(
        prediction_run=one, profile=author, attribute="age", guesses=[], outcome="unparsed", detail="no list"
    )
    return one


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def page(run):
    return reverse("prediction_run", args=[run.public_id])


def listed(corpus):
    return reverse("results", args=[corpus.public_id])


def test_the_list_says_what_there_is_and_where_it_comes_from(browser, corpus, run):
    labels = LabelSetFactory(corpus=corpus, name="revised", labels=1110, profiles=294)
    ScoringFactory(prediction_run=run, label_set=labels, mode="recorded", open=3)
    said = words(browser.get(listed(corpus)))
    assert "m / evaluated family not known imported abababab 2 1 1" in said
    assert "as the file recorded against revised, 3 open" in said
    assert "revised imported 1,110 294 0 1" in said


def test_an_empty_list_says_what_to_do(browser, corpus):
    said = words(browser.get(listed(corpus)))
    assert "No guess of a model yet Import a file of guesses" in said
    assert "No label set yet Import a file of labels" in said


def test_the_list_takes_as_many_queries_for_many_rows(browser, corpus, django_assert_num_queries):
    def grow(times):
        for _ in range(times):
            ScoringFactory(prediction_run__corpus=corpus)
            LabelSetFactory(corpus=corpus, source=LabelSetFactory(corpus=corpus))

    grow(1)
    browser.get(listed(corpus))
    with django_assert_num_queries(11) as few:
        browser.get(listed(corpus))
    grow(12)
    with django_assert_num_queries(len(few)):
        browser.get(listed(corpus))


def test_the_list_is_paged_and_can_be_narrowed_to_a_model(browser, corpus, monkeypatch):
    monkeypatch.setattr(selectors, "LISTED", 2)
    for name in "abc":
        PredictionRunFactory(corpus=corpus, name=name, model=f"model {name}")
        LabelSetFactory(corpus=corpus, name=f"set {name}")
    first = browser.get(listed(corpus)).context
    assert [one.name for one in first["runs"].rows] == ["a", "b"]
    assert (first["runs"].total, first["sets"].total) == (3, 3)
    second = browser.get(listed(corpus), {"runs_after": first["runs"].after}).context
    assert [one.name for one in second["runs"].rows] == ["c"]
    assert second["runs"].after == ""
    sets = browser.get(listed(corpus), {"sets_after": first["sets"].after}).context["sets"]
    assert [one.name for one in sets.rows] == ["set c"]
    narrowed = browser.get(listed(corpus), {"model": "model b"})
    assert [one.name for one in narrowed.context["runs"].rows] == ["b"]
    assert "No run of nobody" in words(browser.get(listed(corpus), {"model": "nobody"}))


def test_an_upload_is_stored_and_handed_to_a_worker(browser, corpus, told, researcher):
    ProfileFactory(corpus=corpus, username="Ann")
    labels = LabelSetFactory(corpus=corpus)
    row = {"username": "Ann", "predictions": {"m-1": {"age": {"guess": ["30"]}}}}
    sent = {
        "kind": "predictions",
        "file": SimpleUploadedFile("evaluated.jsonl", json.dumps(row).encode()),
        "model": "gpt-4",
        "labels": labels.public_id,
        "skip": "on",
    }
    answer = browser.post(reverse("results_import", args=[corpus.public_id]), sent)
    one = ResultImport.objects.get()
    assert answer["Location"] == reverse("result_import", args=[one.public_id])
    assert (one.by, one.kind, told) == (researcher, "predictions", [one.pk])
    assert one.options == {
        "model": "gpt-4",
        "name": "",
        "labels": labels.public_id,
        "masking": "",
        "skip": True,
        "replace": False,
    }
    waiting = browser.get(answer["Location"])
    assert "Waiting for a worker" in words(waiting)
    assert b'hx-trigger="every 1500ms"' in waiting.content
    tasks.run_result_import(one.pk)
    done = browser.get(answer["Location"], headers={"HX-Request": "true"})
    assert b"<h1>" not in done.content
    assert b"hx-trigger" not in done.content
    assert "Imported done" in words(done)
    assert page(PredictionRun.objects.get()) in done.content.decode()
    assert one.file_name in words(browser.get(reverse("results_import", args=[corpus.public_id])))


def test_a_refused_upload_says_where(browser, corpus, told):
    sent = {"kind": "labels", "file": SimpleUploadedFile("a.jsonl", b'{"username": "Nobody"}')}
    where = browser.post(reverse("results_import", args=[corpus.public_id]), sent)["Location"]
    tasks.run_result_import(told[0])
    said = words(browser.get(where))
    assert "Not imported invalid Nothing was changed." in said
    assert "Line 1, username : there is no profile" in said


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"kind": "predictions", "model": " "}, "model"),
        ({"kind": "labels", "file": None}, "file"),
        ({"kind": "songs"}, "kind"),
        ({"kind": "labels", "labels": "x" * 12}, "labels"),
        ({"kind": "labels", "name": "x" * 81}, "name"),
    ],
)
def test_a_form_that_cannot_be_is_shown_again(browser, corpus, told, sent, field):
    given = {"file": SimpleUploadedFile("a.jsonl", b"{}"), **sent}
    answer = browser.post(
        reverse("results_import", args=[corpus.public_id]), {key: one for key, one in given.items() if one}
    )
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert told == []
    assert not ResultImport.objects.exists()


def test_a_label_set_of_another_corpus_cannot_be_named(browser, corpus, told):
    elsewhere = LabelSetFactory(corpus=CorpusFactory())
    sent = {
        "kind": "predictions",
        "model": "m",
        "labels": elsewhere.public_id,
        "file": SimpleUploadedFile("a.jsonl", b"{}"),
    }
    assert browser.post(reverse("results_import", args=[corpus.public_id]), sent).status_code == 422


def test_a_run_shows_what_it_is_and_what_it_guessed(browser, run):
    said = words(browser.get(page(run)))
    assert "“vendor/m-1” in the file" in said
    assert "about 1 profile; 1 without an answer" in said
    assert "Left out: 4 education_category, which is no attribute" in said
    assert f"{SECRET}; nurse; cook" in said
    assert "unparsed no list" in said
    assert "Skipped lines 1 Line 7, username" in said
    assert "Not scored yet" in said


def test_guesses_can_be_filtered_and_are_paged(browser, run, monkeypatch):
    monkeypatch.setattr(selectors, "GUESSES", 1)
    first = browser.get(page(run)).context["page"]
    second = browser.get(page(run), {"after": first.after}).context["page"]
    assert [row.attribute for row in (*first.rows, *second.rows)] == ["occupation", "age"]
    assert second.after == 0
    unparsed = browser.get(page(run), {"outcome": "unparsed"}).context["page"]
    assert [row.attribute for row in unparsed.rows] == ["age"]
    assert browser.get(page(run), {"attribute": "sex"}).context["page"].rows == []
    assert "The list ends before this place" in words(browser.get(page(run), {"after": "9" * 18}))
    for odd in ("-1", "x", "9" * 30, "²"):
        assert len(browser.get(page(run), {"after": odd}).context["page"].rows) == 1


def test_a_run_takes_as_many_queries_for_many_guesses(browser, run, django_assert_num_queries):
    browser.get(page(run))
    with django_assert_num_queries(10) as few:
        browser.get(page(run))
    for _ in range(20):
        PredictionFactory(prediction_run=run)
        ScoringFactory(prediction_run=run)
    with django_assert_num_queries(len(few)):
        browser.get(page(run))


def test_what_is_known_of_a_model_is_kept_and_audited(browser, run, researcher):
    plain = PredictionRunFactory(corpus=run.corpus)
    sent = {
        "model": "M One",
        "family": "Ems",
        "parameters": "7.5",
        "text": "anonymised",
        "counterpart": plain.public_id,
    }
    assert browser.post(page(run), sent)["Location"] == page(run)
    run.refresh_from_db()
    assert (run.model, run.family, run.parameters, run.text) == ("M One", "Ems", Decimal("7.5"), "anonymised")
    assert (run.counterpart, run.name) == (plain, "m / evaluated")
    entry = AuditEntry.objects.get(action="prediction_run.described")
    assert (entry.actor, entry.object_id) == (researcher, run.public_id)
    browser.post(page(run), sent)
    assert AuditEntry.objects.filter(action="prediction_run.described").count() == 1
    assert f'value="{plain.public_id}" selected' in browser.get(page(run)).content.decode()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"model": ""}, "model"),
        ({"parameters": "-1"}, "parameters"),
        ({"parameters": "much"}, "parameters"),
        ({"text": "sung"}, "text"),
        ({"counterpart": "plain"}, "counterpart"),
    ],
)
def test_what_cannot_be_said_of_a_run_is_refused(browser, run, changed, field):
    if changed.get("counterpart"):
        changed = {"counterpart": PredictionRunFactory(corpus=run.corpus).public_id}
    sent = {"model": "m", "family": "", "parameters": "", "text": "plain", "counterpart": "", **changed}
    answer = browser.post(page(run), sent)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    run.refresh_from_db()
    assert (run.model, run.parameters, run.text, run.counterpart) == ("m", None, "plain", None)


def test_a_counterpart_is_another_run_of_the_corpus_on_plain_text(browser, run):
    hidden = PredictionRunFactory(corpus=run.corpus, text="anonymised")
    elsewhere = PredictionRunFactory()
    for other in (run, hidden, elsewhere):
        sent = {"model": "m", "text": "anonymised", "counterpart": other.public_id}
        assert browser.post(page(run), sent).status_code == 422


def test_only_researchers_open_the_pages(client_of, labeler, adjudicator, stranger, corpus, run):
    one = ResultImport.objects.create(corpus=corpus, by=labeler, kind="labels", file_name="a", path="a")
    addresses = [
        listed(corpus),
        page(run),
        reverse("results_import", args=[corpus.public_id]),
        reverse("result_import", args=[one.public_id]),
    ]
    elsewhere = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    for address in addresses:
        for person in (labeler, adjudicator, stranger):
            assert client_of(person).get(address).status_code == 403, address
        assert client_of(elsewhere).get(address).status_code == 404, address
    assert client_of(elsewhere).post(page(run), {"model": "x", "text": "plain"}).status_code == 404
    assert LabelSet.objects.count() == 0
