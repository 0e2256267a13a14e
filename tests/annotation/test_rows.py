"""What the review form offers in each row."""

from annotation.domain import rows
from annotation.domain.labels import Answer, Guessed, Label, Outcome, State
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS

MARRIED = Guessed(("Married", "Separated", "In Relationship"), 2, 4)


def test_the_vocabulary_comes_first_with_the_guesses_marked_in_it():
    options = rows.options_of(CATALOGUE["relationship_status"], MARRIED)
    assert [option.label for option in options] == [
        "single",
        "in a relationship",
        "engaged",
        "married",
        "divorced",
        "widowed",
        "Separated",
    ]
    assert {option.label: option.rank for option in options if option.rank is not None} == {
        "in a relationship": 2,
        "married": 0,
        "Separated": 1,
    }


def test_a_guess_repeated_to_fill_three_is_offered_once():
    options = rows.options_of(CATALOGUE["age"], Guessed(("30", "35", "30"), None, None))
    assert [(option.label, option.rank) for option in options] == [("30", 0), ("35", 1)]


def test_a_suggestion_fills_in_its_scales_and_chooses_nothing():
    row = next(row for row in rows.build({"relationship_status": (MARRIED, "tagger")}) if row.suggestion)
    assert (row.answer.hardness, row.answer.certainty, row.answer.choice) == ("2", "4", "")
    assert row.first_guess == "married"
    assert row.state == "untouched"
    assert not any(option.checked for option in row.options)


def test_there_are_eight_rows_in_the_catalogue_s_order():
    assert tuple(row.attribute.key for row in rows.build({})) == TARGET_KEYS


def test_a_person_s_own_label_opens_as_they_left_it():
    label = Label(State.VALUE, Outcome.CORRECTED, "widowed", 3, 2)
    built = rows.build(
        {"relationship_status": (MARRIED, "tagger")},
        {"relationship_status": rows.Given.of(label)},
    )
    row = built[TARGET_KEYS.index("relationship_status")]
    assert [option.label for option in row.options if option.checked] == ["widowed"]
    assert (row.state, row.shown, row.answer.hardness) == ("corrected", "widowed", "3")


def test_words_outside_the_options_stay_in_the_text_box():
    built = rows.build({}, {"occupation": rows.Given(Answer("other", "night nurse", "1", "1"))})
    row = built[TARGET_KEYS.index("occupation")]
    assert (row.says_other, row.answer.text, row.shown) == (True, "night nurse", "night nurse")
