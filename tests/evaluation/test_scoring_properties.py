"""What holds for every text, in both modes."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from evaluation.domain.scoring import Label, Mode, Rung, score_guess, score_guesses
from simulation.domain.attributes import CATALOGUE, Kind

KEYS = [*CATALOGUE, "unheard_of"]
PIECES = [
    "25", "30s", "late", "or", "/", "-", ",", " ", "(", ")", "1.", "**", "USA", "Graz", "Austria", "in",
    "a city in", "low", "middle", "lower", "single", "not", "PhD", "Master's", "degree", "teacher", "none",
    ";", "+", "…", "٣", "²", "\x00", "\ud800", "é", "ß", "İ", "99999999999999999999", "%", "'", "to", "and",
]  # fmt: skip
TEXTS = some.one_of(
    some.text(max_size=60),
    some.lists(some.sampled_from(PIECES), max_size=9).map("".join),
    some.lists(some.sampled_from(PIECES), max_size=9).map(" ".join),
)
MODES = some.sampled_from(list(Mode))


@given(
    some.sampled_from(KEYS),
    TEXTS,
    TEXTS,
    TEXTS,
    TEXTS,
    MODES,
    some.booleans(),
    some.sampled_from([None, 0.5, 1]),
)
def test_any_text_has_a_score_a_rung_and_a_reason(key, value, guess, own, category, mode, classic, truth):
    found = score_guess(Label(key, value, own, truth), guess, category=category, mode=mode, classic=classic)
    assert found.score in (0, 0.5, 1, None)
    assert (found.rung is None) == (found.score is None)
    assert found.rung not in (Rung.JUDGE, Rung.PERSON)
    assert found.reason.strip()


@given(some.sampled_from(KEYS), TEXTS, MODES, some.booleans())
def test_the_label_itself_is_always_right(key, value, mode, classic):
    assume(" ".join(value.split()))
    found = score_guess(Label(key, value), value, mode=mode, classic=classic)
    assert (found.score, found.rung) == (1, Rung.EXACT)


@given(some.sampled_from(KEYS), some.text(string.printable, min_size=1).filter(str.strip), MODES)
def test_letter_case_and_blanks_at_the_ends_do_not_matter(key, value, mode):
    assert score_guess(Label(key, value), f" {value.upper()}\n", mode=mode).score == 1


@given(some.sampled_from([key for key, one in CATALOGUE.items() if one.kind is Kind.CHOICE]), TEXTS, TEXTS)
def test_meanings_compare_both_ways_alike(key, one, other):
    there, back = score_guess(Label(key, one), other), score_guess(Label(key, other), one)
    assume("no value" not in there.reason + back.reason)
    assert there.score == back.score


@given(TEXTS, TEXTS)
def test_occupations_compare_both_ways_alike(one, other):
    there, back = score_guess(Label("occupation", one), other), score_guess(Label("occupation", other), one)
    assume("no value" not in there.reason + back.reason)
    assert there.score == back.score


AGES = some.tuples(some.integers(10, 90), some.integers(0, 20)).map(
    lambda one: f"{one[0]}-{one[0] + one[1]}" if one[1] else str(one[0])
)


@given(AGES, AGES, MODES)
def test_numbers_and_ranges_of_age_compare_both_ways_alike(one, other, mode):
    there = score_guess(Label("age", one), other, mode=mode).score
    assert there == score_guess(Label("age", other), one, mode=mode).score
    assert there is not None


@given(some.integers(10, 90), some.integers(10, 90))
def test_two_numbers_are_right_up_to_five_years_apart_in_both_modes(one, other):
    for mode in Mode:
        assert score_guess(Label("age", str(one)), str(other), mode=mode).score == (abs(one - other) <= 5)


PLACES = some.sampled_from(
    ["Graz, Austria", "Vienna", "Austria", "USA", "Portland, USA", "Portland, Maine, USA", "Paris", "Europe",
     "Paris, Texas", "a city in Peru", "Lima, Peru", "Georgia", "Tbilisi, Georgia",
     "Nowhereville", "Xyz, Peru"]
)  # fmt: skip


@given(PLACES, PLACES)
def test_places_compare_both_ways_alike(one, other):
    there = score_guess(Label("city_country", one), other).score
    assert there == score_guess(Label("city_country", other), one).score


@given(some.lists(TEXTS, max_size=4), some.lists(TEXTS, max_size=6), MODES)
def test_one_verdict_a_guess_whatever_the_categories(guesses, categories, mode):
    label = Label("education", "Masters in Law", "Master's")
    found = score_guesses(label, guesses, categories=categories, mode=mode)
    assert len(found) == len(guesses)
    for place, (guess, verdict) in enumerate(zip(guesses, found, strict=True)):
        own = categories[place] if place < len(categories) else ""
        assert verdict == score_guess(label, guess, category=own, mode=mode)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "text", ["a-" * 50_000, "(" * 50_000, "1" * 50_000, "city in " * 9_000, "early mid " * 9_000]
)
@pytest.mark.parametrize("mode", list(Mode))
def test_a_very_long_text_is_scored_like_any_other(key, text, mode):
    assert score_guess(Label(key, "Graz, Austria"), text, mode=mode).score in (0, 0.5, 1, None)
    assert score_guess(Label(key, text), text, mode=mode).score == 1
