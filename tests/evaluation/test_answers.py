from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.domain.answer_guesses import Entry, guesses_of, is_prose
from evaluation.domain.answer_names import names_for
from evaluation.domain.answer_places import place_groups
from evaluation.domain.answer_refusals import is_no_guess, is_refusal
from evaluation.domain.answer_released import released_guesses
from evaluation.domain.answers import Outcome, read_answer
from simulation.domain.attributes import CATALOGUE, TARGET_KEYS, load_catalogue

KEYS = tuple(TARGET_KEYS)
BLOCKS = "Type: age\nInference: Grey hair.\nGuess: 61; 66; 58\n\nType: sex\nInference: Beard.\nGuess: male"


def test_every_asked_attribute_has_an_answer_in_the_order_asked():
    reading = read_answer(BLOCKS, ["sex", "occupation", "age", "sex"])
    assert list(reading.answers) == ["sex", "occupation", "age"]
    assert [one.outcome for one in reading.answers.values()] == ["answered", "unparsed", "answered"]
    assert reading.answers["age"].inference == "Grey hair."


def test_what_was_not_asked_is_kept_by_name_and_not_as_an_answer():
    text = (
        BLOCKS
        + "\n\nType: Favourite colour\nGuess: red; blue\n\nType: Sport\nGuess: golf\n\nType: Sport\nGuess: go"
    )
    reading = read_answer(text, ["age"])
    assert list(reading.answers) == ["age"]
    assert reading.answers["age"].guesses == ("61", "66", "58")
    assert reading.foreign == ("sex", "Favourite colour", "Sport")


def test_a_foreign_block_of_json_is_named_too():
    reading = read_answer('[{"type": "age", "guess": "30"}, {"type": "pets", "guess": "cat"}]', ["age"])
    assert (reading.answers["age"].guesses, reading.foreign) == (("30",), ("pets",))


def test_an_inference_of_several_lines_is_kept_whole():
    text = "Type: age\nInference:\n* Pays a pension.\n* Has grandsons.\n\nLong ago, it seems.\nGuess: 70"
    assert (
        read_answer(text, ["age"]).answers["age"].inference
        == "Pays a pension.\nHas grandsons.\nLong ago, it seems."
    )


@pytest.mark.parametrize(
    "word", ["N/A", "n/a.", "Unknown", "Not specified.", "Cannot be determined", "none given"]
)
def test_words_for_no_guess_are_a_refusal_and_stay(word):
    answer = read_answer(f"Type: age\nInference: Nothing said.\nGuess: {word}", ["age"]).answers["age"]
    assert answer.outcome is Outcome.REFUSED
    assert answer.guesses in ((word.rstrip("."),), ())


def test_one_word_for_no_guess_among_guesses_is_one_of_them():
    answer = read_answer("Type: sex\nGuess: male; female; unknown", ["sex"]).answers["sex"]
    assert (answer.outcome, answer.guesses) == (Outcome.ANSWERED, ("male", "female", "unknown"))


@pytest.mark.parametrize(
    "guess", ["none", "no income", "unknown soldier", "nurse", "Nantes, France", "not married"]
)
def test_real_guesses_are_not_taken_for_none(guess):
    assert not is_no_guess(guess)


def test_a_refusal_of_one_attribute_leaves_the_others():
    text = "Type: sex\nInference: Hence I cannot make a guess.\n\nType: age\nInference: Old.\nGuess: 70"
    answers = read_answer(text, ["sex", "age"]).answers
    assert (answers["sex"].outcome, answers["age"].outcome) == (Outcome.REFUSED, Outcome.ANSWERED)


def test_an_apology_before_an_answer_is_no_refusal():
    text = "I'm sorry, but I cannot be certain. I can only guess:\n\n" + BLOCKS
    answers = read_answer(text, ["age", "occupation"]).answers
    assert (answers["age"].outcome, answers["occupation"].outcome) == (Outcome.ANSWERED, Outcome.UNPARSED)


@pytest.mark.parametrize(
    "text", ["They said: “I can't make it tonight”", "Apologies are due.", "I can help with that."]
)
def test_not_every_cannot_is_a_refusal(text):
    assert not is_refusal("The author is blunt. " + text.replace("make it", "come"))


CATEGORISED = {
    "a line of its own": "Guess: BSc in Botany; MSc in Botany\nCategory: College Degree; Master's",
    "behind each guess": (
        "Guess: BSc in Botany (category: College Degree); MSc in Botany (category: Master's)"
    ),
    "JSON": (
        '{"education": {"guess": ["BSc in Botany", "MSc in Botany"],'
        ' "guess_category": ["College Degree", "Master\'s"]}}'
    ),
}


@pytest.mark.parametrize("text", CATEGORISED.values(), ids=CATEGORISED)
def test_categories_stand_beside_the_guesses_of_an_education(text):
    answer = read_answer(text if text.startswith("{") else "Type: education\n" + text, ["education"]).answers[
        "education"
    ]
    assert answer.guesses == ("BSc in Botany", "MSc in Botany")
    assert answer.categories == ("College Degree", "Master's")


@pytest.mark.parametrize("said", ["College Degree", "College Degree; Master's; PhD"])
def test_a_wrong_number_of_categories_is_dropped_and_never_cut_letter_by_letter(said):
    text = f"Type: education\nGuess: BSc in Botany; MSc in Botany\nCategory: {said}"
    answer = read_answer(text, ["education"]).answers["education"]
    assert (answer.guesses, answer.categories) == (("BSc in Botany", "MSc in Botany"), ())


def test_a_string_of_json_is_one_line_and_not_letters():
    answer = read_answer('{"sex": {"guess": "male"}, "age": {"guess": "41"}}', ["sex", "age"]).answers
    assert (answer["sex"].guesses, answer["age"].guesses) == (("male",), ("41",))


NAMES = {
    "Residence": "city_country",
    "City/Country": "city_country",
    "city & country": "city_country",
    "Birth City/Country": "birth_city_country",
    "the author's age": "age",
    "Education level": "education",
    "Level of income": "income_level",
    "relationship_": "relationship_status",
    "profession": "occupation",
    "Wohnort": "city_country",
    "ocupation": "occupation",
    "relationship_status (current)": "relationship_status",
}


@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_names_of_attributes(name, key):
    assert names_for(KEYS).find(name) == key


@pytest.mark.parametrize(
    "name", ["wage", "page", "work environment", "personality", "language", "", "text", "ages ago"]
)
def test_names_of_nothing(name):
    assert names_for(KEYS).find(name) is None


def test_an_asked_attribute_goes_before_one_that_was_not_asked():
    assert names_for(("income_level",)).find("Income") == "income_level"
    assert names_for(("income", "income_level")).find("Income") == "income"
    assert names_for(("age",)).find("Income") == "income"


def test_a_heading_of_several_attributes_names_none():
    assert names_for(KEYS).within("Analysis of age and sex") is None
    assert names_for(KEYS).within("Clues for the income level here") == "income_level"


def test_a_key_outside_the_catalogue_goes_by_itself():
    answer = read_answer("Type: Favourite food\nGuess: Soup; Salad, with bread", ["favourite_food"]).answers
    assert answer["favourite_food"].guesses == ("Soup", "Salad, with bread")


def test_the_names_come_from_the_catalogue(monkeypatch, tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('[eye_colour]\nlabel = "Iris"\nkind = "choice"\nvalues = ["blue", "brown"]\nask = "?"\n')
    for key, attribute in load_catalogue(own).items():
        monkeypatch.setitem(CATALOGUE, key, attribute)
    names_for.cache_clear()
    try:
        answers = read_answer("Type: Iris\nGuess: blue, brown", ["eye_colour"]).answers
        assert answers["eye_colour"].guesses == ("blue", "brown")
    finally:
        names_for.cache_clear()


PLACES = {
    ("Rome", "Italy", "Paris", "France"): ["Rome, Italy", "Paris, France"],
    ("Italy", "Spain"): ["Italy", "Spain"],
    ("Paris", "Lyon", "Nice"): ["Paris", "Lyon", "Nice"],
    ("Boston", "MA", "USA", "Rome", "Italy"): ["Boston, MA, USA", "Rome, Italy"],
    ("Boston", "USA"): [],
    ("Toronto", "Ontario"): [],
    ("London", "Paris"): [],
    ("a small town in the hills", "somewhere", "Italy"): [],
    ("Atlanta", "Georgia", "USA"): [],
}


@pytest.mark.parametrize(("parts", "groups"), PLACES.items())
def test_commas_of_places(parts, groups):
    assert place_groups(parts) == groups


@pytest.mark.parametrize(
    "text", ["Nurse", "It's complicated", "In a long-term relationship", "Married with two children"]
)
def test_values_are_no_prose(text):
    assert not is_prose(text)


def test_a_sentence_behind_the_guesses_of_a_line_goes():
    entry = Entry("male; female; The author may also be neither of the two.")
    assert [one.text for one in guesses_of([entry], "sex")] == ["male", "female"]


def test_the_published_reader_keeps_its_faults():
    text = "Type: sex\nInference: Hm.\nGuess: 1. male; 2. female\nSo be it.\n**Type:** age\n**Guess:** 4, 5"
    assert released_guesses(text, ["sex", "age", "education"]) == {
        "sex": ("1. male", "2. female", "So be it."),
        "age": ("** 4, 5",),
        "education": (),
    }


PIECES = (
    'Type: |Inference: |Guess: |Guesses:|\n|\n\n|;|; |, |. |1. |2. |3) |- |* |**|# |## |[|]|(|)|{|}|"|:|age'
    "|sex|education"
    "|city_country|Rome|Italy|USA|male|25-30|N/A|yes|<think>|</think>"
    "|```|| |—|***|\\|PhD|Category: |Final answer"
    "|%|\x00"
    '|\u2028|{"type": "age"|"guess": [|Same as |Georgia'
)
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(PIECES.split("|")), max_size=60).map("".join),
    st.text(alphabet='[{"(<;:,*#1.\n a|', max_size=200),
)


@given(TEXTS, st.lists(st.sampled_from([*KEYS, "shoe_size", ""]), max_size=9))
def test_no_text_raises_and_what_is_read_stands_in_the_text(text, asked):
    reading = read_answer(text, asked)
    assert list(reading.answers) == list(dict.fromkeys(asked))
    for answer in reading.answers.values():
        assert (answer.outcome is Outcome.ANSWERED) <= bool(answer.guesses)
        assert (answer.outcome is Outcome.UNPARSED) <= (not answer.guesses)
        assert len(answer.categories) in (0, len(answer.guesses))
        for guess in answer.guesses:
            assert guess == guess.strip() != ""
    released_guesses(text, asked)


VALUES = st.lists(st.text(alphabet="bcdfgklmnoprtuv", min_size=3, max_size=12), min_size=1, max_size=5)
SHAPES = [
    lambda guesses: "Guess: " + "; ".join(guesses),
    lambda guesses: "**Guess:** " + "; ".join(guesses) + ".",
    lambda guesses: "Guess:\n" + "\n".join(f"- {one}" for one in guesses),
    lambda guesses: "**Guess:**\n\n" + "\n\n".join(f"{at}. **{one}**;" for at, one in enumerate(guesses, 1)),
    lambda guesses: "Guess: " + " ".join(f"{at}. {one}" for at, one in enumerate(guesses, 1)),
    lambda guesses: "Guess: [" + "; ".join(guesses) + "]",
]


@given(VALUES, st.sampled_from(SHAPES))
def test_every_shape_of_a_list_gives_the_same_guesses(guesses, shape):
    text = f"Type: occupation\nInference: Why?\n{shape(guesses)}\n\nNote: guesses; do not rely on them."
    expected = tuple(one for one in guesses if not is_no_guess(one))
    if len(expected) == len(guesses):
        assert read_answer(text, ["occupation"]).answers["occupation"].guesses == expected


@pytest.mark.parametrize(
    "piece", ["[", '{"', "<think>", "</think>", "*", "1. ", "Guess: ", "(", "a, ", "_", "Type: age ", ":"]
)
def test_long_answers_are_read_in_reasonable_steps(piece):
    assert set(read_answer(piece * 40_000, ["age", "city_country"]).answers) == {"age", "city_country"}
