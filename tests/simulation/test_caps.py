"""The caps that are proposed, and the meter that shows how much of one is spent."""

import pytest

from simulation.domain.caps import Caps, Meter, proposals, proposed
from simulation.domain.plans import Forecast


@pytest.mark.parametrize(
    ("calls", "tokens", "caps"),
    [
        (402, 468_900, Caps(610, 710_000)),
        (0, 0, Caps(1, 1)),
        (1, 10, Caps(2, 15)),
        (66_667, 1_000_000, Caps(110_000, 1_500_000)),
    ],
)
def test_half_as_much_again_is_proposed_in_round_numbers(calls, tokens, caps):
    assert proposed(Forecast(0, calls, tokens, 0)) == caps


def test_a_cap_as_proposed_follows_and_a_typed_one_stays():
    said = {"max_calls": 10, "suggested_calls": 10, "max_tokens": 777, "suggested_tokens": 900}
    assert proposals(said, Caps(20, 2000)) == {"max_calls": 20, "suggested_calls": 20}
    assert proposals(said, Caps(10, 2000)) == {}
    assert proposals({}, Caps(20, 2000)) == {
        "max_calls": 20,
        "suggested_calls": 20,
        "max_tokens": 2000,
        "suggested_tokens": 2000,
    }


@pytest.mark.parametrize(
    ("spent", "held", "cap", "free", "shares"),
    [
        (0, 0, 100, 100, ("0.00", "0.00")),
        (53, 7, 100, 40, ("53.00", "7.00")),
        (90, 30, 100, 0, ("90.00", "10.00")),
        (120, 5, 100, 0, ("100.00", "0.00")),
        (0, 0, 0, 0, ("0.00", "0.00")),
    ],
)
def test_the_parts_of_a_meter_add_up_to_its_cap(spent, held, cap, free, shares):
    meter = Meter(spent, held, cap)
    assert meter.free == free
    assert (meter.spent_share, meter.held_share) == shares
    assert meter.is_full is (spent >= cap)
