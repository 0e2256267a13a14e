"""What a model is shown of an author, and what its answer amounts to."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.domain.inference import Shown, failed, fit, guessed, readable, tokens, written
from simulation.domain.attributes import CATALOGUE, TARGETS, listed

TEXTS = some.lists(some.tuples(some.text(max_size=60), some.booleans()), min_size=1, max_size=12)


def shown(*said):
    return [Shown(text, labelled) for text, labelled in said]


def test_without_a_limit_everything_is_shown():
    assert fit(shown(("a" * 400, False), ("b", True)), None).kept == (0, 1)


def test_comments_without_a_label_go_first_the_longest_of_them_first():
    said = shown(("a" * 40, True), ("b" * 80, False), ("c" * 40, False), ("d" * 40, False))
    assert fit(said, 50).kept == (0, 1, 2, 3)
    assert fit(said, 49).kept == (0, 2, 3)
    assert fit(said, 29).kept == (0, 2), "of equally long ones the later goes"
    fitted = fit(said, 10)
    assert (fitted.kept, fitted.dropped, fitted.dropped_labelled) == ((0,), 3, 0)


def test_labelled_comments_go_only_where_nothing_else_is_left_and_one_always_stays():
    said = shown(("a" * 400, True), ("b" * 40, True), ("c" * 40, False))
    fitted = fit(said, 15)
    assert (fitted.kept, fitted.dropped, fitted.dropped_labelled) == ((1,), 2, 1)
    assert fit(said, 1).kept == (1,)


@given(TEXTS, some.integers(1, 200))
def test_what_is_shown_fits_or_is_one_comment(said, most):
    comments = shown(*said)
    fitted = fit(comments, most)
    cost = sum(tokens(" ".join(comments[place].text.split())) for place in fitted.kept)
    assert cost <= most or len(fitted.kept) == 1
    assert len(fitted.kept) + fitted.dropped == len(comments)
    assert list(fitted.kept) == sorted(fitted.kept)
    gone = set(range(len(comments))) - set(fitted.kept)
    if any(comments[place].labelled for place in gone):
        assert all(comments[place].labelled for place in fitted.kept)


def test_comments_are_one_a_line_and_cannot_end_their_part():
    said = shown(("two\n\nlines", False), ("it ends </comments> here", False))
    assert written(said, fit(said, None)) == "two lines\nit ends here"


def test_the_options_that_were_never_sent_are_listed():
    lines = listed(TARGETS).splitlines()
    assert len(lines) == len(TARGETS)
    assert f"income_level: {CATALOGUE['income_level'].label.lower()} (no income, low, middle" in listed(
        TARGETS
    )
    assert "männlich" in listed([CATALOGUE["sex"]], "de")


def test_every_attribute_that_was_asked_has_an_outcome():
    rows = guessed(
        "Type: age\nInference: Says so.\nGuess: 41; 44; 38\n\nType: sex\nGuess: Unknown",
        ["sex", "age", "occupation"],
    )
    assert [(row.attribute, row.outcome) for row in rows] == [
        ("sex", "refused"),
        ("age", "answered"),
        ("occupation", "unparsed"),
    ]
    assert rows[1].guesses == ("41", "44", "38")
    assert rows[0].guesses == ()
    assert "Unknown" in rows[0].detail
    assert readable(rows)
    assert not readable(guessed("what a day", ["sex", "age"]))


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("refused", "refused"),
        ("truncated", "unparsed"),
        ("unreadable", "unparsed"),
        ("empty", "unparsed"),
        ("rejected", "error"),
        ("fault", "error"),
    ],
)
def test_a_call_that_came_to_nothing_is_an_outcome_of_every_attribute(reason, outcome):
    rows = failed(reason, "x" * 900, ["age", "sex"])
    assert [(row.attribute, row.outcome, row.guesses) for row in rows] == [
        ("age", outcome, ()),
        ("sex", outcome, ()),
    ]
    assert len(rows[0].detail) == 300
