"""The frozen question of a release, the schema of its tables, and the docs that repeat it."""

from pathlib import Path

import pytest

from evaluation.domain.release_card import columns_of, licence_key, size_category
from evaluation.domain.release_schema import TABLES
from evaluation.domain.releasing import BadQuery, Query

DOCS = Path(__file__).parents[2] / "docs" / "releases.md"


def test_a_query_comes_back_as_it_was_kept():
    query = Query(reviewed_only=True, attributes=("age", "sex"), min_words=3, threads=("t1",))
    assert Query.from_json(query.to_json()) == query
    assert Query.from_json({}) == Query()
    assert set(query.to_json()) == set(Query().to_json())


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"reviewed": True}, "reviewed", "no filter; known are reviewed_only"),
        ({"reviewed_only": 1}, "reviewed_only", "true or false"),
        ({"min_words": -1}, "min_words", "whole number"),
        ({"min_words": True}, "min_words", "whole number"),
        ({"attributes": ["height"]}, "attributes", "“height” is none of age"),
        ({"attributes": "age"}, "attributes", "list of names"),
        ({"sources": ["made up"]}, "sources", "none of simulated"),
        ({"threads": [""]}, "threads", "no name"),
        ({"threads": ["a\0b"]}, "threads", "no name"),
        ({"profiles": [str(n) for n in range(10_001)]}, "profiles", "at most 10000"),
    ],
)
def test_a_query_that_cannot_be_asked_names_the_field(said, field, words):
    with pytest.raises(BadQuery) as refused:
        Query.from_json(said)
    assert refused.value.field == field
    assert words in str(refused.value)


def test_names_are_asked_for_once():
    assert Query.from_json({"threads": ["b", "a", "b"]}).threads == ("b", "a")


def test_columns_of_a_table_have_different_names_and_say_what_they_mean():
    for table in TABLES:
        assert len(set(table.names)) == len(table.names)
        assert all(one.meaning for one in table.columns)


def test_the_docs_have_the_columns_of_every_table():
    text = DOCS.read_text(encoding="utf-8")
    for table in TABLES:
        assert f"### `{table.name}`\n\n{table.about}\n\n{columns_of(table)}\n" in text


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("CC BY-NC-SA 4.0", "cc-by-nc-sa-4.0"),
        ("cc0 1.0", "cc0-1.0"),
        ("MIT", "mit"),
        ("Apache License 2.0", "apache-2.0"),
        ("ask me", ""),
        ("", ""),
    ],
)
def test_licences_have_the_keys_of_the_hub(words, key):
    assert licence_key(words) == key


@pytest.mark.parametrize(
    ("rows", "words"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (7823, "1K<n<10K"), (10**7, "n>1M")]
)
def test_sizes_have_the_words_of_the_hub(rows, words):
    assert size_category(rows) == words
