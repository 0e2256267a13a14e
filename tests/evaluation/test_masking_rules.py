"""What the rules find, what they leave alone, and that hostile texts cost no more than others."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.domain.masking import Category, Style, mask
from evaluation.domain.masking_lists import lists, singular
from evaluation.domain.masking_patterns import found
from evaluation.domain.masking_rules import FormsMasker, RulesMasker

MASKER = RulesMasker()


def tagged(text, **options):
    return mask(text, MASKER, style=Style.CATEGORY, **options).text


def says(text, part):
    """The categories of the merged spans that cover `part`."""
    start = text.index(part)
    return {
        one.category
        for one in mask(text, MASKER).spans
        if one.start <= start and one.end >= start + len(part)
    }


@pytest.mark.parametrize(
    ("text", "part", "category"),
    [
        ("write to tilda.bragg@example.org please", "tilda.bragg@example.org", Category.EMAIL),
        ("see https://example.org/a?b=1, ok", "https://example.org/a?b=1", Category.URL),
        ("it was on kettle-news.org then", "kettle-news.org", Category.URL),
        ("ping 192.168.0.17 again", "192.168.0.17", Category.IP),
        ("ping fe80::1 again", "fe80::1", Category.IP),
        ("ring +41 44 123 45 67 after six", "+41 44 123 45 67", Category.PHONE_NUMBER),
        ("ring (555) 010-9988 maybe", "(555) 010-9988", Category.PHONE_NUMBER),
        ("lived on 14 Old Mill Road then", "14 Old Mill Road", Category.ADDRESS),
        ("war in der Lindenstraße 12 daheim", "Lindenstraße 12", Category.ADDRESS),
        ("u/QuietHeron said so", "u/QuietHeron", Category.PERSON),
        ("thanks @quiet_heron for this", "@quiet_heron", Category.PERSON),
        ("so my name is tilda, hello", "tilda", Category.PERSON),
        ("and then Anna laughed", "Anna", Category.PERSON),
        ("we met Dr. Brown there", "Brown", Category.PERSON),
        ("as Fizzlewick Brown once put it, no", "Fizzlewick Brown", Category.PERSON),
        ("paid $1,200 for that", "$1,200", Category.CURRENCY),
        ("paid 50 bucks for that", "50 bucks", Category.CURRENCY),
        ("about 80k a year before tax", "80k", Category.CURRENCY),
        ("sixty thousand euros, gone", "sixty thousand euros", Category.CURRENCY),
        ("I am 34 years old", "34 years old", Category.AGE),
        ("well, I'm 34 and tired", "34", Category.AGE),
        ("(34F) here", "34F", Category.AGE),
        ("in my late 60s already", "late 60s", Category.AGE),
        ("just turned forty-two, turned 42 really", "turned 42", Category.AGE),
        ("music of the 80s rules", "80s", Category.DATE_TIME),
        ("back in 1987 we had none", "1987", Category.DATE_TIME),
        ("on 3 March 2020 it began", "3 March 2020", Category.DATE_TIME),
        ("it was in May, I think", "May", Category.DATE_TIME),
        ("gone by 3am again", "3am", Category.DATE_TIME),
        ("every other weekend, really", "every other weekend", Category.DATE_TIME),
        ("two years ago it rained", "two years ago", Category.DATE_TIME),
        ("see you on Tuesday morning then", "Tuesday morning", Category.DATE_TIME),
        ("the 3rd of them", "3rd", Category.NUMBER),
        ("gave 110% there", "110%", Category.NUMBER),
        ("living in Zurich these years", "Zurich", Category.LOCATION),
        ("living in zurich these years", "zurich", Category.LOCATION),
        ("off to New York again", "New York", Category.LOCATION),
        ("Reykjavik is cold", "Reykjavik", Category.LOCATION),
        ("the food of Portugal wins", "Portugal", Category.LOCATION),
        ("us in the US know", "US", Category.LOCATION),
        ("from Bavaria with love", "Bavaria", Category.LOCATION),
        ("the coffee shop below", "coffee shop", Category.LOCATION),
        ("the libraries here", "libraries", Category.LOCATION),
        ("being a paramedic is rough", "paramedic", Category.PERSON_TYPE),
        ("most civil engineers would agree", "civil engineers", Category.PERSON_TYPE),
        ("as a cook I know", "cook", Category.PERSON_TYPE),
        ("my mother-in-law knows", "mother-in-law", Category.PERSON_TYPE),
        ("I'm divorced by the way", "divorced", Category.PERSON_TYPE),
        ("Married to a saint", "Married", Category.PERSON_TYPE),
        ("typical for Norwegians and co", "Norwegians", Category.PERSON_TYPE),
        ("at university I learned", "university", Category.ORGANIZATION),
        ("finished my PhD there", "PhD", Category.ORGANIZATION),
        ("the birthday parties here", "birthday parties", Category.EVENT),
    ],
)
def test_it_is_found(text, part, category):
    assert category in says(text, part)


@pytest.mark.parametrize(
    "text",
    [
        "Nice weather for reading, most would bear it",
        "Reading is what I like",
        "Most love it. God knows.",
        "let us march on, you may win",
        "I cook and judge and guide",
        "every single thing engaged me",
        "turkey with gravy",
        "this is 3.x software of ours",
        "WHAT ARE YOU DOING WITH THAT",
        "I like What You Did There Very Much",
        "so I said What about the Cheese over there",
        "a-b-c",
        "",
    ],
)
def test_it_is_left_alone(text):
    assert tagged(text) == text


def test_a_city_that_is_a_word_needs_a_capital_and_a_preposition():
    assert tagged("raised in Reading") == "raised in <LOCATION>"
    assert tagged("raised in reading") == "raised in reading"
    assert tagged("Reading helps") == "Reading helps"


def test_weak_words_only_where_they_are_asked_for():
    text = "the industry is old"
    assert tagged(text) == text
    assert tagged(text, least=0.3) == "the <ORGANIZATION> is <AGE>"


def test_the_possessive_ending_stays():
    assert (
        tagged("the chef's knife in Lisbon's port") == "the <PERSON_TYPE>'s knife in <LOCATION>'s <LOCATION>"
    )


def test_what_masking_left_behind_is_not_looked_into():
    for text in ("in ***** with <PERSON>", "<LOCATION> and <PHONE_NUMBER>, ** of ***"):
        assert tagged(text) == text


@given(
    some.lists(
        some.sampled_from(
            [
                "in",
                "Paris",
                "my",
                "wife",
                "Anna",
                "34",
                "New",
                "York",
                "nurse",
                "the",
                "last",
                "year",
                ".",
                "I'm",
                "single",
                "coffee",
                "shop",
                "$5",
                "bucks",
                "Okoro",
                "a@b.org",
                "May",
                "Nice",
                "two",
            ]
        ),
        max_size=12,
    ),
    some.sampled_from(Style),
)
def test_a_second_pass_never_unmasks_and_keeps_placeholders(words, style):
    once = mask(" ".join(words), MASKER, style=style)
    twice = mask(once.text, MASKER, style=style)
    kept = [once.text[one.start : one.end] for one in once.marks]
    at = 0
    for piece in kept:
        at = twice.text.index(piece, at) + len(piece)


@given(some.text(max_size=80))
def test_any_text_can_be_read(text):
    spans = MASKER.spans(text)
    assert spans == MASKER.spans(text)
    assert len(mask(text, MASKER).text) == len(text)


HOSTILE = {
    "one word": "a" * 100_000,
    "digits": "1" * 100_000,
    "at signs": "a@" * 50_000,
    "hosts": "a.b." * 25_000,
    "links": "http://" * 14_000,
    "asterisks": "*" * 100_000,
    "capitals": "12 " + "Aaaa " * 20_000,
    "money": "$" * 100_000,
    "apostrophes": "a'" * 50_000,
    "half phrases": "the every other " * 6_000,
    "half numbers": "twenty-" * 14_000,
}


def seconds(text):
    start = time.process_time()
    MASKER.spans(text)
    return time.process_time() - start


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_grows_with_the_length_and_no_faster(name):
    """100 kB; quadratic time would take 256 times as long for sixteen times the text.

    A busy machine may disturb one measurement, hardly three.
    """
    text = HOSTILE[name]
    MASKER.spans("warm in Lima")
    tries = ((seconds(text), seconds(text[: len(text) // 16])) for _ in range(3))
    assert any(whole < 64 * part for whole, part in tries)


def test_forms_alone_are_a_part_of_the_rules_and_know_no_words():
    text = "My nurse in Lima, 34 years old, is ann@example.org since 2019-03-04; <LOCATION> stays."
    forms, rules = FormsMasker().spans(text), MASKER.spans(text)
    found = {text[one.start : one.end]: one.category for one in forms}
    assert set(forms) < set(rules)
    assert found["ann@example.org"] is Category.EMAIL
    assert Category.AGE in found.values()
    assert not {"nurse", "Lima"} & set(found)
    assert {"nurse", "Lima"} <= {text[one.start : one.end] for one in rules}


def test_the_lists_hold_what_they_should():
    ours = lists()
    assert ours.phrases[("paramedic",)].category is Category.PERSON_TYPE
    assert ours.phrases[("new", "years", "eve")].category is Category.EVENT
    assert all(0 < len(words) <= 5 for words in ours.phrases)
    assert all(ours.beginnings[words[0]] >= len(words) for words in ours.phrases)


@pytest.mark.parametrize(
    ("plural", "word"),
    [("cities", "city"), ("nurses", "nurse"), ("churches", "church"), ("wives", "wif"), ("class", "class")],
)
def test_plurals(plural, word):
    assert word in list(singular(plural))


def test_no_plural_of_double_s():
    assert list(singular("boss")) == ["boss"]


def test_patterns_say_their_category():
    assert {one.category for one in found("on 2020-03-01 for $5 to a@b.org")} >= {
        Category.DATE_TIME,
        Category.CURRENCY,
        Category.EMAIL,
    }
