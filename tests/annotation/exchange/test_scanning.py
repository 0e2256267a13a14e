"""JSON of any length, one value at a time, with the place of what is wrong."""

import json

import pytest

from annotation.exchange.decoding import decode
from annotation.exchange.reading import Unreadable
from annotation.exchange.scanning import Entry, Scanner
from tests.annotation.exchange.conftest import said
from tests.annotation.exchange.samples import row


def scan(text, size):
    return list(Scanner(text[start : start + size] for start in range(0, len(text), size)).entries())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_members_come_with_the_line_they_begin_in_however_the_text_is_cut(size):
    text = '{"a": {"x": [1, 2.5, "é\\u0041"]},\n\n "b": 12345,\n"c": "words",\n"d": true}\n'
    assert scan(text, size) == [
        Entry(1, "a", {"x": [1, 2.5, "éA"]}),
        Entry(3, "b", 12345),
        Entry(4, "c", "words"),
        Entry(5, "d", True),
    ]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_elements_of_an_array_have_no_key(size):
    assert scan('[\n{"a": 1},\n{"a": 2}]', size) == [Entry(2, "", {"a": 1}), Entry(3, "", {"a": 2})]


def test_nothing_in_it_is_nothing_out_of_it():
    assert scan("{}", 9) == scan(" [ ] ", 1) == []


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a" 1}', 1, "column 6: “:” is expected"),
        ('{"a": 1,}', 1, "column 9: a name in double quotes is expected"),
        ("[1 2]", 1, "column 4: “,” is expected"),
        ('{"a": 1}  x', 1, "column 11: something follows the end"),
        ('{"a": "x', 1, "column 7: Unterminated string"),
        ('{\n"a":\n [1,,2]}', 3, "column 5: Expecting value"),
        ("5", 1, "a JSON object or array is expected"),
        ('{"a":\n\n NaN}', 3, "NaN is not JSON"),
        ('{"a":\n 1e999}', 2, "1e999 is too large a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, line, message, size):
    with pytest.raises(Unreadable) as error:
        scan(text, size)
    assert error.value.line == line
    assert message in str(error.value)


def test_an_endless_value_is_refused(monkeypatch):
    monkeypatch.setattr("annotation.exchange.scanning.MAX_RECORD", 20)
    with pytest.raises(Unreadable, match="longer than"):
        scan('{"a": "' + "x" * 100 + '"}', 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'{"a": "\u0000"}', "NUL character"),
        (r'{"a": "\ud83d"}', "surrogate"),
        (r'{"a": "\\ud83d\ude05"}', "surrogate"),
        (r'{"a\u0000": 1}', "NUL character"),
        ('{"a": ' + "[" * 401 + "]" * 401 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 3000 + "]" * 3000 + "}", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_what_the_database_cannot_hold_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        decode(text)


@pytest.mark.parametrize(
    "text", ["[" * 399 + "{}" + "]" * 399, r'"\ud83d\ude05"', r'"\\u0000"', r'"\u00e9"', '"😅"', r'"\\ud83d"']
)
def test_what_it_can_hold_is_not(text):
    assert decode(text) == json.loads(text)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_value_may_be_as_long_as_the_limit_however_the_text_is_cut(monkeypatch, size):
    monkeypatch.setattr("annotation.exchange.scanning.MAX_RECORD", 20)
    assert [one.value for one in scan('["' + "x" * 18 + '", 1]', size)] == ["x" * 18, 1]
    with pytest.raises(Unreadable, match="longer than"):
        scan('["' + "x" * 19 + '", 1]', size)


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_key_that_stands_twice_is_named_with_the_place_of_its_object(size):
    with pytest.raises(Unreadable, match=r"column 8: the object that begins here has “x” twice") as error:
        scan('{"a": 1,\n "b": [{"x": 1, "y": {"x": 2}, "x": 3}]}', size)
    assert error.value.line == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 1}', "line 1 column 1"),
        ('{"b": {},\n"c": [1, {"a": 1, "\\u0061": 2}]}', "line 2 column 10"),
        ('{"a": ' + "[" * 350 + '{"a": 1, "a": 2}' + "]" * 350 + "}", "line 1"),
    ],
)
def test_a_key_is_the_same_however_it_is_written_and_however_deep(text, place):
    with pytest.raises(json.JSONDecodeError, match="has “a” twice") as error:
        decode(text)
    assert place in str(error.value)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "where"),
    [("rows.jsonl", "line 2"), ("profiles.json", "line 2"), ("tree.json", "line 2")],
)
def test_every_layout_refuses_a_key_twice(take, name, where):
    text = {
        "rows.jsonl": json.dumps(row()) + '\n{"id": "c1", "text": "a", "text": "b"}\n',
        "profiles.json": '{"p": {"age": 3},\n"q": {"age": 3, "age": 4}}',
        "tree.json": '{"text": "a", "username": "b", "children": [\n{"text": "a", "text": "b"}]}',
    }[name]
    (problem,) = said(take(name, text))
    assert f"{name}, {where}" in problem
    assert "twice; keep one of them" in problem
