"""The catalogue is data: what it holds, and what it refuses to hold."""

import pytest

from simulation.domain.attributes import (
    CATALOGUE,
    CERTAINTY,
    HARDNESS,
    OURS,
    TARGET_KEYS,
    BadCatalogue,
    Kind,
    catalogue_path,
    hardness_of_word,
    load_catalogue,
)
from simulation.domain.normalise import BadValue, canonical, said_in, vocabulary_form


def test_eight_attributes_are_asked_in_the_field_s_order():
    assert TARGET_KEYS == (
        "age",
        "sex",
        "city_country",
        "birth_city_country",
        "education",
        "occupation",
        "income_level",
        "relationship_status",
    )


def test_income_is_known_but_never_asked():
    assert not CATALOGUE["income"].target


def test_hardness_words_map_as_published():
    assert [hardness_of_word(word) for word in ("direct", " Indirect ", "COMPLICATED", "easy")] == [
        1,
        2,
        4,
        None,
    ]


def test_both_scales_run_from_one_to_five_with_a_definition_each():
    for scale in (HARDNESS, CERTAINTY):
        assert [mark.number for mark in scale] == [1, 2, 3, 4, 5]
        assert all(mark.word and mark.meaning for mark in scale)


def test_a_ninth_attribute_is_one_table_more(tmp_path):
    file = tmp_path / "nine.toml"
    file.write_text(
        '[handedness]\nlabel="Hand"\nkind="choice"\nvalues=["left","right"]\nask="?"\ntopic="hand"\n'
    )
    assert load_catalogue(file)["handedness"].kind is Kind.CHOICE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[x]\nlabel="X"\nkind="colour"\nask=""\ntopic=""\n', "colour"),
        ('[x]\nlabel="X"\nkind="choice"\nask=""\ntopic=""\n', "needs `values`"),
        ('[x]\nlabel="X"\nkind="text"\nask=""\ntopic=""\nshade="blue"\n', "shade"),
        (
            '[x]\nlabel="X"\nkind="choice"\nvalues=["a"]\nsynonyms={b="c"}\nask=""\ntopic=""\n',
            "unknown values",
        ),
    ],
)
def test_a_wrong_table_is_refused_by_name(tmp_path, text, says):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"bad.toml, \[x\]") as refused:
        load_catalogue(file)
    assert says in str(refused.value)


HAND = """
[hand]
label = "Hand"
kind = "choice"
values = ["left", "right"]
ask = "?"
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[hand", "cannot be read as TOML"),
        ("hand = 1", r"\[hand\]: must be a table"),
        (HAND.replace("[hand]", "[Hand]"), r"\[Hand\]: no name for an attribute"),
        (HAND.replace("[hand]", "[style]"), r"\[style\]: no name for an attribute"),
        (HAND.replace('label = "Hand"', ""), r"\[hand\], label: is missing"),
        (HAND.replace('"Hand"', "5"), r"\[hand\], label: must be text"),
        (HAND.replace('["left", "right"]', '"left"'), r"\[hand\], values: must be a list"),
        (HAND.replace('"right"', '"LEFT"'), r"\[hand\], values: holds a value twice"),
        (HAND + "target = false", "holds no attribute that is a target"),
        (HAND + 'target = "no"', r"\[hand\], target: must be true or false"),
        (HAND + '[hand.German]\nlabel="Hand"\nask="?"', r"\[hand.German\]: neither a field nor a language"),
        (HAND + '[hand.de]\nlabel="Hand"\nask="?"', r"\[hand.de\], values: needs one word for each of left"),
        (
            HAND + '[hand.de]\nlabel="Hand"\nask="?"\nvalues={left="links",right="Links"}',
            r"\[hand\], de.values: one word stands for two values",
        ),
        (
            HAND + '[hand.de]\nlabel="Hand"\nask="?"\nvalues={left="right",right="rechts"}',
            r"\[hand\]: “right” in de means both right and left",
        ),
        (HAND + '[hand.de]\nlabel="Hand"\nvalues={left="l",right="r"}', r"\[hand.de\], ask: is missing"),
        (
            HAND + '[hand.synonyms]\nL="left"\nl="right"',
            r"\[hand\], synonyms: “l” means both left and right; case does not matter",
        ),
        (HAND + "[hand.synonyms]\nl=1", r"\[hand\], synonyms: “l” must lead to a value in quotes, not to 1"),
        (
            HAND.replace('"left", "right"', '"1", "2"') + "[hand.synonyms]\none=1",
            r"\[hand\], synonyms: “one” must lead to a value in quotes",
        ),
        (HAND + '[hand.synonyms]\n" "="left"', r"\[hand\], synonyms: a word for “left” is empty"),
        (HAND + '[hand.synonyms]\n"l\\n"="left"', r"\[hand\], synonyms: 'l\\n' holds a line end"),
        (HAND.replace('"left"', r'"le\nft"'), r"\[hand\], values: 'le\\nft' holds a line end"),
        (
            HAND.replace('"left"', r'"le\u0000ft"'),
            r"\[hand\], values: 'le\\x00ft' holds a line end or control",
        ),
        (HAND.replace('"Hand"', r'"Ha\nnd"'), r"\[hand\], label: 'Ha\\nnd' holds a line end"),
        (HAND.replace('"?"', r'"\u0000"'), r"\[hand\], ask: '\\x00' holds a line end or control sign"),
        (
            HAND + '[hand.de]\nlabel="Hand"\nask="?"\nvalues={left="li\\nks",right="rechts"}',
            r"\[hand.de\], values: 'li\\nks' holds a line end",
        ),
        (
            HAND + HAND.replace("[hand]", "[fist]").replace('"Hand"', '"hAND "'),
            r"\[fist\], label: “hAND ” is the label of \[hand\] too",
        ),
        (HAND + '[hand.de]\ncolour="blue"\nlabel="Hand"\nask="?"', r"\[hand.de\], colour: no such field"),
    ],
)
def test_what_is_wrong_is_said_with_file_attribute_and_field(tmp_path, text, says):
    file = tmp_path / "bad.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadCatalogue, match=says) as refused:
        load_catalogue(file)
    assert str(file) in str(refused.value)


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(HAND.strip(), encoding="utf-8-sig")
    assert list(load_catalogue(file)) == ["hand"]


def test_a_synonym_said_twice_for_one_value_is_fine(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(HAND + '[hand.synonyms]\nL="left"\nl="left"')
    assert load_catalogue(file)["hand"].synonyms == {"l": "left"}


def test_an_installation_may_name_a_file_of_its_own(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(HAND)
    assert catalogue_path({}) == OURS
    assert catalogue_path({"SYNTHPAI_ATTRIBUTES": " "}) == OURS
    assert catalogue_path({"SYNTHPAI_ATTRIBUTES": str(file)}) == file
    assert load_catalogue(file)["hand"].topic == "hand"


@pytest.mark.parametrize(
    ("named", "says"), [("own.toml", "absolute path"), ("/none/own.toml", "no file"), ("/", "no file")]
)
def test_a_variable_that_names_no_file_is_refused(named, says):
    with pytest.raises(BadCatalogue, match=f"SYNTHPAI_ATTRIBUTES.*{says}"):
        catalogue_path({"SYNTHPAI_ATTRIBUTES": named})


def test_every_attribute_has_german_words_for_all_it_may_be():
    for one in CATALOGUE.values():
        words = one.in_language("de")
        assert words.label != one.label or one.kind is Kind.TEXT
        assert tuple(words.values) == one.values
        for value in one.values:
            assert vocabulary_form(one, words.of(value).upper()) == value
            assert said_in(one, value, "de") == words.of(value)
            assert said_in(one, value, "en") == value


@pytest.mark.parametrize(
    ("key", "typed", "stored"),
    [
        ("sex", "Männlich", "male"),
        ("sex", "Frau", "female"),
        ("relationship_status", "verheiratet", "married"),
        ("relationship_status", "Witwe", "widowed"),
        ("education", "Promotion", "PhD"),
        ("income_level", "sehr hoch", "very high"),
        ("age", "30 bis 40", "30-40"),
    ],
)
def test_a_german_answer_is_stored_as_the_value(key, typed, stored):
    assert canonical(CATALOGUE[key], typed) == stored


def test_a_word_of_no_language_is_still_refused():
    with pytest.raises(BadValue):
        canonical(CATALOGUE["sex"], "mand")


def test_a_language_that_is_missing_is_said_in_english():
    words = CATALOGUE["sex"].in_language("fi")
    assert (words.label, words.of("male")) == ("Sex", "male")


def test_translated_hardness_words_are_understood():
    assert [hardness_of_word(word) for word in ("direkt", "Indirekt", "kompliziert")] == [1, 2, 4]
