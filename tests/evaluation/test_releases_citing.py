"""How a release is cited, and what a DOI is."""

import pytest

from evaluation.domain.citing import BadDoi, Cited, bibtex, doi_of

ONE = Cited(
    title="Winter 2026", version="1.0", year=2026, digest="ab" * 32, licence="CC-BY-4.0", doi="10.5281/z.1"
)


def test_an_entry_names_title_version_year_doi_and_digest():
    entry = bibtex(ONE)
    assert entry.startswith("@misc{winter-2026-2026-1.0,\n")
    assert "title = {{Winter 2026}}" in entry
    assert "doi = {10.5281/z.1}" in entry
    assert "ab" * 32 in entry
    assert "Withdrawn" not in entry


def test_signs_that_mean_something_there_are_written_out():
    entry = bibtex(Cited(title="50% of {A}_B & C\\D", version="1", year=2026, digest="0", withdrawn=True))
    assert r"50\% of \{A\}\_B \& C\textbackslash{}D" in entry
    assert "doi" not in entry
    assert "Withdrawn" in entry


@pytest.mark.parametrize(
    "text", ["10.5281/zenodo.123", " https://doi.org/10.5281/zenodo.123 ", "doi:10.5281/zenodo.123"]
)
def test_a_doi_is_kept_in_one_spelling(text):
    assert doi_of(text) == "10.5281/zenodo.123"


@pytest.mark.parametrize(
    "text", ["zenodo.123", "10.1/x", "10.5281/", "10.5281/a b", "10.5281/<x>", "10.5281/" + "x" * 200]
)
def test_what_is_no_doi_is_refused(text):
    with pytest.raises(BadDoi, match="is no DOI"):
        doi_of(text)
