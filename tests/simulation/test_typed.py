"""Typed confirmation: what counts as the name, and what is said where it is not."""

import pytest

from simulation.domain.typed import NotConfirmed, require_typed


@pytest.mark.parametrize("typed", ["Round 1", "  Round 1\n", "Round  1", "Round\u00a01"])
def test_the_name_confirms_however_many_spaces_stand_in_it(typed):
    require_typed(typed, "Round 1")


def test_an_accent_counts_as_the_same_however_unicode_spells_it():
    require_typed("Zoe\u0301", "Zo\u00e9")


@pytest.mark.parametrize("typed", ["round 1", "Round 11", "Round", "yes"])
def test_anything_else_is_refused_in_words_that_hold_both(typed):
    with pytest.raises(NotConfirmed, match=f"“{typed}” is not the name. Type “Round 1”"):
        require_typed(typed, "Round 1")


def test_nothing_typed_is_refused():
    with pytest.raises(NotConfirmed, match="Nothing was typed"):
        require_typed("  ", "Round 1")


def test_a_long_text_is_cut_in_what_is_said():
    with pytest.raises(NotConfirmed) as refusal:
        require_typed("x" * 5000, "Round 1")
    assert len(str(refusal.value)) < 200
