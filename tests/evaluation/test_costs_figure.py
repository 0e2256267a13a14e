"""Cost against accuracy: which runs no other beats, what is drawn, and what the page says of the others."""

import csv
import io
from xml.etree import ElementTree

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.boards import Board, Both, Cell, Entry, as_json, from_json
from evaluation.domain.pareto import front
from evaluation.models import Report
from evaluation.plots.costs import cost_of, costed, costs, said_dollars
from evaluation.plots.sheet import Look
from evaluation.plots.themes import LIGHT
from simulation.domain.money import NANO
from tests.evaluation.board_scene import address, counted, results, words
from tests.factories.simulation import RunFactory

SVG = "{http://www.w3.org/2000/svg}"
POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def entry(name, value, dollars, profiles=10, **more):
    share = Cell(value, value - 0.1, value + 0.1, 50, 10, 50 * value) if value is not None else Cell()
    cost = None if dollars is None else round(dollars * NANO)
    shares = {"top1": Both(share)}
    return Entry(name, name, name, name, overall=shares, cost=cost, profiles=profiles, **more)


def board(*entries):
    return Board("ls", "labels", "default", 1, 3, 50, 10, entries)


def some():
    return board(
        entry("dear", 0.8, 5.0),
        entry("fair", 0.7, 0.5),
        entry("beaten", 0.6, 1.0),
        entry("masked", 0.4, 0.2, text="anonymised"),
        entry("script", 0.5, 0.0),
        entry("import", 0.75, None, None),
        entry("silent", None, 1.0),
        entry("majority", 0.3, None, None, origin="baseline"),
    )


def texts(svg):
    return [one.text for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_who_is_dearer_and_no_better_is_beaten():
    assert front([(5, 0.8), (0.5, 0.7), (1, 0.6), (0.2, 0.4)]) == [3, 1, 0]
    assert front([(1, 0.5), (1, 0.6), (2, 0.6)]) == [1]
    assert front([(1, 0.5), (1, 0.5)]) == [0, 1]
    assert front([]) == []


@given(POINTS)
def test_the_front_are_those_that_none_beats(points):
    def beats(one, other):
        return one != other and one[0] <= other[0] and one[1] >= other[1]

    expected = {at for at, one in enumerate(points) if not any(beats(other, one) for other in points)}
    found = front(points)
    assert set(found) == expected
    assert [points[at] for at in found] == sorted(points[at] for at in found)


def test_runs_are_sorted_by_what_is_known_of_their_cost():
    found = costed(some())
    assert [one.name for one in found.drawn] == ["masked", "fair", "beaten", "dear"]
    assert [one.name for one in found.best] == ["masked", "fair", "dear"]
    said = " ".join(found.words)
    for part in ("(cost not known): import.", "axis does not have): script.", "accuracy yet): silent."):
        assert part in said
    assert "majority" not in said
    assert cost_of(found.drawn[1]) == pytest.approx(0.05)
    assert [found.note(one) for one in some().entries[3:6]] == ["", "cost zero", "cost not known"]


def test_a_board_counted_before_has_no_cost_a_profile():
    kept = as_json(some())
    for one in kept["entries"]:
        del one["profiles"]
    old = from_json(kept)
    assert costed(old).drawn == ()
    assert "cost not known" in " ".join(costed(old).words)
    assert "No run has a known cost above zero." in texts(costs(old, Look()))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_equal_numbers_give_equal_bytes_and_the_masked_are_hollow(theme, width):
    look = Look(theme, width, "A name", "What it shows.")
    svg = costs(some(), look)
    assert svg == costs(some(), look)
    assert svg != costs(board(*some().entries[:2]), look)
    assert " style=" not in svg.decode()
    if theme == "light":
        marks = [one.get("fill") for one in ElementTree.fromstring(svg).iter(f"{SVG}use")]
        assert (marks.count(LIGHT.ground), marks.count(LIGHT.accent)) == (2, 4)  # with the key's two
    drawn = " ".join(texts(svg)).replace("\u00a0", " ")
    for name in ("dear", "fair", "beaten", "masked", "script", "import", "silent", "majority"):
        assert name in drawn


def test_small_amounts_are_said_without_an_exponent():
    assert [said_dollars(one) for one in (0.00000123, 0.05, 0.1234, 1.5, 1234)] == [
        *("0.00000123", "0.05", "0.123"),
        *("1.50", "1234.00"),
    ]


@pytest.mark.django_db
class TestPage:
    def test_says_why_there_is_nothing_to_draw(self, client_of, researcher, corpus):
        counted(corpus, results(corpus))
        page = client_of(researcher).get(address(corpus, "figure", "costs"))
        assert "imported results do not say what they cost" in words(page)
        assert client_of(researcher).get(address(corpus, "figure_svg", "costs")).status_code == 404

    def test_shows_what_a_profile_cost(self, client_of, researcher, corpus):
        labels = results(corpus, models=3)
        for name, cost in (("model 0", 4 * NANO), ("model 1", 0)):
            asked = corpus.prediction_runs.get(model=name)
            asked.run, asked.profiles = RunFactory(corpus=corpus, cost=cost), 8
            asked.save()
        counted(corpus, labels)
        browser = client_of(researcher)
        page = browser.get(address(corpus, "figure", "costs"))
        said = words(page)
        assert "Cost against accuracy" in said
        assert "cost zero, which a logarithmic axis does not have): model 1 truth." in said
        assert "(cost not known): model 2 truth." in said
        file = browser.get(address(corpus, "figure_table", "costs")).content.decode()
        rows = {row["model"]: row for row in csv.DictReader(io.StringIO(file))}
        first = rows["model 0 truth"]
        assert float(first["cost_usd_a_profile"]) == 0.5
        assert (float(first["cost_usd"]), first["profiles_asked"]) == (4.0, "8")
        assert rows["model 1 truth"]["note"] == "cost zero"
        assert rows["model 2 truth"]["cost_usd"] == ""
        svg = browser.get(address(corpus, "figure_svg", "costs"))
        assert b"model 0 truth" in svg.content
        assert address(corpus, "figure", "costs") in browser.get(address(corpus)).content.decode()

    def test_shows_an_old_board_without_an_error(self, client_of, researcher, corpus):
        labels = results(corpus)
        counted(corpus, labels)
        report = Report.objects.get(corpus=corpus)
        for one in report.content["entries"]:
            del one["profiles"]
        report.stamp, report.made_at = "as it was", timezone.now()
        report.save()
        page = client_of(researcher).get(address(corpus, "figure", "costs"))
        assert page.status_code == 200
        assert "Nothing to draw" in words(page)
        assert "out of date" in words(page)
