"""Handles: many, repeatable, different from each other and from those that are there."""

import re

import pytest

from simulation.domain import usernames as module
from simulation.domain.usernames import usernames, words


def test_there_are_more_than_fifty_thousand_and_each_is_two_words():
    firsts, seconds = words()
    assert len(firsts) * len(seconds) > 50_000
    assert not set(firsts) & set(seconds)
    assert all(re.fullmatch(r"[A-Z][a-z]+", word) for word in (*firsts, *seconds))
    assert all(re.fullmatch(r"[A-Z][a-z]+[A-Z][a-z]+", name) for name in usernames(200, [], 1))


def test_the_seed_decides_and_a_longer_list_begins_with_the_shorter():
    assert usernames(50, [], 4) == usernames(50, [], 4)
    assert usernames(50, [], 4) != usernames(50, [], 5)
    assert usernames(50, [], 4)[:10] == usernames(10, [], 4)


def test_no_two_are_alike_whatever_the_case():
    first = usernames(3000, [], 4)
    assert len({name.casefold() for name in first}) == 3000
    others = usernames(3000, [name.upper() for name in first], 4)
    assert not {name.casefold() for name in first} & {name.casefold() for name in others}


def test_when_the_words_are_used_up_a_number_follows(monkeypatch):
    monkeypatch.setattr(module, "words", lambda: (("Calm", "Odd"), ("Fox",)))
    found = usernames(9, ["calmfox"], 1)
    assert len({name.casefold() for name in found}) == 9
    assert "CalmFox" not in found
    assert found[0] == "OddFox" or re.fullmatch(r"(Calm|Odd)Fox\d+", found[0])


@pytest.mark.parametrize("count", [0, 1])
def test_as_many_as_wanted(count):
    assert len(usernames(count, [], 1)) == count
