"""The rules of adjudication: what differs, who stands where, what a choice amounts to."""

import random

import pytest

from annotation.domain import adjudication as rules
from annotation.domain.adjudication import NOTHING, Opinion
from annotation.domain.labels import Problem, Quote, State
from annotation.domain.ruling_rows import rows
from annotation.domain.rulings import Choice, Ruling, choice_of, rule
from simulation.domain.attributes import CATALOGUE
from simulation.domain.matching import Match, compare
from simulation.domain.seeds import generator

AGE, SEX, HOME = CATALOGUE["age"], CATALOGUE["sex"], CATALOGUE["city_country"]
NONE, UNSURE = Opinion(State.NONE), Opinion(State.UNSURE)
REASONS = ("unanimous", "ambiguous", "slip")


def says(words, hardness=2, certainty=4, *quotes):
    return Opinion(State.VALUE, words, hardness, certainty, quotes)


def quote(start, words="the night bus"):
    return Quote("comment", start, start + len(words), words)


def test_nobody_and_one_person_do_not_differ():
    assert rules.differing([]) == []
    assert rules.differing([{"age": says("30")}]) == []


def test_what_differs_comes_in_the_order_of_the_catalogue():
    one = {"occupation": says("baker"), "age": says("30")}
    other = {"occupation": says("pilot"), "age": says("60")}
    assert rules.differing([one, other]) == ["age", "occupation"]


def test_one_of_three_is_enough_to_differ():
    assert rules.differing([{"age": says("30")}, {"age": says("30")}, {"age": says("60")}]) == ["age"]


def test_a_row_that_was_left_alone_differs_from_a_value_and_not_from_none():
    assert rules.differing([{}, {"age": NONE}, {"age": NOTHING}]) == []
    assert rules.differing([{}, {"age": says("30")}]) == ["age"]
    assert rules.differing([{"age": NOTHING}, {"age": says("30")}]) == ["age"]
    assert rules.differing([{}, {"age": UNSURE}]) == ["age"]


def test_marks_and_letter_case_make_no_difference():
    one, other = says("Paris, France", 1, 1), says("paris, france", 5, 5)
    assert rules.differing([{"city_country": one}, {"city_country": other}]) == []


def test_values_are_compared_by_the_attribute_s_own_rule():
    for attribute, one, other in ((AGE, "30", "31-35"), (HOME, "Graz, Austria", "Austria")):
        assert compare(attribute, one, other) is not Match.SAME
        assert rules.differing([{attribute.key: says(one)}, {attribute.key: says(other)}]) == [attribute.key]


def test_the_strongest_difference_counts():
    assert rules.worst([]) is Match.SAME
    assert rules.worst([Match.LESS_PRECISE, Match.SAME]) is Match.LESS_PRECISE
    assert rules.worst([Match.LESS_PRECISE, Match.DIFFERENT, Match.SAME]) is Match.DIFFERENT


def test_who_says_what_most_say_is_not_marked():
    found = rules.standing(SEX, [says("male"), says("female"), says("male")])
    assert found == [Match.SAME, Match.DIFFERENT, Match.SAME]


def test_without_a_majority_all_are_marked():
    assert rules.standing(SEX, [says("male"), says("female")]) == [Match.DIFFERENT] * 2
    pairs = [says("male"), says("female"), says("male"), says("female")]
    assert rules.standing(SEX, pairs) == [Match.DIFFERENT] * 4
    assert rules.standing(SEX, []) == []


def test_a_value_between_two_that_differ_does_not_hide_the_difference():
    found = rules.standing(AGE, [says("30"), says("34"), says("38")])
    assert found == [Match.DIFFERENT, Match.SAME, Match.DIFFERENT]


def test_letters_are_shuffled_by_the_item_alone_and_stay():
    def order(item):
        return rules.shuffled(["first", "second", "third"], generator(0, "adjudication", item))

    assert order("abc") == order("abc")
    assert [letter for letter, _ in order("abc")] == ["A", "B", "C"]
    assert len({tuple(name for _, name in order(f"item{n}")) for n in range(60)}) == 6


def test_there_are_letters_for_any_number_of_people():
    letters = [letter for letter, _ in rules.shuffled(range(60), random.Random(1))]
    assert len(set(letters)) == 60


@pytest.mark.parametrize(
    ("marks", "expected"),
    [([], None), ([None, None], None), ([3], 3), ([2, 3], 2), ([1, 4], 2), ([1, None, 5], 3), ([1, 2, 5], 2)],
)
def test_the_median_is_rounded_towards_the_lower(marks, expected):
    assert rules.middle(marks) == expected


def test_what_people_agree_on_is_one_value_with_median_marks_and_all_quotes():
    found = rules.agreed(
        [
            says("vienna, austria", 1, 5, quote(3)),
            says("Vienna, Austria", 4, 2, quote(3), quote(20)),
            says("Vienna, Austria", 2, 2),
            NOTHING,
        ]
    )
    assert (found.value, found.hardness, found.certainty) == ("Vienna, Austria", 2, 2)
    assert found.evidence == (quote(3), quote(20))


def test_what_people_say_together_does_not_depend_on_their_order():
    opinions = [says("32", 1, 4, quote(9)), says("30", 2, 5, quote(1))]
    assert rules.agreed(opinions) == rules.agreed(opinions[::-1])
    assert rules.agreed(opinions).value == "30"


def test_none_and_untouched_together_are_none_and_untouched_alone_is_nothing():
    assert rules.agreed([NOTHING, NONE]).state is State.NONE
    assert not rules.agreed([NOTHING, NOTHING]).said


def test_a_column_is_taken_with_its_marks_and_the_quotes_of_who_says_the_same():
    voices = {"A": says("30", 2, 4, quote(1)), "B": says("60"), "C": says("30", 5, 5, quote(9))}
    ruling = rule(AGE, Choice("A", reason="slip", note=" a  slip "), voices, REASONS)
    assert ruling == Ruling(Opinion(State.VALUE, "30", 2, 4, (quote(1), quote(9))), "slip", "a slip")


def test_marks_of_one_s_own_win_over_those_of_the_column():
    ruling = rule(AGE, Choice("A", hardness="5", reason="slip"), {"A": says("30"), "B": says("60")}, REASONS)
    assert (ruling.opinion.hardness, ruling.opinion.certainty) == (5, 4)


def test_a_value_of_one_s_own_is_stored_in_its_canonical_form():
    choice = Choice(own=" MAN ", hardness="1", certainty="5", reason="ambiguous", guideline_gap=True)
    ruling = rule(SEX, choice, {"A": says("female"), "B": NONE}, REASONS)
    assert (ruling.opinion.value, ruling.guideline_gap) == ("male", True)


def test_none_and_unsure_have_no_marks():
    for state in ("none", "unsure"):
        choice = Choice(state, hardness="3", certainty="3", reason="slip")
        assert rule(AGE, choice, {"A": says("30"), "B": NONE}, REASONS).opinion == Opinion(State(state))


def wrong(attribute, choice, voices):
    return [(problem.field, problem.message) for problem in rule(attribute, choice, voices, REASONS)]


DISPUTED = {"A": says("30"), "B": says("60"), "C": NOTHING}


def test_what_is_wrong_is_said_all_at_once():
    assert [field for field, _ in wrong(AGE, Choice(own="30", note="x" * 501), DISPUTED)] == [
        "note",
        "hardness",
        "certainty",
        "reason",
    ]


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        (Choice(), "take"),
        (Choice("D", reason="slip"), "take"),
        (Choice("C", reason="slip"), "take"),
        (Choice("A"), "reason"),
        (Choice("A", reason="unanimous"), "reason"),
        (Choice("A", reason="because"), "reason"),
        (Choice("own", own="very old", hardness="1", certainty="1", reason="slip"), "own"),
        (Choice("own", reason="slip"), "own"),
        (Choice("A", hardness="6", reason="slip"), "hardness"),
        (Choice("none", reason="slip", note="a\x00b"), "note"),
    ],
)
def test_a_choice_that_cannot_be_taken_is_refused(choice, field):
    assert [name for name, _ in wrong(AGE, choice, DISPUTED)] == [field]


def test_what_is_agreed_needs_no_choice_and_no_reason():
    ruling = rule(AGE, Choice(), {"A": says("30", 1, 4), "B": says("30", 4, 4)}, REASONS)
    assert (ruling.opinion.value, ruling.opinion.hardness, ruling.reason) == ("30", 2, "unanimous")


def test_what_nobody_judged_stays_without_a_decision():
    assert rule(AGE, Choice(), {"A": NOTHING, "B": NOTHING}, REASONS) is None
    assert rule(AGE, Choice(), {}, REASONS) is None


def test_against_what_all_agree_on_a_reason_is_needed():
    agreed = {"A": says("30"), "B": says("30")}
    assert [field for field, _ in wrong(AGE, Choice("none"), agreed)] == ["reason"]
    assert rule(AGE, Choice("A"), agreed, REASONS).reason == "unanimous"


def test_marks_without_a_choice_are_not_dropped_silently():
    agreed = {"A": says("30"), "B": says("30")}
    assert [field for field, _ in wrong(AGE, Choice(hardness="3"), agreed)] == ["take"]


@pytest.mark.parametrize(
    ("choice", "voices"),
    [
        (Choice("A", reason="slip", note="so", guideline_gap=True), DISPUTED),
        (Choice("own", own="45", hardness="1", certainty="2", reason="ambiguous"), DISPUTED),
        (Choice("unsure", reason="ambiguous"), DISPUTED),
        (Choice(), {"A": says("30"), "B": says("30")}),
    ],
)
def test_a_stored_decision_opens_as_a_choice_that_leads_to_it_again(choice, voices):
    ruling = rule(AGE, choice, voices, REASONS)
    assert rule(AGE, choice_of(AGE, ruling, voices), voices, REASONS) == ruling


def test_rows_say_what_has_to_be_decided():
    columns = [
        ("A", {"age": says("30", 1), "sex": NONE, "education": says("PhD", 1)}),
        ("B", {"age": says("60", 3), "sex": NONE, "education": says("PhD", 3)}),
    ]
    problem = Problem("occupation", "own", "wrong")
    made = rows(columns, choices={}, decided={}, asked=["sex"], guessed={}, problems=[problem])
    assert [row.attribute.key for row in made if row.is_open] == ["age", "sex", "occupation"]
    by_key = {row.attribute.key: row for row in made}
    assert (by_key["age"].differs, by_key["education"].differs) == (True, False)
    assert by_key["education"].hardness == (1, 3)
    assert by_key["occupation"].problems == (problem,)
