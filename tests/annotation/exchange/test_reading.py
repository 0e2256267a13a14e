"""Bytes to text, plain or packed, and what is said about bytes that are no text."""

import gzip

import pytest

from annotation.exchange import reading
from annotation.exchange.reading import Unreadable, chunks, head, lines, stem


def test_lines_come_with_their_numbers_and_blank_ones_are_passed_over(write):
    path = write("a.jsonl", "one\n\n  \ntwo\r\nthree")
    assert [(line.number, line.data.strip()) for line in lines(path)] == [
        (1, b"one"),
        (4, b"two"),
        (5, b"three"),
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_byte_order_mark_is_no_part_of_the_text(write, name):
    path = write(name, b"\xef\xbb\xbf{}\n")
    assert [line.data for line in lines(path)] == [b"{}\n"]
    assert "".join(chunks(path)) == "{}\n"
    assert head(path) == "{}\n"


def test_a_packed_file_is_known_by_its_content_not_its_name(write):
    assert [line.data for line in lines(write("a.jsonl", gzip.compress(b"x\n")))] == [b"x\n"]


def test_signs_of_several_bytes_may_lie_across_two_pieces(write, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK", 3)
    assert "".join(chunks(write("a.json", "aé€😅z"))) == "aé€😅z"


def test_a_packed_file_that_ends_too_early_is_named_with_the_line(write):
    whole = gzip.compress(b"".join(b"%d %d\n" % (number, number**7) for number in range(90_000)))
    path = write("a.jsonl.gz", whole[: len(whole) // 2])
    with pytest.raises(Unreadable, match="ends too early") as error:
        list(lines(path))
    assert error.value.line > 1000


def test_a_damaged_packed_file_is_named(write):
    whole = bytearray(gzip.compress(b"text\n" * 1000))
    whole[12:30] = b"\xff" * 18
    with pytest.raises(Unreadable, match="is damaged"):
        list(lines(write("a.jsonl.gz", bytes(whole))))


def test_bytes_that_are_not_utf8_are_named_with_line_and_column(write):
    with pytest.raises(Unreadable, match=r"column 3 is not UTF-8 \(byte 0xe9\)") as error:
        list(chunks(write("a.json", b"one\n\xc3\xa9x\xe9\n")))
    assert error.value.line == 2


def test_a_line_without_end_is_refused_before_it_fills_the_memory(write, monkeypatch):
    monkeypatch.setattr(reading, "MAX_RECORD", 10)
    with pytest.raises(Unreadable, match="longer than") as error:
        list(lines(write("a.jsonl", "short\n" + "x" * 11)))
    assert error.value.line == 2


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("thread_age_1.json.gz", "thread_age_1"),
        ("thread_age_1.json", "thread_age_1"),
        ("a.b.json", "a.b"),
        ("plain", "plain"),
        ("rows.jsonl.GZ", "rows"),
    ],
)
def test_the_stem_stands_for_the_thread(name, wanted):
    assert stem(name) == wanted


@pytest.mark.parametrize("text", ["plain", "é😅", "with space"])
def test_a_name_is_text(text):
    assert reading.is_text(text)


@pytest.mark.parametrize(("text", "shown"), [("t_\udcff", "t_?"), ("\ud800", "?"), ("a\0", "a\0")])
def test_a_name_that_cannot_be_stored_is_not(text, shown):
    assert not reading.is_text(text)
    assert reading.readable(text) == shown


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.json.gz", "tree.json.gz", "profiles.json.gz"])
def test_a_record_of_63_mb_is_refused_although_it_is_small_when_packed(take, name):
    blown = '"' + "x" * (63 << 20) + '"'
    text = {
        "rows.jsonl.gz": f'{{"id": "c0", "thread_id": "t", "x": {blown}}}\n',
        "rows.json.gz": f'[{{"id": "c0", "x": {blown}}}]',
        "tree.json.gz": f'{{"text": "a", "username": "b", "children": [], "x": {blown}}}',
        "profiles.json.gz": f'{{"p": {{"x": {blown}}}}}',
    }[name]
    report = take(name, text)
    assert "is longer than 16 MiB" in report.problems[0].message
    assert report.problem_count == 1
