"""What opinions amount to, and what a question is known by."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.questions import LONGEST, Said, amount_to, key_of, spelled

START = datetime(2026, 3, 1, tzinfo=UTC)


def said(*opinions):
    """Opinions a minute apart: (source, who, score, *flags)."""
    return [
        Said(
            source,
            who,
            score,
            START + timedelta(minutes=place),
            resolves="resolves" in flags,
            withdrawn="withdrawn" in flags,
        )
        for place, (source, who, score, *flags) in enumerate(opinions)
    ]


def stands(*opinions, wants=1):
    found = amount_to(said(*opinions), wants=wants)
    return (found.state, found.score, found.rung, found.people)


def test_nothing_said_is_open():
    assert stands() == ("open", None, None, 0)


@pytest.mark.parametrize("score", [0, 0.5, 1])
def test_one_person_settles(score):
    assert stands(("person", "a", score)) == ("settled", score, "person", 1)


def test_who_thinks_again_is_heard_last():
    assert stands(("person", "a", 0), ("person", "a", 1)) == ("settled", 1, "person", 1)


def test_who_withdraws_has_said_nothing():
    assert stands(("person", "a", 0), ("person", "a", None, "withdrawn")) == ("open", None, None, 0)


def test_who_cannot_say_has_not_answered():
    assert stands(("person", "a", None)) == ("open", None, None, 0)
    assert stands(("person", "a", None), ("person", "b", 1)) == ("settled", 1, "person", 1)


@pytest.mark.parametrize(
    ("opinions", "rung", "score"),
    [
        ([("recorded", "f", 0)], "recorded", 0),
        ([("recorded", "f", 0), ("judge", "r", 1)], "judge", 1),
        ([("judge", "r", 1), ("recorded", "f", 0)], "judge", 1),
        ([("person", "a", 0.5), ("judge", "r", 1), ("recorded", "f", 0)], "person", 0.5),
        ([("judge", "r", 1), ("judge", "s", 0)], "judge", 0),
        ([("judge", "r", 1), ("judge", "s", None)], "judge", 1),
    ],
)
def test_people_come_before_a_judge_before_a_file(opinions, rung, score):
    assert stands(*opinions)[1:3] == (score, rung)


def test_files_that_differ_say_nothing():
    files = [("recorded", "f", 0), ("recorded", "g", 1)]
    assert stands(*files)[:2] == ("open", None)
    assert stands(*files, ("recorded", "g", 0))[:2] == ("settled", 0)
    assert stands(("recorded", "f", 1), ("recorded", "f", None))[:2] == ("open", None)
    assert stands(("recorded", "f", 1), ("recorded", "g", None))[:2] == ("open", None)


def test_people_who_differ_are_a_dispute_whatever_a_judge_says():
    assert stands(("judge", "r", 1), ("person", "a", 0), ("person", "b", 1)) == ("disputed", None, None, 2)


def test_who_has_seen_both_settles_it():
    assert stands(("person", "a", 0), ("person", "b", 1), ("person", "c", 0, "resolves")) == (
        "settled",
        0,
        "person",
        3,
    )


def test_a_later_opinion_opens_it_again_only_where_it_differs():
    before = [("person", "a", 0), ("person", "b", 1), ("person", "c", 0, "resolves")]
    assert stands(*before, ("person", "d", 1))[0] == "disputed"
    assert stands(*before, ("person", "d", 0))[:2] == ("settled", 0)


def test_a_withdrawn_resolution_leaves_the_dispute():
    before = [("person", "a", 0), ("person", "b", 1), ("person", "c", 0, "resolves")]
    assert stands(*before, ("person", "c", None, "withdrawn"))[0] == "disputed"


def test_two_are_wanted():
    assert stands(("person", "a", 1), wants=2) == ("open", None, None, 1)
    assert stands(("person", "a", 1), ("person", "a", 1), wants=2)[0] == "open"
    assert stands(("person", "a", 1), ("person", "b", 1), wants=2) == ("settled", 1, "person", 2)
    assert stands(("person", "a", 1), ("person", "b", 0), wants=2)[0] == "disputed"


def test_until_the_second_has_answered_the_judge_stands():
    assert stands(("judge", "r", 0), ("person", "a", 1), wants=2) == ("settled", 0, "judge", 1)


OPINIONS = st.lists(
    st.tuples(
        st.sampled_from(["person", "judge", "recorded"]),
        st.sampled_from("abc"),
        st.sampled_from([0.0, 0.5, 1.0, None]),
        st.sampled_from(["", "resolves", "withdrawn"]),
    ),
    max_size=8,
)


@given(OPINIONS)
def test_a_score_has_a_rung_and_a_dispute_has_none(opinions):
    found = amount_to(said(*opinions))
    assert (found.score is None) == (found.rung is None)
    assert not (found.is_disputed and found.score is not None)
    if found.score is not None:
        assert found.score in {one[2] for one in opinions}


@given(OPINIONS)
def test_to_repeat_the_last_opinion_changes_nothing(opinions):
    assert amount_to(said(*opinions)) == amount_to(said(*opinions, *opinions[-1:]))


def test_letter_case_and_blanks_make_no_other_question():
    assert key_of("sex", "Night  porter", " clerk ") == key_of("sex", "night porter", "CLERK")
    assert key_of("sex", "a", "b") != key_of("sex", "b", "a")
    assert key_of("sex", "a b", "c") != key_of("sex", "a", "b c")


def test_long_texts_are_cut():
    assert len(spelled("x" * 5000)) == LONGEST
    assert key_of("sex", "x" * 5000, "y") == key_of("sex", "x" * 6000, "y")
