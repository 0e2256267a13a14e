"""Figures as files: equal bytes for equal numbers, whatever the names, and nothing that reaches outside."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.boards import Board, Both, Cell, Entry, Masked, Pair, Pairs
from evaluation.plots.anonymised import anonymised
from evaluation.plots.costs import costs
from evaluation.plots.entries import FEW, narrowed, ranked, to_best, turned
from evaluation.plots.labels import comment_counts, label_counts
from evaluation.plots.panels import attributes, certainty, hardness
from evaluation.plots.ranking import differences, ranking
from evaluation.plots.reference import reference
from evaluation.plots.scales import Scale, differences_around, shares_around
from evaluation.plots.scaling import scaling, sized
from evaluation.plots.sheet import Look
from evaluation.plots.themes import DARK, FONTS, LIGHT
from evaluation.plots.wordwise import breadth, brief, plain, points, shortened, wrapped

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
COUNTS = {"Occupation": [12, 8, 3, 0, 0], "Age": [0, 2, 11, 1, 0]}
HOSTILE = (
    "<b>bold</b><script>alert(1)</script>",
    "$x_1$ and $\\frac{1}{",
    "שלום\u202e evil \u2066",
    "🦙 llama 漢字",
    "n" * 120,
    "a\x00b\x1bc\nd",
    "&amp;\"'>",
    "",
)


def cell(value, n=50):
    if value is None:
        return Cell(words="There are no items.")
    return Cell(value, max(0.0, value - 0.08), min(1.0, value + 0.08), n, 10, value * n)


def entry(place, name="", value=0.5, **more):
    steps = {str(step): cell(value, 61 - 12 * step) for step in range(1, 6)}
    return Entry(
        f"s{place}",
        f"r{place}",
        name or f"model {place}",
        name or f"model {place}",
        overall={"top1": Both(cell(value), cell(value))},
        by_attribute={"top1": {"age": cell(value), "sex": cell(value, 12)}},
        by_hardness={"top1": steps},
        by_certainty={"top1": steps},
        **more,
    )


def gap_of(one, other, n=50, holds=True):
    return Pair(one, other, 0.1, 0.02, 0.18, 0.01, 0.03, holds, n, 10)


def board(entries):
    pairs = tuple(
        gap_of(one.scoring, other.scoring, round(100 * (one.overall["top1"].asked.value or 0)))
        for place, one in enumerate(entries)
        for other in entries[place + 1 :]
    )
    masked = tuple(
        Masked(
            one.scoring,
            "m",
            one.name,
            {
                "": (one.overall["top1"].asked, cell(0.1), gap_of("s0", "m")),
                "age": (cell(0.6), cell(0.4, 12), gap_of("s0", "m", 12, holds=False)),
            },
        )
        for one in entries[:2]
    )
    made = Board("ls", "labels", "default", 1, 3, 62, 10, tuple(entries), {"top1": Pairs(pairs)}, masked)
    return replace(made, by_attribute={"age": 50, "sex": 12})


def some(count, names=(), best=0.9):
    return board(
        [
            entry(
                place,
                names[place % len(names)] if names else "",
                best - 0.03 * place,
                family=f"family {place % 3}",
                parameters=[None, 7.0, 70.0][place % 3],
                cost=[None, 0, 10**8, 10**10][place % 4],
                profiles=10,
            )
            for place in range(count)
        ]
        + [entry("b", "most frequent", 0.2, origin="baseline")]
    )


def of_reference(numbers, look):
    values = {"": {"value": 0.7, "n": 100}, "age": {"value": 0.75, "n": None}, "income": {"value": 0.1}}
    entries = numbers.entries
    return reference(numbers, look, entry=entries[0] if entries else None, name="a study", values=values)


DRAWN = [ranking, differences, scaling, costs, attributes, hardness, certainty, anonymised, of_reference]
LOOKS = [
    Look(theme, width, "A name", "What it shows.")
    for theme in ("light", "dark")
    for width in ("wide", "narrow")
]


def texts(svg):
    return [one.text for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.theme}-{look.width}")
def test_equal_numbers_give_equal_bytes(draw, look):
    first = draw(some(5), look)
    assert draw(some(5), look) == first
    assert draw(some(5, best=0.8), look) != first


def test_threads_do_not_disturb_each_other():
    alone = {look: ranking(some(3, HOSTILE), look) for look in LOOKS}
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(lambda look: (look, ranking(some(3, HOSTILE), look)), LOOKS * 4))
    assert all(svg == alone[look] for look, svg in drawn)


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("count", [0, 1, 20])
@pytest.mark.parametrize("look", LOOKS[:2], ids=lambda look: look.width)
def test_nothing_in_a_figure_reaches_outside_or_runs(draw, count, look):
    svg = draw(some(count, HOSTILE), look)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "A name"
    assert root.findtext(f"{SVG}desc") == "What it shows."
    assert root.get("font-family") == FONTS
    for one in root.iter():
        assert one.tag.removeprefix(SVG) in {"svg", "title", "desc", "g", "path", "text", "defs", "use"}
        assert not {"style", "href", "class"} & set(one.attrib)
        assert not any(name.startswith("on") for name in one.attrib)
        assert one.get(LINK, "#").startswith("#")
        assert "url(" not in "".join(one.attrib.values())
    assert b"<!DOCTYPE" not in svg
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))


def test_names_are_drawn_as_they_are_and_never_as_formulas():
    drawn = texts(ranking(board([entry(0, "$x_1$"), entry(1, "a_b^2 & <c>")]), LOOKS[0]))
    assert "$x_1$" in drawn
    assert "a_b^2 & <c>" in drawn


def test_everything_stays_on_the_sheet():
    for draw in DRAWN:
        for look in LOOKS[:2]:
            root = ElementTree.fromstring(draw(some(20, HOSTILE), look))
            width, height = (float(root.get(side)) for side in ("width", "height"))
            for one in root.iter(f"{SVG}text"):
                size, x = float(one.get("font-size")), float(one.get("x"))
                wide = 0.85 * breadth(one.text or "", size)
                left = {"start": x, "middle": x - wide / 2, "end": x - wide}[one.get("text-anchor", "start")]
                assert left >= -1, (draw, look.width, one.text)
                assert left + wide <= width + 1, (draw, look.width, one.text)
                assert 0 < float(one.get("y")) <= height


@pytest.mark.parametrize("look", LOOKS[:2], ids=lambda look: look.width)
def test_texts_do_not_lie_on_each_other(look):
    for draw in DRAWN:
        boxes = []
        for one in ElementTree.fromstring(draw(some(20, HOSTILE[:5]), look)).iter(f"{SVG}text"):
            size, x, y = (float(one.get(name)) for name in ("font-size", "x", "y"))
            wide = 0.85 * breadth((one.text or "").strip(), size)
            left = {"start": x, "middle": x - wide / 2, "end": x - wide}[one.get("text-anchor", "start")]
            boxes.append((left, left + wide, y - 0.7 * size, y, one.text))
        for place, one in enumerate(boxes):
            for other in boxes[place + 1 :]:
                apart = one[0] >= other[1] or other[0] >= one[1] or one[2] >= other[3] or other[2] >= one[3]
                assert apart, (draw, one, other)


def test_the_ranking_says_each_share_with_its_n():
    drawn = texts(ranking(some(3), LOOKS[0]))
    for said in ("90.0", "87.0", "84.0", "20.0"):
        assert said in drawn
    assert drawn.count("n 50") == 4


def test_few_items_are_marked_by_word():
    few = replace(entry(0), overall={"top1": Both(cell(0.5, FEW - 1))})
    assert "n 29 (few)" in texts(ranking(board([few]), LOOKS[0]))
    assert any("(few)" in (one or "") for one in texts(attributes(some(2), LOOKS[0])))


def test_points_of_few_items_are_hollow():
    """Of the five steps three have fewer than 30 items: 25, 13 and 1."""
    for draw in (hardness, certainty):
        marks = ElementTree.fromstring(draw(board([entry(0)]), LOOKS[0])).iter(f"{SVG}use")
        assert [one.get("fill") for one in marks].count(LIGHT.ground) == 3


@pytest.mark.parametrize("draw", DRAWN)
def test_what_has_no_share_is_said_and_not_drawn_at_zero(draw):
    nothing = {str(step): cell(None) for step in range(1, 6)}
    bare = Entry(
        "s0",
        "r0",
        "silent",
        "silent",
        overall={"top1": Both()},
        by_attribute={"top1": {"age": cell(None)}},
        by_hardness={"top1": nothing},
        by_certainty={},
    )
    svg = draw(board([bare]), LOOKS[0])
    ElementTree.fromstring(svg)
    assert b"nan" not in svg.lower()
    if draw is ranking:
        assert "silent" in texts(svg)
        assert "–" in texts(svg)


def test_the_difference_is_turned_where_the_board_has_it_the_other_way_around():
    low, high = entry(0, value=0.4), entry(1, value=0.8)
    best, gaps = to_best(board([low, high]), "top1")
    assert best is not None
    assert best.scoring == "s1"
    (gap,) = gaps
    assert gap.pair is not None
    assert (gap.pair.value, gap.pair.low, gap.pair.high) == (-0.1, -0.18, -0.02)
    assert (gap.pair.first, gap.pair.second) == ("s1", "s0")
    assert turned(gap.pair) == board([low, high]).pairs["top1"].pairs[0]


def test_baselines_are_last_and_never_the_best():
    base, model = entry(0, value=0.9, origin="baseline"), entry(1, value=0.3)
    numbers = board([base, model])
    assert ranked(numbers, "top1") == [model, base]
    best, _ = to_best(numbers, "top1")
    assert best == model


def test_a_choice_of_models_that_names_none_shows_all():
    numbers = some(3)
    assert narrowed(numbers, frozenset({"nobody"})) == numbers
    assert [one.scoring for one in narrowed(numbers, frozenset({"s1"})).entries] == ["s1"]


def test_models_without_a_size_stand_beside():
    small, others = sized(some(6), "top1")
    assert [one.parameters for one in small] == [7.0, 7.0, 70.0, 70.0]
    assert [one.scoring for one in others] == ["s0", "s3"]
    assert "not known" in texts(scaling(some(6), LOOKS[0]))
    assert "not known" not in texts(scaling(board([entry(0, parameters=7.0)]), LOOKS[0]))


def test_labels_are_counted_in_their_bars():
    for draw in (label_counts, comment_counts):
        drawn = texts(draw(COUNTS, title="Labels of winter", theme="dark", caption="Counted today."))
        for said in ("12", "11", "n 23", "n 14", "Labels of winter", "Counted today."):
            assert said in drawn
        assert any("n 37" in one for one in drawn)
    ElementTree.fromstring(label_counts({}))
    ElementTree.fromstring(label_counts({"Age": [0] * 5}, width="narrow"))
    with pytest.raises(ValueError, match="five counts"):
        label_counts({"Age": [1, 2]})


def test_caption_and_title_are_drawn_in_full():
    words = "A caption of many words that need more than a single line on any sheet. " * 3
    for width in ("wide", "narrow"):
        look = Look(width=width, title="A title", caption=words)
        drawn = " ".join(texts(ranking(some(2), look)))
        assert words.strip() in " ".join(drawn.split())
        assert "A title" in drawn


def test_the_colours_are_the_sites():
    tokens = Path(settings.BASE_DIR, "static/css/tokens.css").read_text(encoding="utf-8")
    found: dict[str, tuple[str, str]] = {}
    for name, *sides in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", tokens):
        found.setdefault(name, tuple(sides))
    for ours, token in {
        "ground": "surface",
        "ink": "ink",
        "ink_2": "ink-2",
        "ink_3": "ink-3",
        "hair": "hair",
        "edge": "edge",
        "accent": "accent",
        "base": "unsure",
        "faint": "rail",
    }.items():
        assert (getattr(LIGHT, ours), getattr(DARK, ours)) == found[token], ours
    assert FONTS.replace("'", '"') in tokens


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_marks_and_words_stand_out(theme):
    assert all(contrast(colour, theme.ground) >= 3 for colour in theme.series)
    assert all(contrast(ink, step) >= 4.5 for ink, step in zip(theme.on_ramp, theme.ramp, strict=True))
    assert contrast(theme.ink_3, theme.ground) >= 4.5
    shades = [luminance(step) for step in theme.ramp]
    assert shades in (sorted(shades), sorted(shades, reverse=True))


@given(st.text(max_size=200), st.floats(8, 400))
def test_a_shortened_text_fits_or_is_one_sign(text, most):
    short = shortened(text, most, 12)
    assert breadth(short, 12) <= most or len(short) <= 2


@given(st.text(max_size=120))
def test_any_name_gives_valid_xml(name):
    ElementTree.fromstring(ranking(board([entry(0, name or "x")]), Look(name=name, description=name)))


def test_words_of_numbers():
    assert [points(one) for one in (0.023, -0.12, 0.0, -0.0001, None)] == ["+2.3", "−12.0", "0.0", "0.0", "–"]
    assert [brief(one) for one in (0, 999, 1200, 9960, 15400)] == ["0", "999", "1.2k", "10k", "15k"]
    assert plain("a\u202eb\tc\x00") == "ab c"
    assert wrapped("one two three", 60, 12) == ["one two", "three"]


def test_scales_hold_what_they_are_given():
    assert shares_around([0.72, 0.78]) == (0.6, 0.9)
    assert shares_around([]) == (0.0, 1.0)
    assert shares_around([0.0, 0.02]) == (0.0, 0.3)
    assert shares_around([1.0]) == (0.7, 1.0)
    low, high = differences_around([0.31, -0.02])
    assert low <= -0.02
    assert high >= 0.31
    scale = Scale(7, 140, 0, 100, log=True)
    assert scale.ticks() == [10, 20, 50, 100]
    assert (scale.at(7), scale.at(140), scale.at(1)) == (0, 100, 0)
    assert Scale(0, 1, 0, 10).ticks(4) == [0, 0.5, 1.0]
