"""The page of label quality: who sees it, what it says before and after counting, its files and figures."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation.domain.labels import State
from annotation.models import Annotation, AttributeLabel, Item
from evaluation.exchange import quality_tables
from evaluation.models import Report
from evaluation.services import reports
from evaluation.views import quality as views
from simulation.selectors import workers
from tests.evaluation.test_quality import answer, label, suggest
from tests.factories.annotation import queue_over
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.simulation import CommentFactory, CorpusFactory, ProfileFactory

pytestmark = pytest.mark.django_db
SECRET = "glassblower"
QUERIES = 17


@pytest.fixture(autouse=True)
def told(monkeypatch):
    """How often a worker was told; none is running unless a test says so."""
    calls = []
    monkeypatch.setattr(views.make_reports, "delay_on_commit", lambda: calls.append(1))
    monkeypatch.setattr(workers, "alive", dict)
    return calls


@pytest.fixture
def room(corpus):
    profile = ProfileFactory(corpus=corpus, facts={"age": 34, "occupation": SECRET})
    for _ in range(6):
        CommentFactory(thread__corpus=corpus, profile=profile)
    return queue_over(corpus, people=2)


@pytest.fixture
def labelled(room, labeler, researcher):
    """Ages of five comments by two people, one comment blind, one gold."""
    items = list(room.items.order_by("position"))
    for item in items:
        suggest(item, "age", "30", "35", "25")
    Item.objects.filter(pk=items[5].pk).update(gold=True)
    for place, item in enumerate(items):
        answer(labeler, item, age=label("30", 3), occupation=State.NONE.value)
        blind = {"arm": "blind", "first": {"age": "60"}} if place == 4 else {}
        answer(researcher, item, age="30" if place % 2 else "61", **blind)
    return room


def address(corpus, name="label_quality", *more):
    return reverse(name, args=[corpus.public_id, *more])


def words(answered):
    return " ".join(re.sub(r"<[^>]+>", " ", answered.content.decode()).split())


def count(corpus, queue=""):
    return reports.make(corpus, Report.LABELS, {"queue": queue})


def rows(answered):
    return list(csv.DictReader(io.StringIO(answered.content.decode())))


def test_the_first_look_asks_a_worker_to_count(client_of, researcher, corpus, labelled, told):
    page = client_of(researcher).get(address(corpus))
    assert page.status_code == 200
    assert "counted for the first time" in words(page)
    assert "No worker is running." in words(page)
    assert 'hx-trigger="every 3s"' in page.content.decode()
    waiting = Report.objects.get(corpus=corpus, kind=Report.LABELS)
    assert (waiting.parameters, waiting.asked_at is not None) == ({"queue": ""}, True)
    client_of(researcher).get(address(corpus))
    assert len(told) == 1
    assert Report.objects.get().asked_at == waiting.asked_at


def test_while_it_waits_only_the_state_is_asked_for_then_the_whole_page(
    client_of, researcher, corpus, labelled
):
    browser = client_of(researcher)
    waiting = browser.get(address(corpus), headers={"HX-Request": "true"})
    assert "counted for the first time" in words(waiting)
    assert "<html" not in waiting.content.decode()
    count(corpus)
    done = browser.get(address(corpus), headers={"HX-Request": "true"})
    assert (done.headers["HX-Refresh"], done.content) == ("true", b"")


def test_a_running_worker_is_not_missed(client_of, researcher, corpus, labelled, monkeypatch):
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    assert "No worker is running." not in words(client_of(researcher).get(address(corpus)))


def test_what_was_counted_is_shown(client_of, researcher, corpus, labelled, told):
    count(corpus)
    page = client_of(researcher).get(address(corpus))
    said = words(page)
    assert "Up to date." in said
    assert "every 3s" not in page.content.decode()
    assert "12 answers by 2 people" in said
    assert page.context["agreement"][-1].percent.text
    assert [one.name for one in page.context["sources"]] == ["imported"]
    assert not told


def test_shares_that_rest_on_few_say_so(client_of, researcher, corpus, labelled):
    count(corpus)
    page = client_of(researcher).get(address(corpus))
    first = page.context["sources"][0].attributes[0].first
    assert (first.text, first.n, first.few) == ("70.0 %", 10, True)
    assert re.search(r"n 10\s*, few", words(page))


def test_an_old_report_is_shown_and_counted_anew(client_of, researcher, corpus, labelled, labeler, told):
    count(corpus)
    Annotation.objects.filter(person=labeler).first().labels.filter(attribute="age").update(value="70")
    Annotation.objects.filter(person=labeler).update(version=2)
    page = client_of(researcher).get(address(corpus))
    assert "counted anew" in words(page)
    assert page.context["sources"]
    assert len(told) == 1


def test_trying_again_asks_a_worker_once_more(client_of, researcher, corpus, labelled, told):
    queue = labelled.public_id
    count(corpus, queue)
    asked = client_of(researcher).post(address(corpus) + f"?queue={queue}")
    assert asked.headers["Location"] == address(corpus) + f"?queue={queue}"
    assert (len(told), Report.objects.get().asked_at is not None) == (1, True)


def test_a_failure_is_said_and_not_tried_at_every_look(client_of, researcher, corpus, labelled, told):
    Report.objects.filter(pk=count(corpus).pk).update(problem=reports.STOPPED, stamp="")
    page = client_of(researcher).get(address(corpus))
    assert "Not counted. It could not be counted" in words(page)
    assert "Try again" in words(page)
    assert not told


def test_one_queue_can_be_chosen(client_of, researcher, corpus, labelled):
    other = queue_over(CorpusFactory(), name="elsewhere")
    count(corpus, labelled.public_id)
    browser = client_of(researcher)
    page = browser.get(address(corpus), {"queue": labelled.public_id})
    assert (page.context["queue"], page.context["is_current"]) == (labelled, True)
    assert browser.get(address(corpus), {"queue": other.public_id}).context["queue"] is None
    assert "elsewhere" not in page.content.decode()


def test_without_labels_the_page_says_what_to_do(client_of, researcher, corpus):
    count(corpus)
    assert "Nobody has labelled anything in this corpus" in words(client_of(researcher).get(address(corpus)))


def test_names_follow_the_people(client_of, researcher, labeler, corpus, labelled):
    count(corpus)
    labeler.username = "renamed"
    labeler.save()
    said = words(client_of(researcher).get(address(corpus)))
    assert "renamed" in said
    assert "lena" not in said


def test_who_may_not_see_profiles_gets_nothing(client_of, labeler, adjudicator, stranger, corpus, labelled):
    count(corpus)
    for person in (labeler, adjudicator, stranger):
        browser = client_of(person)
        for where in (
            address(corpus),
            address(corpus, "label_quality_table", "truth"),
            address(corpus, "label_quality_figure", "comments"),
        ):
            assert browser.get(where).status_code == 403
        assert browser.post(address(corpus)).status_code == 403


def test_every_table_is_a_file_with_the_numbers_of_the_report(client_of, researcher, corpus, labelled):
    report = count(corpus)
    browser = client_of(researcher)
    for name in quality_tables.TABLES:
        answered = browser.get(address(corpus, "label_quality_table", name))
        assert (answered.status_code, answered["Content-Type"]) == (200, "text/csv; charset=utf-8")
        assert rows(answered), name
    listed = rows(browser.get(address(corpus, "label_quality_table", "suggestions")))
    (age,) = [row for row in listed if (row["cut"], row["attribute"]) == ("", "age")]
    assert (age["confirmed"], age["first_value"], age["first_n"]) == ("7", "0.7", "10")
    assert len(listed) == len(report.content["suggestions"])
    agreement = rows(browser.get(address(corpus, "label_quality_table", "agreement")))
    assert {row["part"] for row in agreement} == {"ordinary", "gold"}
    assert browser.get(address(corpus, "label_quality_table", "other")).status_code == 404


def test_before_anything_was_counted_there_are_no_files(client_of, researcher, corpus, labelled):
    browser = client_of(researcher)
    assert browser.get(address(corpus, "label_quality_table", "truth")).status_code == 404
    assert browser.get(address(corpus, "label_quality_figure", "comments")).status_code == 404
    assert browser.get(address(corpus, "label_quality_table", "profiles")).status_code == 404


def test_labels_of_profiles_are_counted_of_the_chosen_set(client_of, researcher, corpus, labelled):
    small, large = (LabelSetFactory(corpus=corpus, labels=n) for n in (1, 2))
    ProfileLabelFactory(label_set=small, hardness=5)
    ProfileLabelFactory(label_set=large, hardness=1)
    ProfileLabelFactory(label_set=large, hardness=1)
    ProfileLabelFactory(label_set=large, hardness=None)
    count(corpus)
    browser = client_of(researcher)
    assert browser.get(address(corpus)).context["labels"] == large
    for chosen, counts in ((small, ["0", "0", "0", "0", "1"]), (large, ["2", "0", "0", "0", "0"])):
        found = rows(
            browser.get(address(corpus, "label_quality_table", "profiles"), {"labels": chosen.public_id})
        )
        (age,) = [row for row in found if row["attribute"] == "Age"]
        assert list(age.values())[1:] == counts


def test_figures_are_drawn_in_both_themes_and_kept(client_of, researcher, corpus, labelled):
    ProfileLabelFactory(label_set=LabelSetFactory(corpus=corpus, labels=1))
    count(corpus)
    browser = client_of(researcher)
    for name in ("comments", "profiles"):
        where = address(corpus, "label_quality_figure", name)
        light, dark = (browser.get(where, {"theme": theme}) for theme in ("light", "dark"))
        assert light["Content-Type"] == "image/svg+xml"
        assert b"<svg" in light.content
        assert light.content != dark.content
        assert light["ETag"] != dark["ETag"]
        again = browser.get(where, {"theme": "light"}, headers={"If-None-Match": light["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        narrow = browser.get(where, {"theme": "light", "width": "narrow"})
        assert narrow.content != light.content
    assert browser.get(address(corpus, "label_quality_figure", "other")).status_code == 404


def test_a_figure_changes_with_its_numbers(client_of, researcher, corpus, labelled):
    count(corpus)
    where = address(corpus, "label_quality_figure", "comments")
    before = client_of(researcher).get(where)["ETag"]
    AttributeLabel.objects.filter(attribute="age").update(hardness=5)
    Annotation.objects.update(version=2)
    count(corpus)
    assert client_of(researcher).get(where)["ETag"] != before


def test_the_page_takes_as_many_queries_for_many_answers(
    client_of, researcher, labeler, corpus, labelled, django_assert_num_queries
):
    browser = client_of(researcher)
    LabelSetFactory(corpus=corpus, labels=1)
    count(corpus)
    browser.get(address(corpus))
    with django_assert_num_queries(QUERIES):
        browser.get(address(corpus))
    for number in range(6):
        comment = CommentFactory(thread__corpus=corpus)
        answer("human", comment, age="30")
        queue_over(corpus, name=f"round {number + 2}")
        LabelSetFactory(corpus=corpus, labels=1)
    count(corpus)
    with django_assert_num_queries(QUERIES):
        browser.get(address(corpus))
