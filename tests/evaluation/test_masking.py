"""Spans, their merging and the two styles; nothing outside a span changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.domain.masking import (
    BadSpan,
    Category,
    Masked,
    Span,
    Style,
    apply,
    mask,
    merge,
)

texts = some.text(min_size=1, max_size=40)


@some.composite
def texts_with_spans(draw):
    text = draw(texts)
    ends = some.tuples(some.integers(0, len(text) - 1), some.integers(1, 12))
    raw = draw(some.lists(some.tuples(ends, some.sampled_from(Category), some.sampled_from([0.2, 0.5, 1.0]))))
    return text, [
        Span(start, min(start + size, len(text)), category, confidence)
        for (start, size), category, confidence in raw
    ]


def covered(spans):
    return {place for one in spans for place in range(one.start, one.end)}


def test_both_styles():
    text = "Moved to Oslo at 34 🙂"
    spans = [Span(9, 13, Category.LOCATION), Span(17, 19, Category.AGE)]
    assert apply(text, spans).text == "Moved to **** at ** 🙂"
    tagged = apply(text, spans, Style.CATEGORY)
    assert tagged.text == "Moved to <LOCATION> at <AGE> 🙂"
    assert [tagged.text[one.start : one.end] for one in tagged.marks] == ["<LOCATION>", "<AGE>"]
    assert tagged.spans == tuple(spans)
    assert tagged.characters == 6


def test_blanks_and_breaks_inside_a_span_are_masked_too():
    assert apply("New\nYork now", [Span(0, 8, Category.LOCATION)]).text == "******** now"


def test_no_spans_change_nothing():
    assert apply("Graz", []) == Masked("Graz", (), ())


def test_the_widest_reach_and_the_surest_name():
    one, other = Span(0, 6, Category.PERSON, 0.5), Span(4, 9, Category.LOCATION, 0.8)
    assert merge([one, other]) == (Span(0, 9, Category.LOCATION, 0.8),)


def test_of_equally_sure_spans_the_longest_then_the_first_then_the_list_decides():
    assert merge([Span(0, 3, Category.AGE), Span(2, 9, Category.PERSON)])[0].category is Category.PERSON
    assert merge([Span(0, 3, Category.NUMBER), Span(2, 5, Category.PERSON)])[0].category is Category.NUMBER
    assert merge([Span(0, 3, Category.NUMBER), Span(0, 3, Category.AGE)])[0].category is Category.AGE


def test_a_chain_of_overlaps_is_one_and_touching_spans_are_two():
    chain = [Span(0, 3, Category.AGE), Span(2, 6, Category.AGE), Span(5, 8, Category.AGE)]
    assert merge(chain) == (Span(0, 8, Category.AGE),)
    long_first = [Span(0, 9, Category.AGE), Span(1, 2, Category.AGE), Span(8, 10, Category.AGE)]
    assert merge(long_first) == (Span(0, 10, Category.AGE),)
    touching = (Span(0, 3, Category.AGE), Span(3, 6, Category.AGE))
    assert merge(touching) == touching


@pytest.mark.parametrize(
    ("start", "end", "confidence"), [(3, 3, 1), (4, 2, 1), (-1, 2, 1), (0, 1, 1.1), (0, 1, -0.1)]
)
def test_impossible_spans_are_refused(start, end, confidence):
    with pytest.raises(BadSpan):
        Span(start, end, Category.AGE, confidence)


def test_a_span_beyond_the_text_is_refused():
    with pytest.raises(BadSpan, match="ends at 5, but the text has 4"):
        apply("Graz", [Span(0, 5, Category.LOCATION)])


@given(texts_with_spans())
def test_stars_keep_the_length_and_everything_outside_the_spans(given_):
    text, spans = given_
    masked = apply(text, spans)
    inside = covered(spans)
    assert len(masked.text) == len(text)
    assert masked.marks == masked.spans
    assert masked.characters == len(inside)
    for place, (before, after) in enumerate(zip(text, masked.text, strict=True)):
        assert after == ("*" if place in inside else before)


@given(texts_with_spans())
def test_categories_keep_everything_outside_the_spans(given_):
    text, spans = given_
    masked = apply(text, spans, Style.CATEGORY)
    inside = covered(spans)
    outside, done = [], 0
    for mark in masked.marks:
        outside.append(masked.text[done : mark.start])
        assert masked.text[mark.start : mark.end] == f"<{mark.category.name}>"
        done = mark.end
    outside.append(masked.text[done:])
    assert "".join(outside) == "".join(sign for place, sign in enumerate(text) if place not in inside)


@given(texts_with_spans())
def test_merging_and_masking_twice_is_merging_and_masking_once(given_):
    text, spans = given_
    merged = merge(spans)
    assert merge(merged) == merged
    assert merge(reversed(spans)) == merged
    assert covered(merged) == covered(spans)
    once = apply(text, spans)
    assert apply(once.text, spans).text == once.text


class Everything:
    """Finds the whole text three times, with falling confidence."""

    name = "everything"
    version = "1"

    def spans(self, text):
        kinds = ((Category.PERSON, 0.3), (Category.AGE, 0.4), (Category.EVENT, 0.9))
        return [Span(place, place + 1, kind, sure) for place, (kind, sure) in enumerate(kinds)]


def test_confidence_and_category_say_what_is_masked():
    assert mask("abc", Everything()).text == "a**"
    assert mask("abc", Everything(), least=0.0).text == "***"
    assert mask("abc", Everything(), least=0.41).text == "ab*"
    assert mask("abc", Everything(), categories=[Category.AGE]).text == "a*c"
