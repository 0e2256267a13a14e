"""The time that the rules take grows with the length of a text and no faster, whatever the text holds.

Comments are looked at inside the transaction that writes them, so no text may hold it up. No limit in
seconds: four times the length may cost nine times the work, where a rule that begins anew at every sign of a
run costs sixteen.
"""

from time import process_time

import pytest

from simulation.domain.artefacts import find

SHORT, LONG = 2_500, 10_000
TWO_DOUBLINGS = 9
FACTS = {"age": 34, "city_country": "Zürich, Switzerland", "birth_city_country": "New York, United States"}
# Single signs, pairs, words, scripts that take turns; what stands between them is said once a text.
REPEATED = [
    " ", "\n", "\n\n", "\r\n", "\t", "-", "--", "- ", "#", "# ", "]", ")", "}", "(", "[", "{", "<",
    "_", "__", "~", "|", "=", "*", ":", "::", ";", ".", "\\", "\\n", "\\nab", "/", "//a", "0", "1",
    "1.", "1 ", "1, ", "-1", "a", "a ", "a. ", "A. ", "aA", "aAaA ", "a-", "a_", "x.", "x.y", "x(",
    "f(a,", "def a(", "if (a", "[b=", "[a](/", "<a ", "<a href=\"", "{\"a\":", "\n- a", "\n1. a",
    "|a|\n", "a:b;", "a@b.", "a@", "ab12", "aA1", "Zürich ", "when in Zürich ", "I am 34 ",
    "my son I am 34 ", "I live in ", "my name is ", "Step 1: ", "User: ", "Human: ", "author: ",
    "age: ", "here is a ", "write a ", "the user ", "I need to ", "[name_", "s", "hm", "ha", "😀",
    "👩\u200d", "ж", "ж a ", "漢", "漢a", "ا", "ﬁ", "ß", "é", "e\u0301", "Ġ", "▁a", "ã",
]  # fmt: skip
ENDS = ["", " x", "aa", "(", "!\n"]


def _cost(text):
    began = process_time()
    find(text, FACTS, "Otter77")
    return process_time() - began


@pytest.fixture(scope="module", autouse=True)
def _what_is_made_once():
    find("I live in Zürich, voopen {x} 我", FACTS, "Otter77")


@pytest.mark.parametrize("place", range(len(REPEATED)), ids=[ascii(one) for one in REPEATED])
def test_time_grows_with_the_length_of_the_text(place):
    unit, end = REPEATED[place], ENDS[place % len(ENDS)]

    def text(signs):
        return "Hi " + (unit * signs)[:signs] + end

    # A machine that is busy may disturb one measurement, hardly three.
    tries = ((_cost(text(LONG)), _cost(text(SHORT))) for _ in range(3))
    assert any(long <= TWO_DOUBLINGS * short for long, short in tries)


@pytest.mark.parametrize("head", ["[name", "//", "a.", "¯", "a,,,,,", "<!--", "\\"])
@pytest.mark.parametrize("unit", ["_", "a", "s", "-", "1"])
def test_a_single_long_run_behind_what_opens_a_shape_costs_no_more(head, unit):
    tries = ((_cost(head + unit * LONG + " b"), _cost(head + unit * SHORT + " b")) for _ in range(3))
    assert any(long <= TWO_DOUBLINGS * short for long, short in tries)
