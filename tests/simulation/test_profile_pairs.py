"""The pairs of profiles that have most in common."""

import gzip
import json
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from simulation.domain.attributes import TARGET_KEYS
from simulation.domain.diversity import overlap_histogram
from simulation.domain.profile_pairs import pairs_alike
from simulation.selectors import profile_diversity
from tests.published import FOLDER, needs_published_data

FEW = st.dictionaries(st.sampled_from(TARGET_KEYS), st.sampled_from(["", None, 1, "1", "x"]))


def shared(one, other):
    return sum(bool(one.get(key)) and repr(one.get(key)) == repr(other.get(key)) for key in TARGET_KEYS)


@given(st.lists(FEW, max_size=12), st.integers(1, 8))
def test_all_pairs_are_found_and_no_other(facts, least):
    wanted = {
        pair for pair in combinations(range(len(facts)), 2) if shared(*(facts[at] for at in pair)) >= least
    }
    found = pairs_alike(facts, least, 1000)
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert found == sorted(found, key=lambda pair: (pair[1], pair[0]), reverse=True)


@given(st.lists(FEW, max_size=12))
def test_they_are_counted_as_the_histogram_counts_them(facts):
    counted = overlap_histogram(facts)
    for least in (1, 2, 3):
        number = sum(pairs for alike, pairs in counted.items() if alike >= least)
        assert len(pairs_alike(facts, least, 1000)) == number


def test_no_more_are_given_than_were_asked_for():
    assert pairs_alike([{"age": 30}] * 10, 1, 3) == [(8, 9), (7, 9), (6, 9)]


@needs_published_data
def test_the_reference_of_the_page_is_what_the_published_profiles_show():
    with gzip.open(FOLDER / "profiles.json.gz") as file:
        counted = overlap_histogram(list(json.load(file).values()))
    percent = {alike: 100 * pairs / sum(counted.values()) for alike, pairs in counted.items()}
    for alike, published in profile_diversity.PUBLISHED.items():
        assert abs(percent[alike] - published) < 0.5
