"""Which label is released, by each policy: rules without a database."""

import pytest

from annotation.domain.adjudication import NOTHING, Opinion
from annotation.domain.labels import State
from evaluation.domain.release_labels import Decided, Voice, released
from simulation.domain.attributes import CATALOGUE

AGE, SEX = CATALOGUE["age"], CATALOGUE["sex"]
NONE = Opinion(State.NONE)


def value(words, hardness=2, certainty=3):
    return Opinion(State.VALUE, words, hardness, certainty)


def voices(*said):
    """One voice a person, in the order of time; (who, opinion) for a certain person."""
    named = [one if isinstance(one, tuple) else (f"p{place}", one) for place, one in enumerate(said)]
    return [Voice(who, (place, place), opinion) for place, (who, opinion) in enumerate(named)]


def test_all_say_the_same_in_different_words():
    found = released(
        AGE, "adjudicated", None, voices(value("30", 1, 2), value("33", 3, 5), value("30", 2, 3))
    )
    assert found.opinion == value("30", 2, 3)
    assert (found.basis, found.people, found.agreeing) == ("agreed", 3, 3)


def test_one_who_differs_leaves_no_label_without_a_decision():
    said = voices(value("30"), value("60"))
    assert released(AGE, "adjudicated", None, said) is None
    found = released(AGE, "adjudicated", None, said, [Decided(7, value("58"), "slip", "clear")])
    assert (found.opinion.value, found.basis, found.people, found.agreeing) == ("58", "decided", 2, 1)
    assert (found.reason, found.note) == ("slip", "clear")


def test_one_who_did_not_judge_keeps_a_value_from_being_agreed_and_none_not():
    assert released(AGE, "adjudicated", None, voices(value("30"), NOTHING)) is None
    found = released(AGE, "adjudicated", None, voices(NONE, NOTHING))
    assert (found.opinion, found.people) == (NONE, 1)
    assert released(AGE, "adjudicated", None, voices(NOTHING, NOTHING)) is None


def test_the_later_of_two_decisions_and_of_two_answers_of_one_person_counts():
    decisions = [Decided(9, value("male"), "slip", ""), Decided(4, value("female"), "edge", "")]
    assert released(SEX, "adjudicated", None, [], decisions).opinion.value == "male"
    said = voices(("p1", value("female")), ("p2", value("male")), ("p1", value("male")))
    assert released(SEX, "adjudicated", None, said).people == 2
    assert released(SEX, "agreeing", 2, said).agreeing == 2


@pytest.mark.parametrize(
    ("wanted", "said", "found"),
    [
        (2, ["30", "31", "60"], ("30", 2)),
        (3, ["30", "31", "60"], None),
        (2, ["30", "31", "60", "61"], None),  # two camps of the same size
        (1, ["30"], ("30", 1)),
        (1, ["30", "60"], None),
    ],
)
def test_so_many_who_agree(wanted, said, found):
    label = released(AGE, "agreeing", wanted, voices(*map(value, said)))
    assert (label and (label.opinion.value, label.agreeing)) == found


def test_none_is_an_answer_that_people_can_agree_on():
    found = released(SEX, "agreeing", 2, voices(NONE, value("male"), NONE))
    assert (found.opinion, found.people, found.agreeing) == (NONE, 3, 2)


def test_decisions_are_not_looked_at_where_people_have_to_agree():
    found = released(SEX, "agreeing", 1, voices(value("male")), [Decided(1, value("female"), "slip", "")])
    assert found.opinion.value == "male"


def test_the_latest_person_is_heard_or_the_one_before_where_that_one_said_nothing():
    found = released(SEX, "single", None, voices(value("male"), value("female"), NOTHING))
    assert (found.opinion.value, found.basis, found.people, found.agreeing) == ("female", "single", 2, 1)
    assert released(SEX, "single", None, voices(NOTHING)) is None
