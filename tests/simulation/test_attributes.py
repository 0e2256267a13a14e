"""The catalogue is data: what it holds, and what it refuses to hold."""

import pytest

from simulation.domain.attributes import (
    CATALOGUE,
    CERTAINTY,
    HARDNESS,
    TARGET_KEYS,
    Kind,
    hardness_of_word,
    load_catalogue,
)


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
