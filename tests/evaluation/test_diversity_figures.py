"""Figures of diversity: equal bytes, valid XML, what they say, their corners."""

from xml.etree import ElementTree

import pytest

from evaluation.plots.diversity import NOTHING, Bar, Mark, bars
from evaluation.plots.sheet import Look
from evaluation.selectors import diversity_figures as figures
from evaluation.selectors.diversity import Scope
from evaluation.selectors.diversity_page import Shown
from evaluation.services import diversity as counting
from tests.evaluation.diversity_scene import goats_in

HOSTILE = "<b>$x_1$ & “sly”</b>"
ROWS = [
    Bar("18-24", (Mark(0.25, 10, 0.15, 0.4),)),
    Bar(HOSTILE, (Mark(0.05, 2, 0.01, 0.17),)),
    Bar("7 other groups", (Mark(0.7, 28),), is_rest=True),
]
TWO = [Bar("a", (Mark(0.5, 5), Mark(1.0, 3))), Bar("b", (Mark(0.0, 0), None))]
LOOKS = [Look(theme, width, "Ages", "a 25 %") for theme in ("light", "dark") for width in ("wide", "narrow")]


@pytest.fixture
def goats(corpus):
    return goats_in(corpus)


def written(svg):
    return [one.text for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def paths(svg):
    return len(list(ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")))


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.theme}-{look.width}")
@pytest.mark.parametrize(("rows", "series"), [(ROWS, ["one"]), (TWO, ["one", HOSTILE]), ([], ["one"])])
def test_equal_numbers_give_equal_bytes_without_style_or_script(look, rows, series):
    svg = bars(rows, series, "Share in percent", look)
    assert svg == bars(rows, series, "Share in percent", look)
    root = ElementTree.fromstring(svg)
    assert root.get("width") == str(look.pixels)
    for one in root.iter():
        assert "style" not in one.attrib
        assert one.tag.rpartition("}")[2] not in ("style", "script", "metadata")
    assert root.find("{http://www.w3.org/2000/svg}title").text == "Ages"


def test_shares_and_counts_are_written():
    for look in LOOKS:
        said = written(bars(ROWS, ["one"], "Share in percent", look))
        assert {"25.0 %", "10", "70.0 %", "28", "18-24", HOSTILE, "Share in percent"} <= set(said)


def test_what_is_left_over_has_no_bar_and_does_not_stretch_the_axis():
    look = LOOKS[0]
    said = written(bars(ROWS, ["one"], "Share", look))
    assert "40" in said
    assert "60" not in said
    without = [Bar(one.name, one.marks) for one in ROWS]
    assert "60" in written(bars(without, ["one"], "Share", look))


def test_two_series_are_named_and_what_is_missing_is_a_dash():
    said = written(bars(TWO, ["mine", "theirs"], "Share", LOOKS[1]))
    assert {"mine", "theirs", "–", "100.0 %"} <= set(said)


def test_nothing_to_show():
    assert NOTHING in written(bars([], ["one"], "Share", LOOKS[0]))


def test_every_row_has_a_mark_of_each_series():
    with pytest.raises(ValueError, match="one or two series"):
        bars(TWO, ["one"], "Share", LOOKS[0])
    with pytest.raises(ValueError, match="one or two series"):
        bars([], [], "Share", LOOKS[0])


@pytest.mark.django_db
def test_the_rows_of_every_figure(goats):
    pair = [Shown("goats", counting.count(Scope(goats)))]
    for key in figures.KEYS:
        rows = figures.rows(key, pair)
        assert bool(rows) is (key not in ("education", "income_level", "relationship_status")), key
        assert figures.name_of(key)
    assert [row.name for row in figures.rows("age", pair)] == ["25-34", "45-54"], "in the order of bands"
    assert [(row.name, row.marks[0].count) for row in figures.rows("overlap", pair)] == [
        ("1", 2),
        ("2", 0),
        ("3", 1),
    ]
    assert figures.axis_of("depths", pair) == "Share of comments in percent: n 5 (few)"
    assert [row.name for row in figures.rows("targets", pair)] == ["Age"]
    assert figures.described(figures.rows("sex", pair)) == "female 66.7 %; male 33.3 %."
    with pytest.raises(KeyError):
        figures.rows("other", pair)
    beside = [*pair, Shown("none yet", None)]
    assert all(row.marks[1] is None for row in figures.rows("sex", beside))
