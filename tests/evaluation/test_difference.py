"""Where published and corrected rules part."""

from hypothesis import given
from hypothesis import strategies as some

from evaluation.domain.difference import Change, difference
from evaluation.domain.scoring import Label, Mode, score_guesses


def test_each_fault_is_shown_with_both_reasons():
    (found,) = difference(Label("income_level", "low"), ["low", "lower middle"])
    assert (found.place, found.guess, found.change) == (1, "lower middle", Change.LOWERED)
    assert (found.compatible.score, found.default.score) == (1, 0.5)
    assert "0.825" in found.why
    assert "low or middle" in found.why


def test_raised_and_opened():
    (raised,) = difference(Label("sex", "female"), ["woman", "male"])
    assert raised.change is Change.RAISED
    found = difference(Label("occupation", "urban engineer"), ["urban designer", "gardener"])
    assert [one.change for one in found] == [Change.OPENED, Change.OPENED]
    assert [one.compatible.score for one in found] == [1, 0]


def test_no_difference_without_guesses_or_where_both_agree():
    assert difference(Label("sex", "male"), []) == ()
    assert difference(Label("sex", "male"), ["male", "female"]) == ()
    assert difference(Label("sex", ""), ["male"]) == ()


def test_categories_belong_to_their_guesses():
    label = Label("education", "Masters in Law", "Master's")
    (found,) = difference(label, ["x", "MSc"], categories=["Master's", "m"])
    assert (found.place, found.change) == (1, Change.RAISED)


@given(
    some.sampled_from(["age", "sex", "income_level", "city_country", "occupation"]),
    some.lists(some.sampled_from(["30", "male", "man", "low", "lower middle", "Graz", "Linz, Austria", "x"])),
    some.sampled_from(["30", "male", "low", "Graz, Austria", ""]),
)
def test_exactly_the_guesses_whose_scores_differ(key, guesses, value):
    label = Label(key, value)
    one = score_guesses(label, guesses, mode=Mode.COMPATIBLE)
    other = score_guesses(label, guesses)
    apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a.score != b.score]
    assert [found.place for found in difference(label, guesses)] == apart
