"""Family and size of a model, by its name."""

import pytest

from evaluation.exchange.importing_models import about, table


@pytest.mark.parametrize(
    ("name", "family", "billions"),
    [
        ("Llama-2-70b", "Llama 2", "70"),
        ("meta-llama/Llama-3-8b-chat-hf", "Llama 3", "8"),
        ("Mistral-7B-Instruct-v0.1", "Mistral", "7.3"),
        ("Mixtral-8x22B-Instruct-v0.1", "Mixtral", "141"),
        ("Gemma-7B-Instruct", "Gemma", "8.54"),
        ("Yi-34B-Chat", "Yi", "34"),
        ("gpt-4", "GPT-4", None),
        ("Claude-3-Opus", "Claude 3", None),
        ("Gemini_Pro_1.5", "Gemini", None),
        ("our-own-0.5b", "", "0.5"),
        ("our-8x3b", "", None),
        ("guess3better", "", None),
        ("", "", None),
    ],
)
def test_nothing_is_guessed_that_neither_the_table_nor_the_name_says(name, family, billions):
    known = about(name)
    assert known.family == family
    assert (None if known.parameters is None else str(known.parameters)) == billions


def test_sizes_in_the_table_are_of_the_makers():
    assert len(table()) > 10
    assert all(one.billions is None or 0 < one.billions < 2000 for one in table())
