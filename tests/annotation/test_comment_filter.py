"""A filter of comments: read from an address, told in words, written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.comment_filter import FIELDS, LABEL_STATES, SAID, CommentFilter, closed_fields, read

WHOLE = {
    "q": 'stairs or "night bus" -tram',
    "attribute": "occupation",
    "value": "nurse",
    "hardness_from": "2",
    "hardness_to": "4",
    "certainty_from": "1",
    "certainty_to": "5",
    "tagger": "gpt-9",
    "said": "corrected",
    "person": "abc234",
    "thread": "def567",
    "author": "NightOwl",
    "state": "both",
}


def test_every_field_is_read_and_written_back_in_the_same_order():
    asked, problems = read(WHOLE)
    assert problems == []
    assert asked.fields() == WHOLE
    assert list(asked.fields()) == [key for key, _ in FIELDS.values()]
    assert (asked.text, asked.hardness_from, asked.certainty_to) == (WHOLE["q"], 2, 5)


def test_nothing_asked_is_the_empty_filter():
    asked, problems = read({"q": "  ", "attribute": "", "after": "whatever"})
    assert (asked, problems) == (CommentFilter(), [])
    assert asked.empty
    assert asked.fields() == {}
    assert asked.words() == []


def test_active_is_what_is_meant_without_a_state():
    assert read({"state": "active"})[0].empty
    assert not read({"state": "withdrawn"})[0].empty


def test_a_filter_is_told_in_words_and_names():
    asked, _ = read(WHOLE)
    told = asked.words({"person": "lena", "thread": "thread_1"})
    assert told[:3] == [
        ("Text", WHOLE["q"], "q"),
        ("Attribute", "Occupation", "attribute"),
        ("Value contains", "nurse", "value"),
    ]
    assert ("Said", "label: corrected", "said") in told
    assert ("Person", "lena", "person") in told
    assert ("Thread", "thread_1", "thread") in told
    assert ("State", "active and withdrawn", "state") in told


def test_one_field_can_be_left_out():
    asked, _ = read({"q": "stairs", "attribute": "age"})
    assert asked.without("q") == {"attribute": "age"}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"attribute": "shoe size"}, "Attribute: “shoe size” is not on the list"),
        ({"said": "perhaps"}, "Said: “perhaps” is not on the list"),
        ({"state": "gone"}, "State: “gone” is not on the list"),
        ({"hardness_from": "6"}, "Hardness from: choose a number from 1 to 5, not “6”"),
        ({"hardness_to": "two"}, "Hardness up to: choose a number from 1 to 5"),
        ({"certainty_from": "-1"}, "Certainty from: choose a number from 1 to 5"),
        ({"certainty_to": "0"}, "Certainty up to: choose a number from 1 to 5"),
        ({"hardness_from": "4", "hardness_to": "2"}, "Hardness from 4 up to 2 leaves nothing"),
        ({"certainty_from": "4", "certainty_to": "2"}, "Certainty from 4 up to 2 leaves nothing"),
        ({"q": "x" * 201}, "Text: at most 200 characters, not 201"),
        ({"value": "x" * 201}, "Value contains: at most 200 characters"),
        ({"author": "a\x00b"}, "Author: a character of it cannot be searched for"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(params, problem):
    _, problems = read(params)
    assert [one for one in problems if one.startswith(problem)], problems


def test_several_problems_are_all_said():
    assert len(read({"attribute": "x", "said": "y", "hardness_from": "9"})[1]) == 3


def test_somebody_who_must_not_see_labels_may_use_text_thread_and_author_only():
    rights = {"sees_labels": False, "names_people": False}
    assert closed_fields(read({"q": "bus", "thread": "abc", "author": "NightOwl"})[0], **rights) == []
    closed = set(WHOLE) - {"q", "thread", "author"}
    for key in closed:
        asked, problems = read({key: WHOLE[key]})
        assert problems == []
        assert len(closed_fields(asked, **rights)) == 1, key


def test_somebody_who_must_not_learn_names_may_not_filter_by_person():
    whole, _ = read(WHOLE)
    assert closed_fields(whole, sees_labels=True, names_people=False) == [
        "Person: only people who manage queues can filter by it; remove it."
    ]
    assert closed_fields(whole, sees_labels=True, names_people=True) == []


def test_the_states_of_labels_are_among_what_can_be_said():
    assert set(LABEL_STATES) < set(SAID)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: st.one_of(st.sampled_from([WHOLE[key], "", "4"]), st.text(max_size=12)) for key in WHOLE
        },
    )
)
def test_whatever_comes_is_read_and_what_was_read_reads_back(params):
    asked, problems = read(params)
    again, more = read(asked.fields())
    assert again == asked
    assert len(more) <= len(problems)
