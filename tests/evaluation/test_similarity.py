"""Jaro-Winkler in its two forms."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rapidfuzz.distance import JaroWinkler

from evaluation.domain.similarity import is_like, jaro_winkler
from tests.published import FOLDER, needs_published_data

WORDS = some.text("abcdefgh ,é", max_size=30)


def test_textbook_values():
    # Winkler's own: Jaro 0.944 and 0.822, three and one letters of prefix
    assert jaro_winkler("martha", "marhta") == pytest.approx(0.9611, abs=1e-4)
    assert jaro_winkler("dwayne", "duane") == pytest.approx(0.84, abs=1e-4)


def test_the_prefix_counts_up_to_four_letters():
    assert jaro_winkler("abcdefgh", "abcdzzzz") == pytest.approx(2 / 3 + 0.4 / 3)
    assert jaro_winkler("abcdeffh", "abcdezzz") == pytest.approx(0.75 + 0.4 * 0.25)


def test_the_forms_differ_where_jaro_is_low():
    low = (1 / 4 + 1 / 4 + 1) / 3
    assert jaro_winkler("abcd", "axyz", classic=False) == pytest.approx(low)
    assert jaro_winkler("abcd", "axyz") == pytest.approx(low + 0.1 * (1 - low))


def test_nothing_against_nothing_and_something():
    assert jaro_winkler("", "") == 1
    assert jaro_winkler("", "a") == jaro_winkler("a", "") == 0


def test_alike_is_above_three_quarters():
    assert is_like("teacher", "teachers")
    assert not is_like("teacher", "nurse")


@given(WORDS, WORDS, some.booleans())
def test_symmetric_and_from_0_to_1(one, other, classic):
    found = jaro_winkler(one, other, classic=classic)
    assert found == jaro_winkler(other, one, classic=classic)
    assert 0 <= found <= 1
    assert (found == 1) == (one == other)


@given(WORDS, WORDS)
def test_the_thresholded_form_is_the_librarys_and_never_above_the_classic(one, other):
    thresholded = jaro_winkler(one, other, classic=False)
    assert thresholded == pytest.approx(JaroWinkler.similarity(one, other))
    assert thresholded <= jaro_winkler(one, other)


@needs_published_data
def test_published_vectors():
    vectors = json.loads((FOLDER / "expected.json").read_text())["vectors"]["similarity"]
    assert vectors
    for one in vectors:
        assert jaro_winkler(one["a"], one["b"]) == pytest.approx(one["jw_classic"], abs=1e-6)
        found = jaro_winkler(one["a"], one["b"], classic=False)
        assert found == pytest.approx(one["jw_thresholded"], abs=1e-6)
