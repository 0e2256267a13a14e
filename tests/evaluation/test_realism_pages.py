"""The areas by author and thread and the ROC curve of a comparison: page, figures, files, old reports."""

import csv
import io
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from evaluation.domain.realism_areas import Area, Grouping
from evaluation.models import Report
from evaluation.plots.realism import NOTHING, Curve, roc
from evaluation.plots.sheet import Look
from evaluation.selectors import realism_figures as figures
from evaluation.services import diversity_realism as comparing
from evaluation.services import diversity_texts as texts
from evaluation.services import reports
from simulation.domain.roles import Role
from simulation.models import Thread
from simulation.selectors import workers
from tests.evaluation.diversity_scene import chatter, lines
from tests.factories.simulation import CommentFactory, CorpusFactory, MembershipFactory, ProfileFactory

pytestmark = pytest.mark.django_db
HOSTILE = "<b>sly</b>"


@pytest.fixture(autouse=True)
def quiet(settings, tmp_path, monkeypatch):
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(workers, "alive", dict)


@pytest.fixture
def compared(corpus):
    """Twelve threads of six comments by two authors; those of one are marked, one more has too few."""
    for number in range(12):
        thread = Thread.objects.create(corpus=corpus, external_id=f"t{number:02}", source="flat")
        for place in range(2):
            who = ProfileFactory(corpus=corpus)
            for n in range(3):
                text = f"word{n} word{place} word{number}" + (" moreover indeed" if number == 3 else "")
                CommentFactory(thread=thread, profile=who, text=text)
    small = Thread.objects.create(corpus=corpus, external_id=HOSTILE, source="flat")
    CommentFactory(thread=small, profile=who, text="word1 word2")
    other = CorpusFactory()
    chatter(other, seed=3)
    parameters = comparing.parameters_of(other=other)
    reports.make(corpus, Report.DIVERSITY, parameters)
    return reports.find(corpus, Report.DIVERSITY, parameters)


def address(name, report, *more):
    return reverse(name, args=[report.corpus.public_id, report.key[:16], *more])


def rows(answered):
    return list(csv.DictReader(io.StringIO(answered.content.decode())))


def words(svg):
    return [one.text for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_report_keeps_areas_by_grouping_fold_and_thread(compared):
    found = comparing.found_in(compared)
    assert [one.unit for one in found.groupings] == ["authors", "threads"]
    authors, threads = found.groupings
    assert (authors.auc, authors.low, authors.high) == (found.auc, found.low, found.high)
    assert (authors.ours, threads.ours, len(threads.folds)) == (24, 13, 5)
    assert sum(one.texts for one in authors.folds) == found.ours.drawn == 73
    assert all(len(one.curve) <= 200 and one.curve[-1] == (1, 1) for one in found.groupings)
    assert len(found.threads) == 13
    assert (found.threads[-1].name, found.threads[-1].auc) == (HOSTILE, None)
    measured = [one.auc for one in found.threads[:-1]]
    assert measured == sorted(measured, reverse=True)
    assert all(one.low <= one.auc <= one.high for one in found.threads[:-1])


def test_the_page_shows_both_figures_with_their_numbers(client_of, researcher, compared):
    browser = client_of(researcher)
    page = browser.get(reverse("realism", args=[compared.corpus.public_id])).content.decode()
    assert address("realism_figure", compared, "auc") in page
    assert address("realism_figure", compared, "roc") in page
    assert "&lt;b&gt;sly&lt;/b&gt;" in page
    assert HOSTILE not in page
    assert "Fewer than 5 texts: too few." in page
    assert "Folds of whole threads" in page
    for name in ("auc", "roc"):
        for query in ({}, {"theme": "dark", "width": "narrow"}):
            drawn = browser.get(address("realism_figure", compared, name), query)
            assert (drawn.status_code, drawn["Content-Type"]) == (200, "image/svg+xml")
            again = browser.get(
                address("realism_figure", compared, name), query, headers={"If-None-Match": drawn["ETag"]}
            )
            assert again.status_code == 304


def test_the_files_have_every_row(client_of, researcher, compared):
    browser = client_of(researcher)
    listed = rows(browser.get(address("realism_numbers", compared, "auc")))
    parts = [row["part"] for row in listed]
    assert (parts.count("thread"), parts.count("fold of authors"), parts.count("folds of threads")) == (
        13,
        5,
        1,
    )
    curve = rows(browser.get(address("realism_numbers", compared, "roc")))
    assert {row["folds_of_whole"] for row in curve} == {"authors", "threads"}
    assert (curve[0]["false_alarms"], curve[-1]["found"]) == ("0.0", "1.0")


def test_what_is_not_there_and_who_may_not_see_it(client_of, researcher, compared):
    browser = client_of(researcher)
    assert browser.get(address("realism_figure", compared, "other")).status_code == 404
    assert browser.get(address("realism_numbers", compared, "other")).status_code == 404
    assert browser.get(address("realism_figure", compared, "auc"), {"theme": "sepia"}).status_code == 404
    unknown = reverse("realism_figure", args=[compared.corpus.public_id, "0" * 16, "auc"])
    assert browser.get(unknown).status_code == 404
    person = MembershipFactory(role=Role.RESEARCHER.value, corpus=compared.corpus).person
    for name in ("realism_figure", "realism_numbers"):
        answered = client_of(person).get(address(name, compared, "auc"))
        assert answered.status_code == 404, "the other corpus is not theirs to see, its threads neither"


def test_a_report_without_areas_still_shows_and_is_counted_anew_when_asked(client_of, researcher, compared):
    for key in ("groupings", "threads"):
        del compared.content[key]
    compared.stamp = "of before"
    compared.save()
    browser = client_of(researcher)
    page = browser.get(reverse("realism", args=[compared.corpus.public_id])).content.decode()
    assert "were not kept when this was counted" in page
    assert "This corpus is as it was then." in page
    for name in ("auc", "roc"):
        assert browser.get(address("realism_figure", compared, name)).status_code == 200
        assert rows(browser.get(address("realism_numbers", compared, name))) == []
    again = reports.make(compared.corpus, Report.DIVERSITY, compared.parameters)
    again.refresh_from_db()
    assert len(comparing.found_in(again).groupings) == 2


def test_too_few_threads_leave_the_authors(corpus):
    chatter(corpus)
    Thread.objects.filter(corpus=corpus)
    one = Thread.objects.filter(corpus=corpus).first()
    corpus.comments.update(thread=one)
    other = CorpusFactory()
    chatter(other)
    found = comparing.measure(corpus, comparing.parameters_of(other=other))
    authors, threads = found.groupings
    assert authors.auc == found.auc is not None
    assert threads.words == "Only 1 threads of this corpus’ comments; at least 10 are needed."
    assert (threads.auc, threads.folds, threads.curve, found.threads) == (None, (), (), ())


def test_a_file_may_name_threads(corpus):
    chatter(corpus)
    said = [line.replace(b'"author": "a', b'"thread": 7, "author": "a') for line in lines()]
    received = texts.receive(corpus, said, "heard.jsonl")
    assert {one.thread for one in texts.kept(corpus, received.digest)} == {"7"}
    found = comparing.measure(corpus, comparing.parameters_of(received=received))
    assert found.groupings[1].words == "Only 1 threads of the other texts; at least 10 are needed."
    plain = texts.receive(corpus, lines(), "heard.jsonl")
    assert plain.digest == texts.receive(corpus, lines(), "again.jsonl").digest != received.digest
    with pytest.raises(texts.BadTexts, match="Line 1, thread: must be text"):
        texts.receive(corpus, [b'{"text": "x", "thread": []}'], "a.jsonl")


def test_many_threads_are_drawn_from_both_ends():
    threads = tuple(Area(f"t{n}", 40, 5, 0.9 - n / 1000, 0.1, 0.95) for n in range(50))
    found = comparing.Realism(*sides(), 0.8, 0.7, 0.9, 5, 0, threads=threads)
    drawn = figures.drawn_rows(found)
    assert [row.name for row in drawn[14:17]] == ["t14", "20 between", "t35"]
    assert len(drawn) == 31
    many = comparing.Realism(*sides(), 0.8, 0.7, 0.9, 5, 0, threads=threads * 5)
    assert (len(figures.listed(many)[0]), figures.listed(many)[1]) == (200, 50)


def sides():
    return (comparing.Side("ours", 9, 3, 9, 3), comparing.Side("", 9, 3, 9, 3))


def test_the_curve_says_its_area_interval_and_n():
    one = Grouping("authors", 24, 40, 0.876, 0.8, 0.91, curve=((0, 0), (0.2, 0.8), (1, 1)))
    found = comparing.Realism(*sides(), 0.876, 0.8, 0.91, 5, 0, groupings=(one,))
    said = figures.described("roc", found)
    assert said == "Folds of whole authors (n 24 and 40, few): AUC 0.88 (0.80 to 0.91)."
    assert [share[0][1] for _, share in figures.tenths(found)[:4]] == pytest.approx([0, 40, 80, 82.5])
    for width in ("wide", "narrow"):
        svg = roc(figures.curves(found), Look("light", width, "ROC", said))
        assert svg == roc(figures.curves(found), Look("light", width, "ROC", said))
        assert "AUC 0.88" in " ".join(words(svg))


def test_no_curve_and_too_many():
    assert NOTHING in words(roc([], Look()))
    with pytest.raises(ValueError, match="two curves"):
        roc([Curve("", ())] * 3, Look())
