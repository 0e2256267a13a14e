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

from simulation.llm.lanes import Lanes, lane_of
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
    some = lanes(prefix, start=20, debounce=0)
    limits = [(some.slow_down(LANE, 0, "429"), time.sleep(0.001))[0].limit for _ in range(9)]
    assert limits == [15, 11, 8, 6, 4, 3, 2, 1, 1]


def test_429s_that_come_while_the_lane_pauses_belong_to_the_burst(prefix):
    some = lanes(prefix, start=20, debounce=0)
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


def test_nothing_stays_in_redis_for_ever(prefix):
    some = lanes(prefix)
    some.acquire(LANE, "a", lease=30)
    some.slow_down(LANE, None, "429")
    keys = broker().keys(f"{prefix}:*")
    assert len(keys) == 2
    assert all(0 < broker().ttl(key) <= 7 * 86_400 for key in keys)
