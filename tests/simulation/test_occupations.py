"""Occupations: the usual name, how two relate, what is suggested. The list is our own."""

import tomllib
from pathlib import Path

import pytest

from simulation.domain import occupations
from simulation.domain.relations import Match

SAME, LESS, DIFFERENT = Match.SAME, Match.LESS_PRECISE, Match.DIFFERENT


def test_the_list_is_long_and_says_everything_once():
    path = Path(occupations.__file__).with_name("occupations.toml")
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["occupations"]
    spellings = [text.casefold() for name, others in listed.items() for text in (name, *others)]
    assert len(listed) >= 400
    assert len(spellings) == len(set(spellings))
    assert all(occupations.normal(name) == name for name in listed)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Programmers", "software developer"),
        ("a Nurse", "nurse"),
        ("paediatric nurse", "pediatric nurse"),
        ("curator at a museum", "museum curator"),
        ("HR manager", "human resources manager"),
        ("IT-specialist", "information technology specialist"),
        ("Archaelogist", "archeologist"),
        ("jobless", "none"),
        ("dragon tamer", None),
        ("part-time barista", None),
        ("", None),
    ],
)
def test_case_articles_plural_and_synonyms_do_not_matter(written, name):
    assert occupations.normal(written) == name


@pytest.mark.parametrize(
    ("one", "other", "match"),
    [
        ("software engineer", "Programmer", SAME),
        ("unemployed", "none", SAME),
        ("museum curators", "curator at the museum", SAME),
        ("dragon tamers", "the dragon tamer", SAME),
        ("nurse", "paediatric nurse", LESS),
        ("engineer", "software developer", LESS),
        ("part-time barista", "barista", LESS),
        ("retired", "retired teacher", LESS),
        ("professor/lecturer", "professor", LESS),
        ("programmer/software engineer", "software developer", SAME),
        ("nurse", "doctor", DIFFERENT),
        ("painter", "printer", DIFFERENT),
        ("geolgist", "geologist", SAME),
        ("school principal", "school teacher", DIFFERENT),
        ("", "nurse", DIFFERENT),
        ("/", "nurse", DIFFERENT),
    ],
)
def test_occupations_relate_by_name_and_by_words(one, other, match):
    assert occupations.relation(one, other) is match
    assert occupations.relation(other, one) is match


def test_suggestions_begin_with_what_was_typed_in_some_spelling():
    assert occupations.suggest("programm")[0] == "software developer"
    assert occupations.suggest("Nurse")[0] == "nurse"
    assert (
        occupations.suggest("paed") == ["pediatrician", "pediatric nurse"][: len(occupations.suggest("paed"))]
    )
    assert "primary school teacher" in occupations.suggest("school te")
    assert len(occupations.suggest("e")) == 8
    assert occupations.suggest("qqq") == occupations.suggest(" ") == []
