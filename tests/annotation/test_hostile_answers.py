"""Answers made to keep a reader busy: of any reader the work grows as the text does, and not faster.

The longest answer that is read at all has 60,000 characters. A text is doubled up to half of that. Where that
more than triples the processor time, and the time is long enough to be measured, the reader is too slow.
"""

import re
import time
from contextlib import suppress

import pytest

from annotation.domain.judgements import judgement_of, read_judgement
from annotation.domain.tag_replies import Unreadable, read_tags
from simulation.domain.profile_answers import read_profile
from simulation.domain.replies import read_interest, read_reply, read_style, read_topic
from simulation.domain.sections import sections
from simulation.llm.structured import LONGEST, Shape, read, strip_thinking
from tests.fakes.llm import reply

ASKED = (("occupation", 3),)
MEASURABLE = 0.1
"""Seconds of processor time; shorter ones say nothing."""
SHAPE = Shape(judgement_of(ASKED), lambda text: read_judgement(text, ASKED), "")


def whole(text):
    """As a run reads it: thinking, fences and JSON first."""
    return read(reply(text), SHAPE)


GUESSES = ("", "Guess:\n", "Guess:\noccupation: ", "Guess:\nage: 1. x")
VERDICTS = ("", "occupation", "occupation: ")
READERS = {
    "judgement": (VERDICTS, lambda text: read_judgement(text, ASKED)),
    "whole": (("", "<think>", "```"), whole),
    "tags": (GUESSES, read_tags),
    "profile": (("", "age"), read_profile),
    "topic": (("", "Question: "), read_topic),
    "style": (("", "Writing style: "), read_style),
    "reply": (("", "My comment: "), read_reply),
    "interest": (("", "Interested"), read_interest),
    "sections": (("", "My"), sections),
    "thinking": (("", "<think>"), strip_thinking),
}
"""Each with what the text begins with."""
UNITS = (
    *(" ", "\n", "\t", "\r\n", "_", "*", "- ", "a", "a ", "a_", "ab: ", "1. ", ",", ";", "; ", ":", "|", '"'),
    *(
        "[",
        "]",
        "[{",
        "{",
        "(",
        "(a",
        "age [,",
        "age - ",
        "``` ",
        "```\n",
        "<think>",
        "</think>",
        "\na",
        "_\n",
    ),
    *("question:\n", "writing style:\n", "my comment:\n", "my ", "Guess:\n", "Hardness:\n", "Reasoning: "),
    *("occupation: yes\n", "occupation: less ", "thread so far: ", "é", "a/"),
)


def seconds(reader, text):
    begin = time.process_time()
    with suppress(ValueError):  # most of these are no answer; it is said so
        reader(text)
    return time.process_time() - begin


def grows_too_fast(reader, begin, unit):
    """The length at which doubling the text more than tripled the time; None where it never did."""

    def text(length):
        return begin + (unit * length)[: length - len(begin) - 1] + "!"

    before, length = seconds(reader, text(LONGEST // 256)), LONGEST // 128
    while length <= LONGEST // 2:
        now = seconds(reader, text(length))
        if now > MEASURABLE and now > 3 * before:
            # Something else may have had the processor: only the best of three says it.
            now, before = (min(seconds(reader, text(n)) for _ in range(3)) for n in (length, length // 2))
            if now > MEASURABLE and now > 3 * before:
                return length
        before, length = now, 2 * length
    return None


@pytest.mark.parametrize("name", READERS)
def test_doubling_an_answer_does_not_more_than_double_the_work(name):
    beginnings, reader = READERS[name]
    slow = (
        (begin, unit, length)
        for begin in beginnings
        for unit in UNITS
        if (length := grows_too_fast(reader, begin, unit))
    )
    assert next(slow, None) is None


def test_a_reader_that_is_too_slow_is_found():
    assert grows_too_fast(lambda text: re.findall(r"\s*x", text), "", " ")


# What the readers still read


def test_commas_and_numbers_still_part_guesses():
    said = "Guess:\noccupation - 1. nurse, 2. medic (day, night) 3. carer\nCertainty: 4\nHardness: direct"
    assert read_tags(said).tags[0].guesses == ("nurse", "medic (day, night)", "carer")
    said = "Guess:\noccupation: nurse (day, night), medic, carer\nCertainty: 4\nHardness: direct"
    assert read_tags(said).tags[0].guesses == ("nurse (day, night)", "medic", "carer")


def test_a_section_of_very_many_names_is_read_to_a_bound():
    said = "Guess:\n" + "".join(f"age - [{number}; 1; 1]\n" for number in range(20, 3000))
    found = read_tags(said)
    assert not isinstance(found, Unreadable)
    assert found.tags[0].guesses == ("20", "1", "1")


def test_a_topic_and_a_style_are_read_as_ever():
    topic = read_topic(
        "Well.\n**Question:** Why?\nReally?\n# Question description: Since\nthen.\nquestion: no"
    )
    assert (topic.question, topic.description) == ("Why?\nReally?", "Since\nthen.\nquestion: no")
    style = read_style("Writing style: short.\nExample: ok.\nExample: more")
    assert (style.writing_style, style.example) == ("short.", "ok.\nExample: more")
    with pytest.raises(ValueError, match="in this order"):
        read_topic("Question description: a\nQuestion: b")
