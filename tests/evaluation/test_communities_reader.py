"""Names of communities are read from whatever a model writes; what is none is never made one."""

import json

import pytest

from evaluation.domain.communities import (
    Communities,
    Declined,
    chosen,
    distinct,
    joined,
    read_communities,
    shown,
)
from simulation.llm.messages import ChatReply, Finish, Usage
from simulation.llm.structured import Parsed, Shape, Unparsed, read

THREE = ["AskMen", "Cooking", "de_EDV"]
SHAPE = Shape(Communities, read_communities, "")


def answered(text):
    return read(ChatReply(text, Finish.STOP, Usage(1, 1), "served"), SHAPE)


@pytest.mark.parametrize(
    "text",
    [
        "/r/AskMen, /r/Cooking, /r/de_EDV",
        "r/AskMen, r/Cooking, r/de_EDV",
        "R/AskMen R/Cooking R/de_EDV",
        "- /r/AskMen\n- /r/Cooking\n- /r/de_EDV",
        "1. **r/AskMen** - men talk there\n2. **r/Cooking** - food\n3. **r/de\\_EDV** - computers",
        "1) AskMen\n2) Cooking\n3) de_EDV",
        "* AskMen: men talk there\n* Cooking (food)\n* de_EDV",
        "Subreddits: AskMen, Cooking and de_EDV",
        "AskMen, Cooking, de_EDV",
        "AskMen\nCooking\nde_EDV",
        "Sure! Such a thread fits /r/AskMen best, then /r/Cooking, and /r/de_EDV.",
        "https://www.reddit.com/r/AskMen/, https://reddit.com/r/Cooking, old.reddit.com/r/de_EDV",
        json.dumps({"communities": THREE}),
        json.dumps({"communities": [f"/r/{name}" for name in THREE]}),
        json.dumps({"communities": "/r/AskMen, /r/Cooking, /r/de_EDV"}),
        json.dumps({"communities": ["/r/AskMen", None, "/r/Cooking", "not one name", "/r/de_EDV"]}),
        json.dumps({"subreddits": [f"r/{name}" for name in THREE]}),
        json.dumps({"subreddits": THREE}),
        json.dumps(THREE),
        json.dumps([{"name": f"r/{name}", "why": "it fits"} for name in THREE]),
        "```json\n" + json.dumps({"communities": THREE}) + "\n```",
        'Here you are:\n\n```json\n{"communities": ["/r/AskMen", "/r/Cooking", "/r/de_EDV"]}\n```\n\nMore?',
        '{"communities" ["/r/AskMen", "/r/Cooking", "/r/de_EDV"]',
        "<think>r/Sailing? No.</think>/r/AskMen, /r/Cooking, /r/de_EDV",
    ],
)
def test_three_names_are_read_in_every_dress(text):
    read_ = answered(text)
    assert isinstance(read_, Parsed), read_
    assert read_.value.communities == THREE


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/r/AskMen", ["AskMen"]),
        ("/r/AskMen, /r/askmen", ["AskMen", "askmen"]),
        ("/r/A1, /r/B2, /r/C3, /r/D4", ["A1", "B2", "C3", "D4"]),
        ('{"communities": ["/r/AskMen", "/r/Cooking", "/r/de', ["AskMen", "Cooking"]),
        ("his/her/their things, in r/AskMen", ["AskMen"]),
        ("r/self-care and r/AskMen - mostly", ["self-care", "AskMen"]),
        ('{"communities": []}', []),
    ],
)
def test_fewer_and_more_than_three_are_read_as_they_are(text, names):
    assert answered(text).value.communities == names


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot provide names of communities; not even r/AskReddit.",
        "Das kann ich leider nicht: ich kann dabei nicht helfen.",
    ],
)
def test_a_refusal_in_words_is_a_refusal(text):
    assert isinstance(answered(text).value, Declined)


@pytest.mark.parametrize(
    "text",
    [
        "No, sorry",
        "Sorry.",
        "AskReddit",
        "It depends on the mood of whoever writes it.",
        "Names: none, unknown",
        "his/her/their",
        '{"answer": 3}',
        '{"communities": 3}',
    ],
)
def test_what_names_nothing_is_unreadable_and_no_name_is_made_up(text):
    read_ = answered(text)
    assert isinstance(read_, Unparsed)
    assert read_.problem


@pytest.mark.parametrize(
    ("names", "askreddit", "kept"),
    [
        (["AskMen", "askmen", "Cooking", "ASKMEN"], False, ("r/AskMen", "r/Cooking")),
        (["AskReddit", "A1", "B2", "C3"], False, ("r/A1", "r/B2", "r/C3")),
        (["AskReddit", "A1", "B2", "C3"], True, ("r/AskReddit", "r/A1", "r/B2")),
        (["askreddit"], False, ()),
        ([], True, ()),
    ],
)
def test_the_first_three_different_ones_are_kept(names, askreddit, kept):
    assert chosen(names, askreddit=askreddit) == kept


def test_names_are_written_as_published_and_counted_with_letter_case_aside():
    assert joined(["r/A", "r/B", "plain"]) == "/r/A, /r/B, plain"
    assert distinct([["/r/A", " /r/a "], ["/r/B", ""], []]) == (3, 2)
    assert distinct([]) == (0, 0)


def test_a_post_is_shown_bounded_and_cannot_end_its_part():
    assert shown("one </post> two <POST>" + "x" * 50, 20) == "one   two  " + "x" * 3 + "x" * 6
