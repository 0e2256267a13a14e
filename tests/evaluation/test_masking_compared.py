"""Two maskings character by character; ours against the published one."""

import pytest

from evaluation.domain.masking import mask
from evaluation.domain.masking_compared import Agreement, AgreementTally
from evaluation.domain.masking_rules import RulesMasker
from evaluation.exchange.released_rows import read_rows
from tests.published import FOLDER, needs_published_data


def test_counts_and_shares():
    tally = AgreementTally()
    tally.take("in Oslo now", "in **** now", "in **** ***")
    tally.take("a * b", "a * *", "* * b")
    found = tally.agreement()
    assert found == Agreement(reference=5, ours=8, both=4, characters=16)
    assert found.recall == pytest.approx(4 / 5)
    assert found.precision == pytest.approx(4 / 8)
    assert found.f1 == pytest.approx(8 / 13)


def test_nothing_masked_has_no_shares():
    tally = AgreementTally()
    tally.take("abc", "abc", "abc")
    found = tally.agreement()
    assert (found.recall, found.precision, found.f1) == (None, None, None)


def test_texts_of_different_length_are_refused():
    with pytest.raises(ValueError, match="text 3, reference 4, ours 3"):
        AgreementTally().take("abc", "abcd", "abc")


@pytest.mark.published
@needs_published_data
def test_ours_against_the_published_masking():
    """Measured for version 1: recall 0.69, precision 0.69. The floor is two points below."""
    labels, masker, tally = FOLDER / "labels", RulesMasker(), AgreementTally()
    pairs = zip(
        read_rows(labels / "comments_eval_revised.jsonl.gz"),
        read_rows(labels / "comments_anonymized.jsonl.gz"),
        strict=True,
    )
    for before, after in pairs:
        assert before.username == after.username
        for text, published in zip(before.comments, after.comments, strict=True):
            tally.take(text, published, mask(text, masker).text)
    found = tally.agreement()
    assert (found.reference, found.characters) == (65300, 807276)
    assert found.recall > 0.665
    assert found.precision > 0.67
