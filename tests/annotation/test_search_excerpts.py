"""What a list shows of a text: a window around the first hit, in pieces that a page can escape."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.excerpts import BEGIN, END, Piece, pieces


def test_hits_are_pieces_of_their_own():
    assert pieces(f"The {BEGIN}night{END} bus at {BEGIN}night{END}") == [
        Piece("The "),
        Piece("night", hit=True),
        Piece(" bus at "),
        Piece("night", hit=True),
    ]


def test_a_long_text_is_shown_around_its_first_hit():
    found = pieces("a " * 300 + f"{BEGIN}zeppelin{END}" + " b" * 300, length=100)
    assert found[0] == Piece("… ")
    assert found[-1] == Piece("…")
    assert Piece("zeppelin", hit=True) in found
    assert sum(len(piece.text) for piece in found) <= 103


def test_a_long_text_without_a_hit_is_shown_from_its_beginning():
    found = pieces("word " * 100, length=20)
    assert "".join(piece.text for piece in found) == "word word word word …"


def test_mark_up_in_the_text_stays_text():
    assert pieces(f"<b>{BEGIN}bold{END}</b>") == [Piece("<b>"), Piece("bold", hit=True), Piece("</b>")]


@given(st.text(alphabet=st.sampled_from(["a", " ", BEGIN, END, "é", "\n"]), max_size=60))
def test_no_text_is_lost_or_made_up(text):
    shown = "".join(piece.text for piece in pieces(text, length=1000))
    assert shown == " ".join(text.split()).replace(BEGIN, "").replace(END, "")


def test_the_cut_in_front_of_a_hit_falls_between_words():
    found = pieces("incomprehensible " * 10 + f"{BEGIN}zeppelin{END} " + "b " * 200, length=100)
    assert found[:2] == [Piece("… "), Piece("incomprehensible incomprehensible ")]
