"""What a model wrote -> topic, yes or no, comment; or a reason, never a guess."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.replies import (
    Interest,
    Topic,
    read_comment,
    read_interest,
    read_style,
    read_topic,
    read_yes_no,
)

ANSWER = """Thread so far: someone complains about buses.
My part in it: nothing yet.
Reasoning: I can add my own commute.
Style check: short, no capitals.
My comment: my tram is worse, and it has a smell"""


@pytest.mark.parametrize(
    "text", ["Yes", "yes.", " YES!", "Interested: Yes", "**Yes**", "Answer: yes, surely"]
)
def test_a_plain_yes_is_yes(text):
    assert read_yes_no(text) is True


# D1 of the published code: any answer with a y, an e or an s in it counted as interest.
@pytest.mark.parametrize(
    "text", ["No", "no.", "No, he would not be interested", "Interested: No", "Nope", "Not really, yes?"]
)
def test_a_no_with_the_letters_of_yes_in_it_is_still_no(text):
    assert read_yes_no(text) is False


@pytest.mark.parametrize("text", ["", "Possibly", "I think yes", "Yesterday", "Nothing"])
def test_anything_else_is_unreadable_not_a_guess(text):
    with pytest.raises(ValueError, match="begins neither"):
        read_yes_no(text)


def test_interest_is_a_boolean_field_and_takes_the_word_as_well():
    assert Interest.model_validate_json('{"interested": false}').interested is False
    assert Interest.model_validate_json('{"interested": "No, not their thing"}').interested is False
    assert read_interest("Interested: Yes").interested is True


def test_the_comment_is_what_follows_the_last_label():
    assert read_comment(ANSWER) == "my tram is worse, and it has a smell"


@pytest.mark.parametrize(
    "label",
    [
        "My comment:",
        "My Comment:",
        "My-comment:",
        "My_comment:",
        "My new comment:",
        "**My comment:**",
        "## My comment:",
    ],
)
def test_every_spelling_of_the_label_is_known(label):
    assert read_comment(f"Reasoning: because\n{label} fine words here") == "fine words here"


def test_with_two_labels_the_last_counts():
    assert (
        read_comment("My comment: a draft\nStyle check: too dull\nMy comment: the real one") == "the real one"
    )


def test_line_breaks_become_blanks_and_the_ends_are_trimmed():
    assert read_comment("My comment:   one\n two\n\n three  ") == "one two three"


def test_quotation_marks_around_the_whole_are_taken_off_and_others_kept():
    assert read_comment('My comment: "just this"') == "just this"
    assert read_comment('My comment: "a" is not "b"') == '"a" is not "b"'


def test_without_the_label_the_chain_of_thought_is_never_the_comment():
    with pytest.raises(ValueError, match="missing"):
        read_comment(ANSWER.replace("My comment:", ""))


def test_a_label_with_nothing_behind_it_is_an_error():
    with pytest.raises(ValueError, match="nothing follows"):
        read_comment("Reasoning: x\nMy comment:   \n")


def test_a_section_behind_the_comment_is_an_error():
    with pytest.raises(ValueError, match="must be the last"):
        read_comment("My comment: fine words\nStyle check: all good")


def test_a_topic_needs_both_its_labels():
    topic = read_topic("Sure!\nQuestion: Who fixes your bike?\nQuestion description: Mine\nbroke.")
    assert topic == Topic(question="Who fixes your bike?", description="Mine\nbroke.")
    assert topic.text.startswith("Question: Who fixes your bike?\n\nQuestion description: Mine")
    with pytest.raises(ValueError, match="not both there"):
        read_topic("Question: Who fixes your bike?")


def test_a_style_needs_both_its_labels():
    style = read_style("Writing style: You write tersely.\n\nExample: no.")
    assert style.text == "Writing style: You write tersely.\n\nExample: no."
    with pytest.raises(ValueError, match="not both there"):
        read_style("You write tersely.")


@given(st.text(max_size=300))
def test_readers_give_a_value_or_a_value_error(text):
    for reader in (read_comment, read_interest, read_topic, read_style):
        with suppress(ValueError):
            reader(text)
