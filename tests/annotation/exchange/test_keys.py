"""Sets of keys as ranges."""

import random

import pytest
from django.db import connection

from annotation.exchange.keys import Ranges, as_multirange


def test_keys_that_rise_from_call_to_call_are_one_range():
    ranges = Ranges()
    ranges.add([3, 1, 2])
    ranges.add([])
    ranges.add([4])
    ranges.add(range(5, 2000))
    assert ranges.settled() == [[1, 1999]]


def test_gaps_stay_gaps_and_late_ones_are_joined():
    ranges = Ranges()
    ranges.add([10, 12, 14])
    ranges.add([11])
    assert ranges.settled() == [[10, 12], [14, 14]]
    assert as_multirange(ranges.pairs) == "{[10,12],[14,14]}"


@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_keys_that_were_added(seed):
    keys = random.Random(seed).sample(range(1000), 300)
    ranges = Ranges()
    for start in range(0, len(keys), 17):
        ranges.add(keys[start : start + 17])
    held = [key for first, last in ranges.settled() for key in range(first, last + 1)]
    assert held == sorted(keys)


@pytest.mark.django_db
def test_the_database_reads_them():
    with connection.cursor() as cursor:
        query = "SELECT 2::bigint <@ %s::int8multirange, 9::bigint <@ '{}'::int8multirange"
        cursor.execute(query, [as_multirange([[1, 2]])])
        assert cursor.fetchone() == (True, False)
