"""Tagging answers as models write them: what is read, what is left out, what cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotation.domain.tag_replies import Tag, TagReply, Unreadable, read_tag_json, read_tags
from annotation.domain.tag_values import clean
from simulation.domain.attributes import CATALOGUE

AS_ASKED = """Reasoning: The tide tables and the word "my" point to a job on the water.

Guess: occupation - [ferry captain; harbour pilot; deckhand]; age - [48; 52; 44]

Certainty: occupation - 4; age - 2

Hardness: occupation - indirect; age - complicated
"""
TAGS_AS_ASKED = (
    Tag("age", ("48", "52", "44"), "complicated", 4, 2),
    Tag("occupation", ("ferry captain", "harbour pilot", "deckhand"), "indirect", 2, 4),
)
SCALES = "\nCertainty: {0} - 3\nHardness: {0} - direct"


def tags(text: str) -> tuple[Tag, ...]:
    reply = read_tags(text)
    assert isinstance(reply, TagReply), reply
    return reply.tags


def guesses(text: str) -> dict[str, tuple[str, ...]]:
    return {tag.attribute: tag.guesses for tag in tags(text)}


def reason(text: str) -> str:
    reply = read_tags(text)
    assert isinstance(reply, Unreadable), reply
    return reply.reason


def test_an_answer_as_asked_for_is_read_in_the_catalogue_s_order():
    assert read_tags(AS_ASKED) == TagReply(TAGS_AS_ASKED)


SAME = {
    "bullet lists": """Guess:
- occupation - [ferry captain; harbour pilot; deckhand]
- age - [48; 52; 44]

Certainty:
- occupation - 4
- age - 2

Hardness:
- occupation - indirect
- age - complicated

None of the others can be guessed.""",
    "lines that end in a semicolon": """Guess:
occupation - [ferry captain; harbour pilot; deckhand];
age - [48; 52; 44];
Certainty:
occupation - 4;
age - 2
Hardness:
occupation - indirect;
age - complicated""",
    "all on one line": "Reasoning: boats. Guess: age - [48; 52; 44]; occupation - [ferry captain; harbour "
    "pilot; deckhand] Certainty: age - 2; occupation - 4 Hardness: age - complicated; occupation - indirect",
    "markdown": """### Reasoning
Boats.
**Guess:**
* **Occupation**: ferry captain; harbour pilot; deckhand
* **Age**: 48; 52; 44

**Certainty:**
* **Occupation**: 4/5
* **Age**: 2/5

**Hardness:**
* **Occupation**: *indirect*
* **Age**: *complicated*""",
    "comma lists": """Guess: occupation - [ferry captain, harbour pilot, deckhand], age - [48, 52, 44]
Certainty: occupation - 4, age - 2
Hardness: occupation - indirect, age - complicated""",
    "quoted entries": """Guess:
occupation - ['ferry captain', 'harbour pilot', 'deckhand']; age - ["48"; "52"; "44"]
Certainty: occupation - 4; age - 2
Hardness: occupation - indirect; age - complicated""",
    "no brackets": """Guess: occupation - ferry captain; harbour pilot; deckhand; age - 48; 52; 44
Certainty: occupation - 4; age - 2
Hardness: occupation - indirect; age - complicated""",
    "numbers below a name": """Guess:
Occupation:
  1. ferry captain
  2. harbour pilot
  3. deckhand
**Age**
  - 48
  - 52
  - 44
Certainty: occupation - 4; age - 2
Hardness: occupation - indirect; age - complicated""",
    "scales beside the guesses": """Guess:
- occupation - [ferry captain; harbour pilot; deckhand]
  - Certainty: 4
  - Hardness: indirect
- age - 48 / 52 / 44
  - Certainty: 2
  - Hardness: complicated""",
    "scales in parentheses": """Guess:
1. occupation - [ferry captain; harbour pilot; deckhand] (certainty: 4, hardness: indirect)
2. age: 48, 52, 44 (certainty 2, hardness complicated)""",
    "scales without names, in order": """Guess:
occupation - [ferry captain; harbour pilot; deckhand]; age - [48; 52; 44]
Certainty: 4; 2
Hardness: indirect; complicated""",
    "scales before the guesses": """Certainty: occupation - 4; age - 2
Hardness: occupation - indirect; age - complicated
Guess: occupation - [ferry captain; harbour pilot; deckhand]; age - [48; 52; 44]""",
    "a Guess section for every attribute": """Guess: occupation - [ferry captain; harbour pilot; deckhand]
Certainty: 4
Hardness: indirect

Guess: age - [48; 52; 44]
Certainty: 2
Hardness: complicated""",
    "a second thought": """Guess: age - [30; 31; 32]
Certainty: 5
Hardness: direct

Guess: age - [48; 52; 44]; occupation - [ferry captain; harbour pilot; deckhand]
Certainty: age - 2; occupation - 4
Hardness: age - complicated; occupation - indirect""",
    "thinking first": "<think>Guess: age - [19; 20; 21]</think>\n" + AS_ASKED,
    "other line ends": AS_ASKED.replace("\n", "\r\n"),
    "JSON": """{"tags": [
 {"attribute": "occupation", "guesses": ["ferry captain", "harbour pilot", "deckhand"],
  "hardness": "indirect", "certainty": 4},
 {"attribute": "age", "guesses": [48, "52", "44"], "hardness": "Complicated", "certainty": "2"}]}""",
    "JSON in a fence with prose around": """Here {you} are:
```json
{"reasoning": "boats", "tags": [
 {"attribute": "Occupation", "guesses": "ferry captain; harbour pilot; deckhand",
  "hardness": "indirect", "certainty": 4},
 {"attribute": "Age", "guesses": ["48", "52", "44 years old"], "hardness": "complicated", "certainty": 2.0}]}
```
Guess: that was all.""",
}


@pytest.mark.parametrize("shape", SAME)
def test_the_same_tags_are_read_from(shape):
    assert tags(SAME[shape]) == TAGS_AS_ASKED


@pytest.mark.parametrize("name", [*CATALOGUE, *(one.label for one in CATALOGUE.values())])
def test_every_attribute_goes_by_its_key_and_by_its_label(name):
    attribute = next(one for one in CATALOGUE.values() if name in (one.key, one.label))
    for written in (name, name.upper(), name.replace("_", " ").title(), name.replace("_", "/")):
        text = f"Guess: {written} - [a; b; c]" + SCALES.format(written)
        assert tags(text) == (Tag(attribute.key, ("a", "b", "c"), "direct", 1, 3),)


def test_a_birthplace_is_no_residence():
    answer = "Guess: birth_city_country - [Turku, Finland; Vaasa, Finland; Oulu, Finland]\n"
    answer += "Certainty: birth_city_country - 3\nHardness: birth_city_country - indirect"
    assert list(guesses(answer)) == ["birth_city_country"]
    both = "Guess: birth city/country - [Turku, Finland]; city_country - [Graz, Austria]\nHardness: direct"
    assert guesses(both) == {"city_country": ("Graz, Austria",), "birth_city_country": ("Turku, Finland",)}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Turku, Finland", ("Turku, Finland",)),
        ("Turku, Southwest Finland, Finland", ("Turku, Southwest Finland, Finland",)),
        ("Turku, Finland, Graz, Austria", ("Turku, Finland", "Graz, Austria")),
        ("a port, a port, a port", ("a port", "a port", "a port")),
        ("'Turku, Finland', 'Graz, Austria'", ("Turku, Finland", "Graz, Austria")),
        ("Turku, Finland | Graz, Austria", ("Turku, Finland", "Graz, Austria")),
    ],
)
def test_a_place_keeps_its_comma(written, read):
    assert guesses(f"Guess: city_country - [{written}]") == {"city_country": read}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("34", "34"),
        ("34 years old", "34"),
        ("about 34", "34"),
        ("25-30", "25-30"),
        ("25 to 30 years", "25-30"),
        ("middle-aged", "middle-aged"),
        ("early 30s", "early 30s"),
        ("over 60", "over 60"),
    ],
)
def test_an_age_is_a_number_or_a_range_or_stays_in_words(written, read):
    assert guesses(f"Guess: age - [{written}; 70; 71]") == {"age": (read, "70", "71")}


def test_none_among_the_guesses_drops_the_entry_and_not_the_attribute():
    reply = read_tags("Guess: occupation - [beekeeper; None; n/a]; sex - [None; None; None]; age - Unknown")
    assert isinstance(reply, TagReply)
    assert [(tag.attribute, tag.guesses) for tag in reply.tags] == [("occupation", ("beekeeper",))]
    assert "occupation: guesses that say nothing dropped (2)" in reply.notes
    assert "sex: guesses that say nothing dropped (3)" in reply.notes


def test_more_than_three_guesses_are_cut_and_fewer_are_kept():
    reply = read_tags("Guess: occupation - [beekeeper; farmer; vet; cook]; age - [70]\nCertainty: 2")
    assert isinstance(reply, TagReply)
    assert [tag.guesses for tag in reply.tags] == [("70",), ("beekeeper", "farmer", "vet")]
    assert reply.notes == ("occupation: the first 3 of 4 guesses kept",)


def test_an_attribute_named_twice_counts_the_first_time():
    reply = read_tags("Guess: age - [70; 71; 72]; age - [20; 21; 22]" + SCALES.format("age"))
    assert reply == TagReply(
        (Tag("age", ("70", "71", "72"), "direct", 1, 3),), ("age: named again; the first time counts",)
    )


def test_a_single_bare_value_of_a_scale_counts_for_all():
    read = tags("Guess: age - [70; 71; 72]; sex - [male; male; male]\nCertainty: 4\nHardness: indirect")
    assert {(tag.hardness_word, tag.certainty) for tag in read} == {("indirect", 4)}


@pytest.mark.parametrize("written", ["0", "6", "45", "80%", "3.5", "-", "None", "high", ""])
def test_a_certainty_is_a_whole_number_from_1_to_5_or_missing(written):
    assert tags(f"Guess: age - [70]\nCertainty: age - {written}\nHardness: age - direct")[0].certainty is None


@pytest.mark.parametrize(
    ("written", "word", "number"),
    [
        ("Direct", "direct", 1),
        ("[indirect]", "indirect", 2),
        ("very complicated", "complicated", 4),
        ("moderate", "moderate", None),
        ("None", "", None),
        ("this is hard to tell", "", None),
    ],
)
def test_a_hardness_word_outside_the_three_has_no_number(written, word, number):
    tag = tags(f"Guess: age - [70]\nCertainty: age - 1\nHardness: age - {written}")[0]
    assert (tag.hardness_word, tag.hardness) == (word, number)


def test_without_scales_the_guesses_are_read_and_the_doubt_is_noted():
    reply = read_tags("Guess: age - [70; 71; 72]")
    assert reply == TagReply(
        (Tag("age", ("70", "71", "72"), "", None, None),),
        ("neither certainty nor hardness; the answer may have been cut off",),
    )


def test_prose_and_unknown_attributes_around_the_items_do_no_harm():
    reply = read_tags(
        "Reasoning: My guess: the age - [hidden] - is unclear.\n"
        "Guess: hobby - [chess; go; darts]; sex - [female; female; female]; None; None\n"
        "Certainty: sex - 2\nHardness: sex - indirect\n\n"
        "Age: nothing is said. The other attributes (occupation - none) are left out."
    )
    assert reply == TagReply(
        (Tag("sex", ("female", "female", "female"), "indirect", 2, 2),), ("hobby: no known attribute",)
    )


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "Reasoning: a recipe.\n\nNone",
        "Guess: None",
        "Guess: None\n\nCertainty: None\n\nHardness: None\n\nNone",
        "Guess:\n- None",
        "Guess: [None; None; None]",
        "Guess: None; None; None",
        "Guess: N/A",
        "**Guess:** None of the attributes can be guessed.",
        "Guess: No attribute can be guessed from a recipe.",
        "Guess: age - None; sex - [None; None; None]",
        '{"tags": []}',
        '{"tags": [{"attribute": "age", "guesses": [null], "hardness": null, "certainty": null}]}',
    ],
)
def test_an_answer_that_says_nothing_can_be_guessed_is_read_as_no_tags(text):
    assert tags(text) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("Reasoning: The word tide sug", "no Guess section"),
        ("[[[---]]]", "no Guess section"),
        ("I am sorry, I do not guess about people.", "no Guess section"),
        ("Reasoning: boats.\n\nGuess:", "section is empty"),
        ("Guess: occupation - [ferry captain; harb", "ends within the guesses for occupation"),
        ("Guess: age - [48; 52; 44]; sex - [fem", "ends within the guesses for sex"),
        ("Guess: age - [48]\nCertainty: 2\n\nGuess: sex - [fem", "ends within the guesses for sex"),
        ("Guess: somebody who likes boats", "names no known attribute"),
        ("Guess: No, I will not guess about people.", "names no known attribute"),
        ("Guess: hobby - [chess; go; darts]", "names no known attribute"),
        ("<think>Guess: age - [48; 52; 44]", "stopped thinking"),
        ('{"tags": [{"attribute": "age", "guesses": ["4', "JSON cannot be read"),
        ('{"tags": "none"}', "no list of tags"),
        ('{"tags": [{"attribute": "hobby", "guesses": ["chess"]}]}', "names a known attribute"),
    ],
)
def test_an_answer_that_cannot_be_read_says_why(text, why):
    assert why in reason(text)


def test_entries_of_json_that_are_no_tags_are_noted():
    reply = read_tag_json(
        [
            {"attribute": "age", "guesses": [48, True, None, {"no": 1}], "certainty": 9, "hardness": 3},
            {"attribute": "hobby", "guesses": ["chess"]},
            "sex",
        ]
    )
    assert reply == TagReply(
        (Tag("age", ("48",), "3", None, None),),
        (
            "age: guesses that say nothing dropped (3)",
            "hobby: no known attribute",
            "an entry: no known attribute",
        ),
    )


def test_signs_that_cannot_be_stored_do_not_reach_a_guess():
    assert guesses("Guess: occupation - [bee\x00keeper; co\ud800ok; vet\x07]") == {
        "occupation": ("bee keeper", "co ok", "vet")
    }


WORDS = ["Guess:", "Certainty:", "Hardness:", "None", "3", "direct", "<think>", "</think>", "1. "]
SIGNS = [
    "\n",
    "- ",
    "[",
    "]",
    "; ",
    ", ",
    "**",
    '"',
    "{",
    "}",
    '{"tags": [',
    '"attribute": "age"',
    "(",
    ")",
    " / ",
]
PIECES = some.sampled_from([*CATALOGUE, *WORDS, *SIGNS])
JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.dictionaries(
            some.sampled_from(["tags", "attribute", "guesses", "hardness", "certainty"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def is_sound(reply: TagReply | Unreadable) -> bool:
    if isinstance(reply, Unreadable):
        return bool(reply.reason)
    keys = [tag.attribute for tag in reply.tags]
    return keys == [key for key in CATALOGUE if key in keys] and all(
        1 <= len(tag.guesses) <= 3
        and all(guess and guess == guess.strip() and len(guess) <= 200 for guess in tag.guesses)
        and tag.certainty in (None, 1, 2, 3, 4, 5)
        for tag in reply.tags
    )


@given(some.text() | some.lists(PIECES | some.text(max_size=3), max_size=60).map("".join))
def test_no_text_breaks_the_reader(text):
    assert is_sound(read_tags(text))


@given(JSON | some.fixed_dictionaries({"tags": some.lists(JSON, max_size=3)}))
def test_no_json_breaks_the_reader(data):
    assert is_sound(read_tag_json(data))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"tags":' * 20_000, "Guess: " + "age - [" * 10_000])
def test_brackets_without_end_do_not_break_the_reader(text):
    assert isinstance(read_tags(text), Unreadable)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- nurse", "nurse"),
        ("2) nurse", "nurse"),
        ("**1. nurse**", "nurse"),
        ("30 - 40 thousand", "30 - 40 thousand"),
        ("nurse - night shift", "nurse - night shift"),
        ("turns 30. soon", "turns 30. soon"),
    ],
)
def test_a_list_sign_is_one_at_the_beginning_only(written, read):
    assert clean(written) == read
