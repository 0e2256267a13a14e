"""What a file is, by what stands in it."""

import json
import re

import pytest

from annotation.exchange.layouts import Layout, layout_of
from annotation.exchange.reading import Unreadable
from tests.annotation.exchange.samples import node, profile, row


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        ("a.json", {"pers1": profile()}, Layout.PROFILES),
        ("a.json", json.dumps({"pers1": profile()}, indent=1), Layout.PROFILES),
        ("a.json", {"pers1": json.dumps(profile())}, Layout.PROFILES),
        ("a.json", node(), Layout.TREE),
        ("a.json", json.dumps(node(profile=profile()), indent=1), Layout.TREE),
        ("a.json", json.dumps({"profile": profile(), **node()}), Layout.TREE),
        ("a.json", {"children": [], "text": "x"}, Layout.TREE),
        ("a.jsonl", [node()], Layout.TREE),
        ("a.jsonl", [row()], Layout.LINES),
        ("a.json", [row(), row(1)], Layout.LINES),
        ("a.txt", [row()], Layout.LINES),
        ("a.json", json.dumps([row()]), Layout.ARRAY),
        ("a.jsonl", "{broken\n", Layout.LINES),
        ("a.json", "{broken\n", Layout.TREE),
    ],
)
def test_the_layout_is_seen(write, name, content, layout):
    assert layout_of(write(name, content)) is layout
    assert layout_of(write(f"{name}.gz", content)) is layout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("comment,text\n", "not JSON"),
        ([{"username": "A", "comments": []}, {"username": "B"}], "username, comments"),
        ({"count": 3}, "“thread_id”"),
        ([node(), node()], "more than one tree"),
    ],
)
def test_what_is_none_of_them_is_refused_with_what_is_possible(write, content, message):
    with pytest.raises(Unreadable, match=message):
        layout_of(write("a.json", content))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "column", "message"),
    [
        (r"a\qb", 4, r"Invalid \escape"),
        ("a\tb", 4, "Invalid control character"),
        (r"a\uZZZZ", 5, r"Invalid \uXXXX"),
    ],
)
def test_a_first_key_that_is_no_json_is_named_with_its_place(take, key, column, message):
    for inner in ('{\n"age":3}', "3"):
        report = take("profiles.json", '{\n "' + key + '": ' + inner + "\n}")
        (said,) = report.problems
        assert said.line == 2
        assert message in said.message
        assert re.match(rf"not valid JSON at column {column}:", said.message)
