"""What an author's labels say together, and which do not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotation.domain.rollup import Claim, roll_up
from simulation.domain.attributes import CATALOGUE
from simulation.domain.matching import Match, compare

AGE, PLACE = CATALOGUE["age"], CATALOGUE["city_country"]


def rolled(attribute, *said):
    return roll_up(attribute, [Claim(value, hardness) for value, hardness in said])


def test_the_lowest_hardness_gives_the_value_and_the_first_of_several_wins():
    found = rolled(AGE, ("33", 3), ("34", 2), ("32", 2))
    assert (found.value, found.source, found.odd) == ("34", 1, ())
    assert not found.is_contradicted


def test_a_label_without_hardness_does_not_give_the_value_but_can_contradict():
    found = rolled(AGE, ("33", None), ("34", 4), ("60", None))
    assert (found.value, found.odd, found.against) == ("34", (2,), ("34",))


def test_nothing_is_rolled_up_from_nothing():
    assert rolled(AGE) is None
    assert rolled(AGE, ("33", None)) is None


@pytest.mark.parametrize(
    ("attribute", "said", "odd"),
    [
        (AGE, [("25", 1)], ()),
        (AGE, [("25", 1), ("25", 5)], ()),
        # the smaller camp is odd, also when it is the clearest
        (AGE, [("25", 2), ("26", 3), ("60", 4)], (2,)),
        (AGE, [("25", 2), ("26", 3), ("60", 1)], (2,)),
        (AGE, [("60", 1), ("25", 2), ("61", 1), ("25", 3), ("25", 3)], (0, 2)),
        # equal camps: the harder one is odd, by its clearest label
        (AGE, [("25", 3), ("60", 2)], (0,)),
        (AGE, [("25", 2), ("60", 3)], (1,)),
        (AGE, [("25", 2), ("60", 2)], (1,)),
        (AGE, [("25", 1), ("25", 5), ("60", 2), ("61", 3)], (2, 3)),
        # what is less precise fits both sides; the two still contradict each other
        (PLACE, [("Austria", 1), ("Graz, Austria", 2)], ()),
        (PLACE, [("Austria", 1), ("Graz, Austria", 2), ("Linz, Austria", 3)], (2,)),
        (PLACE, [("Austria", 1), ("Graz, Austria", 2), ("Bern", 3), ("Linz, Austria", 3)], (2, 3)),
        # 30 is within five years of both, 25 and 35 are not of each other
        (AGE, [("30", 1), ("25", 2), ("35", 3)], (2,)),
    ],
)
def test_the_odd_ones_are_those_that_have_to_go(attribute, said, odd):
    assert rolled(attribute, *said).odd == odd


def test_each_odd_one_names_the_clearest_value_that_it_contradicts():
    found = rolled(AGE, ("25", 2), ("27", 1), ("60", 4), ("44", 4))
    assert (found.odd, found.against) == ((2, 3), ("27", "27"))


claims = some.lists(
    some.builds(
        Claim,
        some.sampled_from(
            ["Austria", "Graz, Austria", "Linz", "Bern", "Europe", "Paris", "Paris, Texas", "USA"]
        ),
        some.none() | some.integers(1, 5),
    ),
    min_size=1,
    max_size=12,
)


@given(claims)
def test_without_the_odd_ones_nothing_contradicts_and_with_any_of_them_something_does(said):
    found = roll_up(PLACE, said)
    if found is None:
        assert all(claim.hardness is None for claim in said)
        return
    rest = [claim.value for place, claim in enumerate(said) if place not in found.odd]
    assert rest
    assert all(compare(PLACE, one, other) is not Match.DIFFERENT for one in rest for other in rest)
    assert len(found.odd) == len(found.against)
    for place, value in zip(found.odd, found.against, strict=True):
        assert value in rest
        assert compare(PLACE, said[place].value, value) is Match.DIFFERENT
