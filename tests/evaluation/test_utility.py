"""Similarity of changed texts to their originals: worked by hand, properties, the published masking."""

from functools import cache
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.exchange.released_rows import read_rows
from evaluation.metrics.utility import Bleu, UtilityTally, edit_similarity, kept, rouge_l, words
from tests.published import FOLDER, needs_published_data

short = some.text(alphabet="ab* ", max_size=8)


def bleu(original, changed):
    one = Bleu()
    one.take(original.split(), changed.split())
    return one.value()


def test_words():
    assert words("I'm IN *** with <PERSON_TYPE>, o’clock_5") == [
        "i'm",
        "in",
        "***",
        "with",
        "<person_type>",
        "o’clock",
        "5",
    ]


def test_kept_characters():
    assert kept("in Oslo", "in ****") == pytest.approx(3 / 7)
    assert kept("in Oslo", "we are in Oslo now") == 1
    assert kept("", "abc") == 1
    assert kept("abc", "") == 0


def test_edit_similarity():
    # kitten -> sitting takes three edits (Levenshtein's textbook pair)
    assert edit_similarity("kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert edit_similarity("", "") == 1


def test_rouge_l_of_lins_examples():
    # Lin (2004), section 3.1: S1 police killed the gunman; S2 and S3 have subsequences of 3 and 2 words
    gunman = ["police", "killed", "the", "gunman"]
    assert rouge_l(gunman, ["police", "kill", "the", "gunman"]) == pytest.approx(3 / 4)
    assert rouge_l(gunman, ["the", "gunman", "kill", "police"]) == pytest.approx(2 / 4)
    assert rouge_l([], []) == 1
    assert rouge_l(gunman, []) == 0
    assert rouge_l(["a", "b", "c", "d"], ["a", "b"]) == pytest.approx(4 / 6)


def test_bleu_clips_as_in_papineni():
    # Papineni et al. (2002), section 2.1: "the" seven times has a clipped precision of 2/7 of words
    one = Bleu()
    one.take(["the", "cat", "is", "on", "the", "mat"], ["the"] * 7)
    assert (one._matches[0], one._possible[0]) == (2, 7)
    assert one.value() == 0


def test_bleu_by_hand():
    # unigrams 5/6, bigrams 3/5, trigrams 2/4, 4-grams 1/3; equal length
    assert bleu("a b c d e f", "a b c d x f") == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    # all precisions 1, brevity exp(1 - 8/5)
    assert bleu("a b c d e f g h", "a b c d e") == pytest.approx(exp(1 - 8 / 5))
    # longer than the reference: no penalty; 4/5, 3/4, 2/3, 1/2
    assert bleu("a b c d", "a b c d x") == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_bleu_is_of_the_corpus_and_not_a_mean():
    one = Bleu()
    one.take(["a", "b", "c", "d"], ["a", "b", "c", "d"])
    one.take(["a", "b"], ["x", "y"])
    assert one.value() == pytest.approx((4 / 6 * 3 / 4 * 1 * 1) ** 0.25)


def test_bleu_of_short_texts_is_none():
    assert bleu("a b c", "a b c") is None


@cache
def subsequence(one, other):
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + subsequence(one[1:], other[1:])
    return max(subsequence(one[1:], other), subsequence(one, other[1:]))


@given(short, short)
def test_by_the_definition_of_the_subsequence(one, other):
    assert kept(one, other) == pytest.approx(subsequence(one, other) / len(one) if one else 1)
    total = len(one) + len(other)
    assert rouge_l(list(one), list(other)) == pytest.approx(
        2 * subsequence(one, other) / total if total else 1
    )


@given(short, short)
def test_all_lie_within_0_and_1_and_are_1_for_equal_texts(one, other):
    for measure in (kept, edit_similarity):
        assert 0 <= measure(one, other) <= 1
        assert measure(one, one) == 1


def test_a_tally():
    tally = UtilityTally()
    tally.take("in Oslo now", "in **** now", "tilda")
    tally.take("at home I sit here", "at home I sit here", "tilda")
    tally.take("so be it, all of you", "so be it, all of you", "bragg")
    found = tally.utility()
    assert (found.pairs, found.changed, found.characters) == (3, 1, 49)
    assert found.kept_characters == pytest.approx(45 / 49)
    assert found.kept.value == pytest.approx((7 / 11 + 1 + 1) / 3)
    assert (found.kept.n, found.kept.clusters) == (3, 2)
    assert found.rouge_l.value == pytest.approx((4 / 6 + 2) / 3)
    assert found.edit.low < found.edit.value < found.edit.high
    assert 0 < found.bleu < 1


def test_a_tally_of_nothing():
    found = UtilityTally().utility()
    assert (found.pairs, found.kept_characters, found.kept.value, found.bleu) == (0, None, None, None)


@pytest.mark.published
@needs_published_data
def test_the_published_masking():
    labels, tally = FOLDER / "labels", UtilityTally()
    pairs = zip(
        read_rows(labels / "comments_eval_revised.jsonl.gz"),
        read_rows(labels / "comments_anonymized.jsonl.gz"),
        strict=True,
    )
    for before, after in pairs:
        for old, new in zip(before.comments, after.comments, strict=True):
            tally.take(old, new, before.username)
    found = tally.utility()
    assert (found.pairs, found.changed, found.characters) == (7785, 5009, 807276)
    assert found.kept_characters == pytest.approx(1 - 65300 / 807276, abs=1e-9)
