"""The pages of figures, their SVG and their tables: who sees them, what they say, how they are kept."""

import csv
import io
import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.domain.boards import Board as Numbers
from evaluation.domain.boards import Both, Cell, Entry, Masked, Pair, Pairs, as_json
from evaluation.domain.figures import FIGURES
from evaluation.domain.report_keys import key_of
from evaluation.models import Reference, Report
from evaluation.selectors import boards
from evaluation.views import figures
from simulation.domain.roles import Role
from simulation.models import User
from simulation.selectors import workers
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory, ScoringFactory
from tests.factories.simulation import CorpusFactory, MembershipFactory

pytestmark = pytest.mark.django_db
KEYS = [one.key for one in FIGURES]
OF_BOARD = [key for key in KEYS if key != "labels"]
HOSTILE = "<b>$x_1$ & “sly”</b>"


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    told = []
    monkeypatch.setattr(figures.make_reports, "delay_on_commit", lambda: told.append(1))
    monkeypatch.setattr(workers, "alive", lambda: {"w1": 1.0})
    return told


def address(corpus, name="figures", *more):
    return reverse(name, args=[corpus.public_id, *more])


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def cell(value, n=40):
    return Cell(value, max(0.0, value - 0.1), min(1.0, value + 0.1), n, 10, value * n)


def entry(place, name):
    value = 0.8 - place * 0.05
    steps = {str(step): cell(value, 50 - 9 * step) for step in range(1, 6)}
    return Entry(
        f"s{place}",
        f"r{place}",
        name,
        name,
        family="loom" if place % 2 else "",
        parameters=7.0 + place if place % 2 else None,
        cost=10**9 * (place + 1),
        profiles=10,
        overall={"top1": Both(cell(value), cell(value, 38)), "top3": Both(cell(0.9 - place * 0.05))},
        by_attribute={"top1": {"age": cell(value), "sex": cell(value, 12)}},
        by_hardness={"top1": steps},
        by_certainty={"top1": steps},
    )


def numbers(label_set, models=3):
    entries = tuple(entry(place, HOSTILE if place == 1 else f"model {place}") for place in range(models))
    pairs = tuple(
        Pair("s0", one.scoring, 0.05, 0.01, 0.09, 0.01, 0.02, place == 0, 40, 10)
        for place, one in enumerate(entries[1:])
    )
    gap = Pair("s0", "s9", 0.3, 0.2, 0.4, 0.001, 0.001, True, 40, 10)
    masked = (
        Masked("s0", "s9", "model 0", {"": (cell(0.8), cell(0.5), gap), "age": (cell(0.7), cell(0.6), gap)}),
    )
    return Numbers(
        label_set.public_id,
        label_set.name,
        "default",
        1,
        3,
        40,
        10,
        entries,
        {"top1": Pairs(pairs, 1, len(pairs), "")},
        masked,
        {"age": 40, "sex": 12},
        {"1": 40},
        {"3": 40},
    )


def counted(corpus, models=3):
    """A board of this many models as a worker has left it, and a reference."""
    label_set = LabelSetFactory(corpus=corpus, name="labels of winter")
    ProfileLabelFactory(label_set=label_set, hardness=4)
    ProfileLabelFactory(label_set=label_set, attribute="sex", value="male", hardness=1)
    ScoringFactory(label_set=label_set, prediction_run__corpus=corpus)
    choice = boards.choose(corpus, {})
    Report.objects.create(
        corpus=corpus,
        kind=Report.BOARD,
        key=key_of(choice.parameters),
        parameters=choice.parameters,
        content=as_json(numbers(label_set, models)),
        stamp=boards.rows_of(corpus, choice.parameters).stamp,
        made_at=timezone.now(),
    )
    values = {"": {"value": 0.75, "n": 90}, "age": {"value": 0.5, "n": None}}
    Reference.objects.create(corpus=corpus, name="an older study", values=values)
    return label_set


@pytest.fixture
def board(corpus):
    return counted(corpus)


def test_the_index_has_a_card_for_each_figure(client_of, researcher, corpus, board):
    page = client_of(researcher).get(address(corpus))
    said = words(page)
    for one in FIGURES:
        assert one.name in said
        assert address(corpus, "figure_svg", one.key) in page.content.decode()
    assert "As Fig. 13 of the paper" in said


@pytest.mark.parametrize("key", KEYS)
def test_each_figure_has_its_page_drawing_and_file(client_of, researcher, corpus, board, key):
    browser = client_of(researcher)
    page = browser.get(address(corpus, "figure", key))
    assert page.status_code == 200
    assert "The same numbers" in words(page)
    assert "n = " in words(page)
    for theme in ("light", "dark"):
        for width in ("wide", "narrow"):
            answer = browser.get(address(corpus, "figure_svg", key), {"theme": theme, "width": width})
            assert answer.headers["Content-Type"] == "image/svg+xml"
            ElementTree.fromstring(answer.content)
    file = browser.get(address(corpus, "figure_table", key))
    assert len(file.content.decode().splitlines()) == len(page.context["table"].rows) + 1


def test_the_file_has_the_numbers_of_the_board(client_of, researcher, corpus, board):
    file = client_of(researcher).get(address(corpus, "figure_table", "ranking"))
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    assert [float(row["right_percent"]) for row in rows] == [80.0, 75.0, 70.0]
    assert [float(row["low_95_percent"]) for row in rows] == [70.0, 65.0, 60.0]
    assert {row["n"] for row in rows} == {"40"}
    assert rows[1]["model"] == HOSTILE
    other = client_of(researcher).get(address(corpus, "figure_table", "ranking"), {"measure": "top3"})
    rows = list(csv.DictReader(io.StringIO(other.content.decode())))
    assert [float(row["right_percent"]) for row in rows] == [90.0, 85.0, 80.0]


def test_a_name_is_text_wherever_it_stands(client_of, researcher, corpus, board):
    page = client_of(researcher).get(address(corpus, "figure", "ranking"))
    assert "<b>$x" not in page.content.decode()
    assert "&lt;b&gt;$x_1$" in page.content.decode()


def test_models_are_chosen_in_the_address(client_of, researcher, corpus, board):
    browser = client_of(researcher)
    page = browser.get(address(corpus, "figure", "ranking"), {"models": ["s0", "s2", "nobody"]})
    assert [row[1] for row in page.context["table"].rows] == ["s0", "s2"]
    assert "models=s0&amp;models=s2" in page.content.decode()
    assert "2 of 3 models are shown" in words(page)
    page = browser.get(address(corpus, "figure", "ranking"), {"models": ["s0", "s1", "s2"]})
    assert page.context["one"].models == ()
    page = browser.get(address(corpus, "figure", "ranking"), {"models": "nobody"})
    assert len(page.context["table"].rows) == 3


def test_the_reference_and_its_model_are_chosen(client_of, researcher, corpus, board):
    browser = client_of(researcher)
    page = browser.get(address(corpus, "figure", "reference"))
    first = page.context["table"].rows[0]
    assert (first[0], first[2], first[8]) == ("All attributes", "s0", 0.75)
    assert first[10] == pytest.approx(0.05)
    page = browser.get(address(corpus, "figure", "reference"), {"model": "s2"})
    assert page.context["table"].rows[0][10] == pytest.approx(-0.05)
    elsewhere = Reference.objects.create(corpus=CorpusFactory(), name="not ours", values={"": {"value": 0.1}})
    page = browser.get(address(corpus, "figure", "reference"), {"reference": elsewhere.public_id})
    assert page.context["one"].reference.name == "an older study"


def test_the_figure_of_labels_counts_the_rows(client_of, researcher, corpus, board):
    rows = client_of(researcher).get(address(corpus, "figure", "labels")).context["table"].rows
    assert sorted(rows[:2]) == [("Age", 0, 0, 0, 1, 0, 1), ("Sex", 1, 0, 0, 0, 0, 1)]
    assert rows[2] == ("All attributes", 1, 0, 0, 1, 0, 2)


def test_the_picture_follows_the_persons_theme(client_of, researcher, corpus, board):
    page = client_of(researcher).get(address(corpus, "figure", "ranking")).content.decode()
    assert "prefers-color-scheme: dark" in page
    assert "theme=light&amp;width=narrow" in page
    User.objects.filter(pk=researcher.pk).update(theme="dark")
    page = client_of(researcher).get(address(corpus, "figure", "ranking")).content.decode()
    assert "prefers-color-scheme" not in page
    assert "theme=light" not in page


def test_a_drawing_is_kept_until_something_changes(client_of, researcher, corpus, board):
    browser, where = client_of(researcher), address(corpus, "figure_svg", "ranking")
    first = browser.get(where, {"theme": "dark"})
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = browser.get(where, {"theme": "dark"}, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert browser.get(where, {"theme": "dark"}).content == first.content
    tags = {
        browser.get(where, asked).headers["ETag"]
        for asked in ({"theme": "dark"}, {}, {"width": "narrow"}, {"download": "1"}, {"models": "s0"})
    }
    assert len(tags) == 5
    Report.objects.update(made_at=timezone.now())
    changed = browser.get(where, {"theme": "dark"}, headers={"If-None-Match": tag})
    assert changed.status_code == 200


def test_what_is_downloaded_explains_itself(client_of, researcher, corpus, board):
    answer = client_of(researcher).get(
        address(corpus, "figure_svg", "ranking"), {"download": "1", "theme": "dark"}
    )
    assert answer.headers["Content-Disposition"] == f'attachment; filename="ranking-{corpus.public_id}.svg"'
    said = " ".join("".join(ElementTree.fromstring(answer.content).itertext()).split())
    for part in ("Ranking: winter", "n = 40 labels", "Counted 20", "arXiv:2406.07217", "default rules"):
        assert part in said.replace("\u00a0", " ")
    assert b"#ffffff" in answer.content


def test_unknown_figures_themes_and_widths_are_not_found(client_of, researcher, corpus, board):
    browser = client_of(researcher)
    for name in ("figure", "figure_svg", "figure_table"):
        assert browser.get(address(corpus, name, "other")).status_code == 404
    for asked in ({"theme": "pink"}, {"width": "huge"}):
        assert browser.get(address(corpus, "figure_svg", "ranking"), asked).status_code == 404


@pytest.mark.parametrize("key", KEYS)
def test_without_any_result_each_page_says_what_to_do(client_of, researcher, corpus, key):
    browser = client_of(researcher)
    assert "Nothing is scored" in words(browser.get(address(corpus)))
    page = browser.get(address(corpus, "figure", key))
    assert page.status_code == 200
    assert "Nothing to draw" in words(page)
    assert browser.get(address(corpus, "figure_svg", key)).status_code == 404
    assert browser.get(address(corpus, "figure_table", key)).status_code == 404


def test_a_board_that_was_never_counted_is_asked_for(client_of, researcher, corpus, no_messages):
    ScoringFactory(prediction_run__corpus=corpus)
    page = client_of(researcher).get(address(corpus, "figure", "ranking"))
    assert "is being counted" in words(page)
    assert Report.objects.get(corpus=corpus).asked_at is not None
    assert no_messages
    assert "is being counted" in words(client_of(researcher).get(address(corpus)))


def test_an_old_board_is_shown_and_counted_anew(client_of, researcher, corpus, board):
    Report.objects.update(stamp="as it was")
    page = client_of(researcher).get(address(corpus, "figure", "ranking"))
    assert "out of date" in words(page)
    assert len(page.context["table"].rows) == 3
    assert Report.objects.get(corpus=corpus).asked_at is not None


def test_without_a_worker_the_page_says_so(client_of, researcher, corpus, monkeypatch):
    monkeypatch.setattr(workers, "alive", dict)
    ScoringFactory(prediction_run__corpus=corpus)
    assert "No worker is alive" in words(client_of(researcher).get(address(corpus)))


def test_a_board_without_pairs_masked_runs_and_references_says_what_is_missing(
    client_of, researcher, corpus, board
):
    Reference.objects.all().delete()
    report = Report.objects.get(corpus=corpus)
    report.content |= {"masked": [], "pairs": {}, "entries": report.content["entries"][:1]}
    report.save()
    said = words(client_of(researcher).get(address(corpus)))
    for part in ("There are not two scored runs", "No run on anonymised text", "There is no reference"):
        assert part in said
    assert "Add a reference" in words(client_of(researcher).get(address(corpus, "figure", "reference")))


def test_who_may_not_see_profiles_sees_no_figure(client_of, labeler, adjudicator, corpus, board):
    for person in (labeler, adjudicator):
        browser = client_of(person)
        assert browser.get(address(corpus)).status_code == 403
        for name in ("figure", "figure_svg", "figure_table"):
            assert browser.get(address(corpus, name, "ranking")).status_code == 403


def test_figures_of_another_corpus_are_not_there(client_of, corpus, board):
    other = CorpusFactory(name="summer")
    person = MembershipFactory(person__username="olga", role=Role.RESEARCHER.value, corpus=other).person
    for name in ("figure", "figure_svg", "figure_table"):
        assert client_of(person).get(address(corpus, name, "ranking")).status_code == 404


@pytest.mark.parametrize("key", ["ranking", "hardness", "reference", "labels"])
def test_a_page_asks_as_often_for_three_models_as_for_twenty(client_of, researcher, corpus, key):
    small, large = corpus, CorpusFactory(name="large")
    counted(small, 3)
    counted(large, 20)
    browser = client_of(researcher)
    for name, more in (("figure", [key]), ("figures", []), ("figure_svg", [key])):
        browser.get(address(small, name, *more))
        with CaptureQueriesContext(connection) as first:
            browser.get(address(small, name, *more))
        with CaptureQueriesContext(connection) as second:
            browser.get(address(large, name, *more))
        assert len(first) == len(second) <= 18
