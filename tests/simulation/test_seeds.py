"""Where chance comes from, and who begins and is asked in the threads of a run."""

from collections import Counter

import pytest

from simulation.domain.seeds import generator, plan_asked, plan_authors

PROFILES = [f"profile {number}" for number in range(300)]


def test_a_generator_is_named_by_seed_and_path():
    assert generator(1, 2, "a").random() == generator(1, 2, "a").random()
    names = [(1,), (2,), (1, 2), (1, "a"), (1, "a", "b/c"), (1, "a/b", "c"), (1, 23), (12, 3), (1, 2, 3)]
    assert len({generator(*name).random() for name in names}) == len(names)


def test_a_generator_gives_the_same_on_every_machine():
    assert generator(42, 0, "actions").randint(1, 1_000_000) == 762_065


def test_authors_differ_across_the_threads_of_a_run():
    authors = plan_authors(PROFILES, 30, seed=42)
    assert len(set(authors)) == 30
    assert plan_authors(PROFILES, 30, seed=42) == authors
    assert plan_authors(PROFILES[::-1], 30, seed=42) == authors
    assert plan_authors(PROFILES, 30, seed=43) != authors
    assert plan_authors(PROFILES, 10, seed=42) == authors[:10]


def test_with_more_threads_than_profiles_everybody_begins_equally_many():
    authors = plan_authors(PROFILES[:7], 21, seed=42)
    assert set(Counter(authors).values()) == {3}
    assert authors[:7] != authors[7:14]


def test_no_threads_need_no_authors_and_no_profiles_have_none():
    assert plan_authors([], 0, seed=42) == []
    with pytest.raises(ValueError, match="profiles"):
        plan_authors([], 1, seed=42)


def test_every_thread_asks_in_an_order_of_its_own():
    """Upstream began each run with the same shuffle: 40 of 103 threads had one author."""
    authors = plan_authors(PROFILES, 30, seed=42)
    plans = [plan_asked(PROFILES, author, 35, 42, thread) for thread, author in enumerate(authors)]
    assert len(set(map(tuple, plans))) == 30
    assert len({plan[0] for plan in plans}) > 20
    seats = Counter(profile for plan in plans for profile in plan)
    assert len(seats) > 250  # of 300 profiles, with 1,050 seats to give
    assert max(seats.values()) < 15
    for thread, (author, plan) in enumerate(zip(authors, plans, strict=True)):
        assert author not in plan
        assert len(plan) == len(set(plan)) == 35
        assert plan == plan_asked(PROFILES[::-1], author, 35, 42, thread)


def test_with_fewer_profiles_than_wanted_all_others_are_asked():
    assert sorted(plan_asked(PROFILES[:4], PROFILES[0], 35, 42, 0)) == PROFILES[1:4]
    assert plan_asked(PROFILES[:1], PROFILES[0], 35, 42, 0) == []
