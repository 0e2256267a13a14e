"""Exact money: prices by token, nano-dollars, and the rule that keeps a cap."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.money import FREE, MOST_NANO, NANO, Limit, Room, UnitPrice, dollars, nanos, room

prices = st.decimals(min_value=0, max_value=1_000_000, places=6)
tokens = st.integers(min_value=0, max_value=10**7)
amounts = st.integers(min_value=0, max_value=10**13)


def exact(price, *, input, output, cached=0):
    """The same in fractions, in nano-dollars."""
    cached = min(max(0, cached), input)
    of_cache = price.input if price.cached is None else price.cached
    a_million = (input - cached) * Fraction(price.input) + cached * Fraction(of_cache)
    return (a_million + output * Fraction(price.output)) * 1000


@given(prices, prices, st.none() | prices, tokens, tokens, tokens)
def test_a_cost_is_the_exact_one_rounded_up_to_a_nano_dollar(input, output, cached, n_in, n_out, n_cached):
    price = UnitPrice(input, output, cached)
    paid = exact(price, input=n_in, output=n_out, cached=n_cached)
    cost = price.cost(input=n_in, output=n_out, cached=n_cached)
    assert cost == min(MOST_NANO, -(-paid.numerator // paid.denominator))


@given(prices, prices, st.data(), tokens, tokens)
def test_what_is_set_aside_suffices_whatever_comes_back(input, output, data, most_in, most_out):
    cached = data.draw(st.none() | st.decimals(min_value=0, max_value=input, places=6))
    price = UnitPrice(input, output, cached)
    n_in, n_out = data.draw(st.integers(0, most_in)), data.draw(st.integers(0, most_out))
    read_back = data.draw(st.integers(0, n_in))
    held = price.cost(input=most_in, output=most_out)
    assert price.cost(input=n_in, output=n_out, cached=read_back) <= held


@pytest.mark.parametrize(
    ("price", "counts", "nano"),
    [
        (UnitPrice(Decimal("0.15"), Decimal("0.6")), {"input": 1000, "output": 200}, 270_000),
        (UnitPrice(Decimal("0.15"), Decimal("0.6")), {"input": 1, "output": 0}, 150),
        (UnitPrice(Decimal("0.000001"), Decimal(0)), {"input": 1, "output": 0}, 1),
        (UnitPrice(Decimal(2), Decimal(8), Decimal(1)), {"input": 10, "output": 0, "cached": 4}, 16_000),
        (UnitPrice(Decimal(2), Decimal(8), Decimal(1)), {"input": 10, "output": 0, "cached": 40}, 10_000),
        (UnitPrice(Decimal(2), Decimal(8), Decimal(1)), {"input": 10, "output": 0, "cached": -5}, 20_000),
        (FREE, {"input": 10**7, "output": 10**7}, 0),
    ],
)
def test_known_costs(price, counts, nano):
    assert price.cost(**counts) == nano


def test_only_what_costs_nothing_in_all_its_parts_is_free():
    assert FREE.is_free
    assert UnitPrice(Decimal(0), Decimal(0), Decimal(0)).is_free
    assert not UnitPrice(Decimal(0), Decimal("0.000001")).is_free
    assert not UnitPrice(Decimal(0), Decimal(0), Decimal(1)).is_free


@given(amounts)
def test_dollars_and_back_is_the_same_amount(nano):
    assert nanos(dollars(nano)) == nano


def test_part_of_a_nano_dollar_is_a_whole_one():
    assert nanos(Decimal("0.0000000001")) == 1
    assert nanos(Decimal(3)) == 3 * NANO


@pytest.mark.parametrize("amount", [Decimal(-1), Decimal("-0.000000001"), Decimal(9_000_000_001)])
def test_an_amount_that_no_column_holds_is_refused(amount):
    with pytest.raises(ValueError, match="from 0 to 9,000,000,000"):
        nanos(amount)


@given(amounts, amounts, st.none() | amounts, amounts)
def test_the_rule_of_a_cap(spent, held, cap, need):
    verdict = Limit(spent, held, cap).room_for(need)
    if cap is None or spent + held + need <= cap:
        assert verdict is Room.FITS
    elif spent + need <= cap:
        assert verdict is Room.CROWDED
        assert Limit(spent, 0, cap).room_for(need) is Room.FITS
    else:
        assert verdict is Room.FULL


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [
        ([], Room.FITS),
        ([(Limit(5, 0, None), 10**12)], Room.FITS),
        ([(Limit(5, 0, 10), 5)], Room.FITS),
        ([(Limit(5, 1, 10), 5), (Limit(0, 0, 10), 5)], Room.CROWDED),
        ([(Limit(5, 1, 10), 5), (Limit(6, 0, 10), 5)], Room.FULL),
        ([(Limit(12, 0, 10), 0)], Room.FULL),
    ],
)
def test_of_several_limits_the_worst_decides(limits, verdict):
    assert room(limits) is verdict
