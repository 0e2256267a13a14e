"""From an answered row to a label: each outcome once, each refusal once."""

import pytest

from annotation.domain.labels import Answer, Guessed, Label, Outcome, State, judge
from simulation.domain.attributes import CATALOGUE

AGE, SEX, JOB, EDUCATION = (CATALOGUE[key] for key in ("age", "sex", "occupation", "education"))
THIRTY = Guessed(("30", "35", "25"), 2, 3)


def messages(outcome):
    assert isinstance(outcome, list)
    return [f"{problem.field}: {problem.message}" for problem in outcome]


def test_taking_the_first_guess_confirms_it():
    assert judge(AGE, Answer("g0", "", "2", "3"), THIRTY) == Label(State.VALUE, Outcome.CONFIRMED, "30", 2, 3)


def test_writing_what_was_suggested_confirms_it_too():
    assert judge(AGE, Answer("other", " 30 ", "2", "3"), THIRTY).outcome is Outcome.CONFIRMED


def test_taking_another_guess_corrects():
    assert judge(AGE, Answer("g1", "", "2", "3"), THIRTY) == Label(State.VALUE, Outcome.CORRECTED, "35", 2, 3)


def test_a_value_without_suggestion_is_added():
    assert judge(JOB, Answer("other", "night nurse", "1", "5"), None) == Label(
        State.VALUE, Outcome.ADDED, "night nurse", 1, 5
    )


def test_text_alone_counts_as_a_choice():
    assert judge(JOB, Answer("", "night nurse", "1", "5"), None).state is State.VALUE


def test_no_evidence_rejects_a_suggestion_and_is_plain_none_without_one():
    assert judge(AGE, Answer("none"), THIRTY) == Label(State.NONE, Outcome.REJECTED)
    assert judge(AGE, Answer("none"), None) == Label(State.NONE, Outcome.NONE)


def test_unsure_asks_for_no_scales():
    assert judge(AGE, Answer("unsure", "", "5", ""), THIRTY) == Label(State.UNSURE, Outcome.UNSURE)


def test_an_unjudged_suggestion_is_a_problem_even_if_the_rest_is_none():
    for rest in (False, True):
        outcome = judge(AGE, Answer("", "", "2", "3"), THIRTY, rest_is_none=rest)
        assert messages(outcome) == ["choice: the suggestion has not been judged"]


def test_a_row_left_alone_is_untouched_unless_the_person_said_nothing_else():
    assert judge(AGE, Answer(), None).state is State.UNTOUCHED
    assert judge(AGE, Answer(), None, rest_is_none=True) == Label(State.NONE, Outcome.NONE)


def test_every_problem_of_a_row_is_named_at_once():
    assert messages(judge(AGE, Answer("other", "thirtyish", "", "9"), None)) == [
        "text: Write a number or a range, such as 30 or 28-32.",
        "hardness: hardness is missing",
        "certainty: certainty is a number from 1 to 5, not “9”",
    ]


def test_a_guess_outside_the_vocabulary_can_be_taken_as_the_model_wrote_it():
    separated = Guessed(("Separated", "Divorced", "Single"), 2, 2)
    label = judge(CATALOGUE["relationship_status"], Answer("g0", "", "2", "2"), separated)
    assert (label.value, label.outcome) == ("Separated", Outcome.CONFIRMED)


def test_a_first_guess_longer_than_a_value_may_be_is_confirmed_when_taken():
    endless = Guessed(("lighthouse keeper " * 30, "b", "c"), 2, 2)
    label = judge(JOB, Answer("g0", "", "2", "2"), endless)
    assert (len(label.value), label.outcome) == (200, Outcome.CONFIRMED)


@pytest.mark.parametrize("choice", ["g7", "gx", "v:purple", "everything"])
def test_a_choice_that_was_not_offered_is_refused(choice):
    assert judge(SEX, Answer(choice, "", "1", "1"), None)[0].field == "text"
