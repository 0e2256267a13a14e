"""Evidence is checked against the text by code points: emoji, combining signs and right-to-left included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.evidence import BadEvidence, Readable, read
from annotation.domain.labels import Quote

FAMILY = "👩‍👩‍👧 at home, cafe\u0301 owner, שלום from Haifa"
TEXTS = Readable({"target": FAMILY, "above": "My wife and I moved."})


def sent(*quotes):
    return json.dumps([{"comment": c, "start": s, "end": e, "quote": q} for c, s, e, q in quotes])


def test_quotes_of_the_comment_and_of_one_above_are_taken_in_their_order():
    start = FAMILY.index("cafe\u0301")
    took = read(sent(("target", start, start + 5, "cafe\u0301"), ("above", 3, 7, "wife")), "", TEXTS)
    assert took == (Quote("target", start, start + 5, "cafe\u0301"), Quote("above", 3, 7, "wife"))


@given(st.text(alphabet="ab👩‍👧é\u0301של\n", min_size=1, max_size=40), st.data())
def test_any_part_of_a_text_can_be_quoted_and_any_other_place_is_refused(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    words = text[start:end]
    if not words.strip():
        return
    readable = Readable({"t": text})
    assert read(sent(("t", start, end, words)), "", readable)[0].quote == words
    with pytest.raises(BadEvidence, match="does not stand at its place"):
        read(sent(("t", start, end, words + "x")), "", readable)


def test_offsets_in_utf_16_are_refused_where_they_differ():
    start = FAMILY.index("at home")
    units = len(FAMILY[:start].encode("utf-16-le")) // 2
    assert units != start
    with pytest.raises(BadEvidence):
        read(sent(("target", units, units + 7, "at home")), "", TEXTS)


def test_a_typed_line_is_found_in_the_comment_or_above_it():
    assert read("", "at home\n\n wife and I ", TEXTS) == (
        Quote("target", FAMILY.index("at home"), FAMILY.index("at home") + 7, "at home"),
        Quote("above", 3, 13, "wife and I"),
    )


def test_the_same_quote_twice_counts_once():
    assert len(read(sent(("above", 3, 7, "wife"), ("above", 3, 7, "wife")), "wife", TEXTS)) == 1


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("not json", "could not be read"),
        ("{}", "could not be read"),
        ("[1]", "could not be read"),
        ("[" * 5000, "could not be read"),
        (sent(("elsewhere", 0, 2, "My")), "another comment"),
        (sent((None, 0, 2, "My")), "another comment"),
        (sent(("above", 0, 2, "Me")), "does not stand at its place"),
        (sent(("above", "0", 2, "My")), "does not stand at its place"),
        (sent(("above", True, 2, "y")), "does not stand at its place"),
        (sent(("above", -2, 2, "My")), "does not stand at its place"),
        (sent(("above", 0, 99, "My")), "does not stand at its place"),
        (sent(("above", 2, 3, " ")), "not only blanks"),
        ('[{"comment": "above", "start": 0, "end": 1, "quote": "\\ud83d"}]', "half a sign"),
        (sent(*(("above", 0, end, "My wife and I moved."[:end]) for end in range(1, 12))), "At most 10"),
    ],
)
def test_what_is_no_quote_of_these_texts_is_refused_in_words(broken, said):
    with pytest.raises(BadEvidence, match=said):
        read(broken, "", TEXTS)


def test_a_typed_line_that_stands_nowhere_is_refused():
    with pytest.raises(BadEvidence, match="does not stand in this comment"):
        read("", "never said", TEXTS)
