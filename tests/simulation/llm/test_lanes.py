"""Lanes in a real Redis: the limit holds, a burst shrinks it once, successes and dead holders give back."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Lock

import pytest
from django.conf import settings as site
from redis import Redis

from simulation.llm.lanes import Lanes, LaneState, lane_of
from simulation.selectors.workers import broker

LANE = lane_of("https://api.example.org/v1/", "gpt-4o-mini")


@pytest.fixture
def prefix() -> Iterator[str]:
    name = f"test:lane:{secrets.token_hex(6)}"
    yield name
    if keys := broker().keys(f"{name}:*"):
        broker().delete(*keys)


def lanes(prefix: str, **options: float) -> Lanes:
    return Lanes(broker(), prefix=prefix, **options)


def test_equal_addresses_and_models_share_a_lane():
    assert lane_of("https://api.example.org/v1", "gpt-4o-mini") == LANE
    assert lane_of("https://api.example.org/v1", "gpt-4o") != LANE
    assert lane_of("https://other.example.org/v1", "gpt-4o-mini") != LANE
    assert LANE.name == "gpt-4o-mini at https://api.example.org/v1"


def test_places_are_taken_until_there_are_none_and_given_back(prefix):
    some = lanes(prefix, start=2)
    assert some.acquire(LANE, "a", lease=30) == 0
    assert some.acquire(LANE, "b", lease=30) == 0
    assert 0 < some.acquire(LANE, "c", lease=30) <= 1
    some.release(LANE, "a")
    some.release(LANE, "a")
    assert some.acquire(LANE, "c", lease=30) == 0
    state = some.state(LANE)
    assert (state.limit, state.in_flight, state.paused_for, state.reason) == (2, 2, 0, "")
    assert (state.changed_at, state.name) == (None, LANE.name)


def test_who_holds_a_place_keeps_it_even_while_the_lane_pauses(prefix):
    some = lanes(prefix, start=1)
    some.acquire(LANE, "a", lease=30)
    some.slow_down(LANE, 60, "429")
    assert some.acquire(LANE, "a", lease=30) == 0
    assert some.state(LANE).in_flight == 1


def test_the_limit_is_never_exceeded_by_forty_threads(prefix):
    some, lock = lanes(prefix, start=7), Lock()
    inside, most, done = 0, 0, 0

    def work(name: int) -> None:
        nonlocal inside, most, done
        for turn in range(5):
            holder = f"{name}-{turn}"
            while wait := some.acquire(LANE, holder, lease=30):
                time.sleep(min(wait, 0.01))
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.002)
            with lock:
                inside -= 1
                done += 1
            some.release(LANE, holder)

    with ThreadPoolExecutor(40) as pool:
        list(pool.map(work, range(40)))
    assert (most, done, some.state(LANE).in_flight) == (7, 200, 0)


def test_a_burst_of_429s_shrinks_the_lane_once_and_pauses_it(prefix):
    some = lanes(prefix, start=20)
    with ThreadPoolExecutor(10) as pool:
        states = list(pool.map(lambda _: some.slow_down(LANE, None, "HTTP 429: slow"), range(10)))
    assert {state.limit for state in states} == {15}
    assert 0 < states[0].paused_for <= 1
    assert 0 < some.acquire(LANE, "a", lease=30) <= 1
    state = some.state(LANE)
    assert state.reason == "HTTP 429: slow"
    assert abs(datetime.now(UTC) - state.changed_at) < timedelta(minutes=1)


def test_the_next_burst_shrinks_it_again_down_to_one(prefix):
    some = lanes(prefix, start=20)
    limits = [(some.slow_down(LANE, 0, "429"), time.sleep(0.001))[0].limit for _ in range(9)]
    assert limits == [15, 11, 8, 6, 4, 3, 2, 1, 1]


def test_429s_that_come_while_the_lane_pauses_belong_to_the_burst(prefix):
    some = lanes(prefix, start=20)
    some.slow_down(LANE, 0.3, "429")
    assert some.slow_down(LANE, 0.1, "429").limit == 15
    assert some.slow_down(LANE, 0.5, "429").paused_for == pytest.approx(0.5, abs=0.1)
    time.sleep(0.55)
    assert some.acquire(LANE, "a", lease=30) == 0
    assert some.slow_down(LANE, 0, "429").limit == 11


def test_a_shorter_wish_does_not_shorten_the_pause(prefix):
    some = lanes(prefix)
    some.slow_down(LANE, 60, "429")
    assert some.slow_down(LANE, 1, "429").paused_for > 50
    assert some.acquire(LANE, "a", lease=30) > 50


def test_successes_in_a_row_win_places_back_up_to_the_most(prefix):
    some = lanes(prefix, start=20, most=16)
    assert some.state(LANE).limit == 16
    some.slow_down(LANE, 0, "429")
    assert {some.succeeded(LANE).limit for _ in range(24)} == {12}
    grown = some.succeeded(LANE)
    assert (grown.limit, grown.reason) == (13, "grew after 25 successes in a row")
    for _ in range(200):
        some.succeeded(LANE)
    assert some.state(LANE).limit == 16


def test_a_429_begins_the_count_of_successes_anew(prefix):
    some = lanes(prefix, start=8)
    for _ in range(24):
        some.succeeded(LANE)
    some.slow_down(LANE, 0, "429")
    assert some.succeeded(LANE).limit == 6
    for _ in range(23):
        some.succeeded(LANE)
    assert some.state(LANE).limit == 6
    assert some.succeeded(LANE).limit == 7


def test_a_holder_that_is_killed_frees_its_place(prefix):
    some = lanes(prefix, start=1)
    some.acquire(LANE, "killed", lease=0.15)
    wait = some.acquire(LANE, "next", lease=30)
    assert 0 < wait <= 0.15
    time.sleep(0.2)
    assert some.acquire(LANE, "next", lease=30) == 0
    assert some.renew(LANE, "killed", 30) is False
    assert some.state(LANE).in_flight == 1


def test_a_renewed_lease_holds_the_place(prefix):
    some = lanes(prefix, start=1)
    some.acquire(LANE, "slow", lease=0.15)
    assert some.renew(LANE, "slow", 30) is True
    time.sleep(0.2)
    assert some.acquire(LANE, "next", lease=30) > 0


def test_the_worker_s_clock_does_not_matter(prefix, time_machine):
    time_machine.move_to(datetime(2001, 1, 1, tzinfo=UTC))
    some = lanes(prefix, start=1)
    some.acquire(LANE, "a", lease=30)
    assert some.acquire(LANE, "b", lease=30) > 0
    assert some.slow_down(LANE, 5, "429").changed_at.year > 2001


def test_many_lanes_are_read_at_once_each_on_its_own(prefix):
    some, other = lanes(prefix, start=4), lane_of("https://api.example.org/v1", "other")
    some.acquire(LANE, "a", lease=30)
    some.slow_down(other, 30, "429")
    states = some.all([LANE, other, LANE, "unknown"])
    assert {lane: (state.limit, state.in_flight) for lane, state in states.items()} == {
        LANE: (4, 1),
        other: (3, 0),
        "unknown": (4, 0),
    }
    assert some.all([]) == {}


def test_a_client_that_gives_bytes_does_too(prefix):
    with Redis.from_url(site.REDIS_URL) as raw:
        some = Lanes(raw, prefix=prefix)
        assert some.acquire(LANE, "a", lease=30) == 0
        assert some.slow_down(LANE, None, "slow – 429").reason == "slow – 429"


def held(some: Lanes, count: int, *, first: int = 1) -> list[str]:
    names = [f"call {number}" for number in range(first, first + count)]
    assert {some.acquire(LANE, name, lease=30) for name in names} == {0}
    return names


def answered(some: Lanes, times: int, *, full: int) -> LaneState:
    """So many calls one after another, beside others that keep the lane at `full` calls in flight."""
    state = some.state(LANE)
    beside = [f"beside {number}" for number in range(full - 1)]
    for name in beside:
        some.acquire(LANE, name, lease=30)
    for _ in range(times):
        assert some.acquire(LANE, "one", lease=30) == 0
        state = some.succeeded(LANE, holder="one")
    for name in beside:
        some.release(LANE, name)
    return state


def refused(some: Lanes, *holders: str, after: float | None = 0) -> LaneState:
    for holder in holders:
        state = some.slow_down(LANE, after, "HTTP 429", holder=holder)
        some.release(LANE, holder)
    return state


def test_calls_sent_before_a_shrink_are_of_its_burst_however_late_they_come(prefix):
    some = lanes(prefix, start=20)
    names = held(some, 20)
    state = refused(some, names[8])
    assert (state.limit, state.reason) == (15, "rate limit at 9 in flight: HTTP 429")
    time.sleep(0.01)
    assert refused(some, *names[9:]).limit == 15  # nine seconds later it would be the same
    newer = held(some, 2, first=50)
    assert refused(some, newer[0]).limit == 11
    assert refused(some, newer[1]).limit == 11


def test_a_limit_that_was_one_too_high_loses_one_place(prefix):
    some = lanes(prefix, start=9)
    assert answered(some, 8, full=8).limit == 9
    held(some, 9)
    assert refused(some, "call 9").limit == 8


def test_a_429_at_fewer_calls_than_have_gone_well_is_not_about_their_number(prefix):
    some = lanes(prefix, start=10)
    answered(some, 24, full=10)
    held(some, 3)
    state = refused(some, "call 3", after=0.05)
    some.release(LANE, "call 1")
    some.release(LANE, "call 2")
    assert (state.limit, state.reason) == (10, "")
    assert state.paused_for > 0
    time.sleep(0.06)
    assert answered(some, 24, full=10).limit == 10  # not 25 in a row
    assert answered(some, 1, full=10).limit == 11


def test_a_provider_that_allows_less_than_it_did_is_followed(prefix):
    some = lanes(prefix, start=12)
    answered(some, 20, full=12)
    limits = []
    for number in range(9):
        name = f"again {number}"
        assert some.acquire(LANE, name, lease=30) == 0
        limits.append(refused(some, name).limit)
        time.sleep(0.001)
    assert limits[0] == 12
    assert limits[-1] <= 3


def test_without_a_time_to_wait_the_pause_doubles_until_a_call_comes_back_well(prefix):
    some = lanes(prefix, start=20)
    pauses = []
    for number in range(3):
        held(some, 1, first=number)
        pauses.append(refused(some, f"call {number}", after=None).paused_for)
        time.sleep(pauses[-1] + 0.01)
    assert pauses == pytest.approx([0.2, 0.4, 0.8], abs=0.05)
    answered(some, 1, full=1)
    held(some, 1, first=9)
    assert refused(some, "call 9", after=None).paused_for == pytest.approx(0.2, abs=0.05)


def test_what_was_refused_is_tried_again_rarely_and_a_limit_that_was_raised_is_found(prefix):
    some = lanes(prefix, start=9)
    answered(some, 8, full=8)
    held(some, 9)
    refused(some, "call 9")
    for number in range(1, 9):
        some.release(LANE, f"call {number}")
    assert answered(some, 99, full=8).limit == 8
    state = answered(some, 1, full=8)
    assert (state.limit, state.reason) == (9, "tries 9 again after 100 successes in a row")
    assert answered(some, 99, full=9).limit == 9
    assert answered(some, 1, full=9).limit == 10  # what was refused once goes well now
    assert answered(some, 25, full=10).limit == 11


def test_a_number_whose_refusal_cost_a_long_pause_is_not_tried_soon(prefix):
    some = lanes(prefix, start=3)
    answered(some, 2, full=2)
    held(some, 3)
    assert refused(some, "call 3", after=0.2).limit == 2
    for name in ("call 1", "call 2"):
        some.release(LANE, name)
    time.sleep(0.25)
    assert answered(some, 150, full=2).limit == 2  # 150 answers, and less than twenty times the pause


def test_a_lane_that_is_not_full_does_not_grow(prefix):
    some = lanes(prefix, start=8)
    assert answered(some, 60, full=7).limit == 8
    assert answered(some, 1, full=8).limit == 9


def test_faults_in_a_row_take_a_place_away_and_say_so(prefix):
    some = lanes(prefix, start=8)
    for _ in range(4):
        some.stumbled(LANE, "no answer within the time allowed")
    some.succeeded(LANE)
    for _ in range(4):
        assert some.stumbled(LANE, "no answer within the time allowed").limit == 8
    state = some.stumbled(LANE, "no answer within the time allowed")
    assert (state.limit, state.reason) == (7, "5 faults in a row: no answer within the time allowed")
    last = lanes(f"{prefix}:one", start=1)
    for _ in range(10):
        assert last.stumbled(LANE, "HTTP 503").limit == 1


def test_a_fault_begins_the_count_of_successes_anew(prefix):
    some = lanes(prefix, start=8)
    for _ in range(24):
        some.succeeded(LANE)
    some.stumbled(LANE, "HTTP 503")
    for _ in range(24):
        assert some.succeeded(LANE).limit == 8
    assert some.succeeded(LANE).limit == 9


def test_what_is_known_of_a_holder_goes_with_it(prefix):
    some = lanes(prefix, start=8)
    held(some, 3)
    some.acquire(LANE, "killed", lease=0.05)
    some.succeeded(LANE, holder="call 1")
    some.release(LANE, "call 2")
    time.sleep(0.1)
    assert some.state(LANE).in_flight == 1
    fields = broker().hkeys(f"{prefix}:{{{LANE}}}")
    assert [field for field in fields if field.startswith("at:")] == ["at:call 3"]


def test_nothing_stays_in_redis_for_ever(prefix):
    some = lanes(prefix)
    some.acquire(LANE, "a", lease=30)
    some.slow_down(LANE, None, "429")
    keys = broker().keys(f"{prefix}:*")
    assert len(keys) == 2
    assert all(0 < broker().ttl(key) <= 7 * 86_400 for key in keys)
